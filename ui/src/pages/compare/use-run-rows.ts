import { useEffect, useState } from "react";
import { address, get, segment } from "../../api/client";
import type { RunRow } from "../../api/types";

export type Known = Readonly<Record<string, RunRow>>;

/** The rows of some runs, by id, as they come; a run that can't be had is left out. */
export function useRunRows(runs: readonly string[]): Known {
  const [found, setFound] = useState<Record<string, RunRow>>({});
  useEffect(() => {
    const abort = new AbortController();
    for (const run of runs) {
      get<RunRow>(address(`/runs/${segment(run)}`), abort.signal).then(
        (row) => !abort.signal.aborted && setFound((all) => ({ ...all, [run]: row })),
        () => undefined, // the comparison itself says what is wrong
      );
    }
    return () => abort.abort();
  }, [runs]);
  return found;
}
