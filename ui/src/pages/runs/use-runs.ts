import { useCallback, useEffect, useRef, useState } from "react";
import { address, errorOf, get, type Address, type ApiError } from "../../api/client";
import { useLive } from "../../api/use-live";
import type { RunRow, RunsPage } from "../../api/types";

const PAGE = 50;

export interface RunsFound {
  runs: readonly RunRow[] | null;
  error: ApiError | null;
  more: (() => void) | null;
  again: () => void;
}

/** The runs that fit a query, as many pages as were asked for; asked again when one of them changed. */
export function useRuns(params: Record<string, string>): RunsFound {
  const url = address("/runs", { ...params, limit: PAGE });
  const [found, setFound] = useState<{ url: string; runs: RunRow[]; next: string | null } | null>(null);
  const [error, setError] = useState<ApiError | null>(null);
  const pages = useRef(1);
  const [turn, setTurn] = useState(0);
  const again = useCallback(() => setTurn((n) => n + 1), []);

  useEffect(() => {
    pages.current = 1;
  }, [url]);

  useEffect(() => {
    const abort = new AbortController();
    readPages(url, pages.current, abort.signal).then(
      ({ runs, next }) => {
        setFound({ url, runs, next });
        setError(null);
      },
      (reason: unknown) => {
        if (!abort.signal.aborted) setError(errorOf(reason));
      },
    );
    return () => abort.abort();
  }, [url, turn]);

  useLive(again);

  const more = () => {
    pages.current += 1;
    again();
  };
  return { runs: found?.url === url ? found.runs : (found?.runs ?? null), error, more: found?.next ? more : null, again };
}

async function readPages(url: Address<RunsPage>, pages: number, signal: AbortSignal): Promise<{ runs: RunRow[]; next: string | null }> {
  const runs: RunRow[] = [];
  let next: string | null = null;
  for (let page = 0; page < pages; page++) {
    const found: RunsPage = await get(next === null ? url : (`${url}&cursor=${encodeURIComponent(next)}` as typeof url), signal);
    runs.push(...found.runs);
    next = found.next_cursor;
    if (next === null) break;
  }
  return { runs, next };
}
