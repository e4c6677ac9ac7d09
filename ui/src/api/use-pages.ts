import { useCallback, useLayoutEffect, useMemo, useRef, useState } from "react";
import { errorOf, type ApiError } from "./client";

export interface Pages<T> {
  count: number | null; // of the whole list; null until the first page came
  row: (place: number) => T | null; // null while it is on its way
  need: (first: number, end: number) => void;
  error: ApiError | null;
  again: () => void;
}

export interface Page<T> {
  rows: readonly T[];
  n: number; // of the whole list
}

const KEPT = 60; // pages that stay in memory
const AHEAD = 3; // pages fetched before they are looked at, the way the list is moved

/**
 * Rows of a long list, fetched a page at a time around what is looked at. `key` names the list: another key, another
 * list. What is no longer looked at and has not come yet is given up.
 */
export function usePages<T>(key: string, size: number, load: (page: number, signal: AbortSignal) => Promise<Page<T>>): Pages<T> {
  const [, setTurn] = useState(0);
  const [error, setError] = useState<ApiError | null>(null);
  const loadNow = useRef(load);
  loadNow.current = load;
  // A list of its own for each key: an answer to an older question is never shown as one to the newer.
  const list = useMemo(() => ({ key, pages: new Map<number, readonly T[]>(), asked: new Map<number, AbortController>(), count: null as number | null, looked: [0, 0] as [number, number] }), [key]);

  const need = useCallback(
    (first: number, end: number) => {
      const from = Math.floor(first / size);
      const to = Math.max(Math.ceil(end / size) - 1, from);
      const moved = first - list.looked[0];
      list.looked = [first, end];
      for (const [page, abort] of list.asked) {
        if (page < from - AHEAD - 1 || page > to + AHEAD + 1) {
          abort.abort();
          list.asked.delete(page);
        }
      }
      const last = list.count === null ? from : Math.ceil(list.count / size) - 1;
      const leapt = Math.abs(moved) > size; // then what is looked at comes alone: nobody knows yet where it goes on
      const beyond = leapt ? [] : moved < 0 ? range(1, AHEAD).map((n) => from - n) : range(1, AHEAD).map((n) => to + n);
      const wanted = [...range(from, to), ...beyond].filter((page) => page === 0 || (page > 0 && page <= last));
      for (const page of wanted) {
        if (list.pages.has(page) || list.asked.has(page)) continue;
        const abort = new AbortController();
        list.asked.set(page, abort);
        loadNow.current(page, abort.signal).then(
          ({ rows, n }) => {
            list.asked.delete(page);
            list.pages.set(page, rows);
            list.count = n;
            forget(list.pages, from, to);
            setTurn((n) => n + 1);
          },
          (reason: unknown) => {
            list.asked.delete(page);
            if (abort.signal.aborted) return;
            setError(errorOf(reason));
          },
        );
      }
    },
    [list, size],
  );

  useLayoutEffect(() => {
    setError(null);
    need(0, 1);
    return () => {
      list.asked.forEach((abort) => abort.abort());
      list.asked.clear();
    };
  }, [list, need]);

  const again = useCallback(() => {
    setError(null);
    need(...list.looked);
  }, [list, need]);

  const row = useCallback((place: number) => list.pages.get(Math.floor(place / size))?.[place % size] ?? null, [list, size]);
  return { count: list.count, row, need, error, again };
}

const range = (from: number, to: number): number[] => Array.from({ length: to - from + 1 }, (_, i) => from + i);

/** Pages farthest from what is looked at go first. */
function forget<T>(pages: Map<number, readonly T[]>, from: number, to: number): void {
  while (pages.size > KEPT) {
    const far = [...pages.keys()].reduce((a, b) => (distance(a, from, to) >= distance(b, from, to) ? a : b));
    pages.delete(far);
  }
}

const distance = (page: number, from: number, to: number): number => Math.max(from - page, page - to, 0);
