import { useCallback } from "react";
import { address, get } from "../../api/client";
import type { RunRow } from "../../api/types";
import { useAnswer } from "../../api/use-resource";
import { useQuery } from "../../router";

export interface Picked {
  ids: readonly string[];
  rows: readonly RunRow[]; // of those that are known, whatever the list shows
  pick: (runId: string, picked: boolean) => void;
  clear: () => void;
}

/** The runs that are picked to be compared: they stand in the address, and stay when the list is filtered or scrolled. */
export function usePicked(): Picked {
  const [query, change] = useQuery();
  const ids = query.getAll("pick");
  const known = useAnswer<readonly RunRow[]>(ids.length === 0 ? null : JSON.stringify(ids), async (signal) => {
    const found = await Promise.allSettled(ids.map((id) => get(address("/runs/{run_id}", { run_id: id }), signal)));
    return found.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
  });
  const pick = useCallback(
    (runId: string, picked: boolean) => {
      const now = new URLSearchParams(window.location.search).getAll("pick").filter((one) => one !== runId);
      change({ pick: picked ? [...now, runId] : now }, { replace: true });
    },
    [change],
  );
  const clear = useCallback(() => change({ pick: null }, { replace: true }), [change]);
  const rows = (known.data ?? []).filter((one) => ids.includes(one.run_id));
  return { ids, rows, pick, clear };
}
