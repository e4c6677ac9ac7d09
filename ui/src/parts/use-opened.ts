import { useCallback, type RefObject } from "react";
import type { Pages } from "../api/use-pages";
import { placeOf, useQuery } from "../router";
import { LIST_KEYS, SEARCHED_LIST_KEYS } from "./key-words";
import { useKeys } from "./use-keys";
import type { RowsHandle } from "./virtual-rows";

export interface Opened {
  chosen: number | null; // a row of the list
  opened: number | null; // what is open: its number in the run, whatever the list's filter
  select: (row: number) => void;
  open: (row: number) => void;
  close: () => void;
  move: (by: number) => void;
}

/**
 * Moving through a list and opening what is in it: by j, k, Enter and Escape, with both places in the address. `at` is
 * the row, `name` the number of what is open; of a list in order (`inOrder`), that says the row as well. While something
 * is open, moving opens the next.
 */
export function useOpened<T>(pages: Pages<T>, name: string, numberOf: (row: T) => number, grid: RefObject<RowsHandle | null>, search?: RefObject<HTMLInputElement | null>, inOrder = false): Opened {
  const [query, change] = useQuery();
  const count = pages.count ?? 0;
  const opened = placeOf(query.get(name));
  const at = placeOf(query.get("at")) ?? (inOrder ? opened : null);
  const chosen = at !== null && at < count ? at : null;
  const { row: rowAt } = pages;

  const open = useCallback(
    (row: number) => {
      const found = rowAt(row);
      change(found === null ? { at: String(row) } : { at: String(row), [name]: String(numberOf(found)) }, { replace: true });
    },
    [change, name, numberOf, rowAt],
  );
  const select = useCallback((row: number) => (opened === null ? change({ at: String(row) }, { replace: true }) : open(row)), [change, open, opened]);
  const close = useCallback(() => {
    change({ [name]: null }, { replace: true });
    grid.current?.focus();
  }, [change, grid, name]);
  const move = (by: number) => {
    if (count > 0) select(Math.min(Math.max((chosen ?? -1) + by, 0), count - 1));
  };
  useKeys({
    j: () => move(1),
    k: () => move(-1),
    Enter: () => chosen !== null && open(chosen),
    Escape: () => opened !== null && close(),
    "/": () => search?.current?.focus(),
  }, search === undefined ? LIST_KEYS : SEARCHED_LIST_KEYS);
  return { chosen, opened, select, open, close, move };
}
