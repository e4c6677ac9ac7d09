import { useState } from "react";
import { address, errorOf, get, send, type ApiError } from "../api/client";
import type { MarksChange, MarksOfRun } from "../api/types";
import { useResource } from "../api/use-resource";

export interface Texts {
  name: string;
  note: string;
}

export interface MarksHeld {
  marks: MarksOfRun | null;
  error: ApiError | null;
  change: (what: Omit<MarksChange, "name" | "note">) => Promise<boolean>; // of what nobody else's change is lost by
  write: (seen: Texts, mine: Texts) => Promise<Texts | null>; // null: written; else what somebody else wrote meanwhile
}

const PRECONDITION_FAILED = 412;

/** A run's marks, and changes of them that lose nothing of what somebody else writes. */
export function useMarks(run: string, onChanged: () => void): MarksHeld {
  const url = address("/runs/{run_id}/marks", { run_id: run });
  const found = useResource(url);
  const [newer, setNewer] = useState<MarksOfRun | null>(null);
  const [error, setError] = useState<ApiError | null>(null);
  const places = { run_id: run };
  const marks = newer ?? found.data;

  const took = (made: MarksOfRun) => {
    setNewer(made);
    setError(null);
    onChanged();
  };
  const change = async (what: MarksChange): Promise<boolean> => {
    try {
      took(await send("PATCH /runs/{run_id}/marks", places, what));
      return true;
    } catch (reason) {
      setError(errorOf(reason));
      return false;
    }
  };
  const write = async (seen: Texts, mine: Texts): Promise<Texts | null> => {
    for (let there = marks; there !== null; ) {
      try {
        took(await send("PATCH /runs/{run_id}/marks", places, { name: mine.name, note: mine.note }, there.etag));
        return null;
      } catch (reason) {
        const problem = errorOf(reason);
        if (problem.status !== PRECONDITION_FAILED) {
          setError(problem);
          return null;
        }
        const now: MarksOfRun = await get(url);
        setNewer(now);
        if (now.name !== seen.name || now.note !== seen.note) return { name: now.name, note: now.note };
        there = now; // only tags changed meanwhile, or the archive: the texts are as they were seen
      }
    }
    return null;
  };
  return { marks, error: error ?? found.error, change, write };
}
