import { useLayoutEffect, useState } from "react";
import { address, get } from "../../api/client";
import type { RunRow } from "../../api/types";

export type Known = Readonly<Record<string, RunRow>>;

/** The rows of some runs, by id, once all have come; a run that can't be had is left out. */
export function useRunRows(runs: readonly string[]): Known {
  const [found, setFound] = useState<Known>({});
  useLayoutEffect(() => {
    const abort = new AbortController();
    const asked = runs.map((run) => get(address("/runs/{run_id}", { run_id: run }), abort.signal));
    void Promise.allSettled(asked).then((all) => {
      if (abort.signal.aborted) return;
      // The comparison itself says what is wrong with the others.
      const rows = all.flatMap((one, place) => (one.status === "fulfilled" ? [[runs[place]!, one.value] as const] : []));
      setFound(Object.fromEntries(rows));
    });
    return () => abort.abort();
  }, [runs]);
  return found;
}
