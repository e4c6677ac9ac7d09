import { useCallback, useLayoutEffect, useState } from "react";
import { address, get } from "../../api/client";
import { useLive } from "../../api/use-live";
import { usePages, type Page, type Pages } from "../../api/use-pages";
import type { RunRow } from "../../api/types";

const SIZE = 60;

export interface RunsFound extends Pages<RunRow> {
  waiting: boolean; // what is shown is of the list before
  turn: number; // rises whenever a run changed
}

/** The runs that fit a query, from any place of the list on; asked again when one of them changed, and shown meanwhile. */
export function useRuns(params: Readonly<Record<string, string>>): RunsFound {
  const [turn, setTurn] = useState(0);
  const again = useCallback(() => setTurn((n) => n + 1), []);
  useLive(again);
  const url = (page: number) => address("/runs", { ...params, offset: page * SIZE, limit: SIZE });
  const list = url(0);
  const pages = usePages<RunRow>(`${list} ${turn}`, SIZE, async (page, signal): Promise<Page<RunRow>> => {
    const found = await get(url(page), signal);
    return { rows: found.runs, n: found.n };
  });
  const [before, setBefore] = useState<{ list: string; pages: Pages<RunRow> } | null>(null);
  const { count, row: rowAt } = pages;
  useLayoutEffect(() => {
    if (count !== null) setBefore({ list, pages });
    // oxlint-disable-next-line react/exhaustive-deps -- `pages` is another object with each look
  }, [list, turn, count]);

  const old = before?.pages ?? null;
  const same = before?.list === list;
  const row = (place: number) => (count === null ? (old?.row(place) ?? null) : (rowAt(place) ?? (same ? (old?.row(place) ?? null) : null)));
  return { ...pages, count: count ?? old?.count ?? null, row, again, waiting: count === null && !same, turn };
}
