import { useCallback, useLayoutEffect, useMemo, useRef, useState } from "react";
import { errorOf, type ApiError } from "./client";
import { useReturn } from "./server";
import { underWay } from "./under-way";

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

/** What has come of a list, in pages of `size` rows, and what is on its way. */
class Held<T> {
  readonly size: number;
  count: number | null = null;
  looked: readonly [number, number] = [0, 0];
  private readonly pages = new Map<number, readonly T[]>();
  private readonly asked = new Map<number, AbortController>();

  constructor(size: number) {
    this.size = size;
  }

  row(place: number): T | null {
    return this.pages.get(Math.floor(place / this.size))?.[place % this.size] ?? null;
  }

  /** Moves to some rows, and says which pages are wanted now, each with what gives it up. */
  moveTo(first: number, end: number): (readonly [number, AbortController])[] {
    const from = Math.floor(first / this.size);
    const to = Math.max(Math.ceil(end / this.size) - 1, from);
    const moved = first - this.looked[0];
    this.looked = [first, end];
    this.giveUp((page) => page < from - AHEAD - 1 || page > to + AHEAD + 1);
    const last = this.count === null ? from : Math.ceil(this.count / this.size) - 1;
    const leapt = Math.abs(moved) > this.size; // then what is looked at comes alone: nobody knows yet where it goes on
    const beyond = leapt ? [] : moved < 0 ? range(1, AHEAD).map((n) => from - n) : range(1, AHEAD).map((n) => to + n);
    const wanted = [...range(from, to), ...beyond].filter((page) => page === 0 || (page > 0 && page <= last));
    const missing = wanted.filter((page) => !this.pages.has(page) && !this.asked.has(page)).map((page) => [page, new AbortController()] as const);
    for (const [page, abort] of missing) this.asked.set(page, abort);
    return missing;
  }

  keep(page: number, { rows, n }: Page<T>): void {
    this.asked.delete(page);
    this.pages.set(page, rows);
    this.count = n;
    // Pages farthest from what is looked at go first.
    const far = (one: number) => Math.max(this.looked[0] / this.size - 1 - one, one - this.looked[1] / this.size, 0);
    while (this.pages.size > KEPT) this.pages.delete([...this.pages.keys()].reduce((a, b) => (far(a) >= far(b) ? a : b)));
  }

  lose(page: number): void {
    this.asked.delete(page);
  }

  giveUp(which: (page: number) => boolean): void {
    for (const [page, abort] of this.asked) {
      if (!which(page)) continue;
      abort.abort();
      this.asked.delete(page);
    }
  }
}

/**
 * Rows of a long list, fetched a page at a time around what is looked at. `key` names the list: another key, another
 * list. What is no longer looked at and has not come yet is given up.
 */
export function usePages<T>(key: string, size: number, load: (page: number, signal: AbortSignal) => Promise<Page<T>>): Pages<T> {
  const [, setTurn] = useState(0);
  const [failed, setFailed] = useState<{ list: unknown; error: ApiError } | null>(null);
  const loadNow = useRef(load);
  useLayoutEffect(() => {
    loadNow.current = load;
  });
  // A list of its own for each key: an answer to an older question is never shown as one to the newer.
  const list = useMemo(() => ({ key, held: new Held<T>(size) }), [key, size]).held;

  const need = useCallback(
    (first: number, end: number) => {
      for (const [page, abort] of list.moveTo(first, end)) {
        underWay(loadNow.current(page, abort.signal)).then(
          (found) => {
            list.keep(page, found);
            setTurn((turn) => turn + 1);
          },
          (reason: unknown) => {
            if (abort.signal.aborted) return;
            list.lose(page);
            setFailed({ list, error: errorOf(reason) });
          },
        );
      }
    },
    [list],
  );

  useLayoutEffect(() => {
    need(0, 1);
    return () => list.giveUp(() => true);
  }, [list, need]);

  const again = useCallback(() => {
    setFailed(null);
    need(...list.looked);
  }, [list, need]);

  useReturn(() => {
    if (failed !== null) again();
  });

  const row = useCallback((place: number) => list.row(place), [list]);
  return { count: list.count, row, need, error: failed?.list === list ? failed.error : null, again };
}

const range = (from: number, to: number): number[] => Array.from({ length: to - from + 1 }, (_, i) => from + i);
