import { useRef, type ReactNode, type RefObject } from "react";
import type { Pages } from "../api/use-pages";
import { CLOSE, KeyLine, MOVE, OPEN, SEARCH } from "./key-words";
import { PanelPlace } from "./panel";
import { Failed } from "./states";
import { useLanding } from "./use-landing";
import { useMedia } from "./use-media";
import { useOpened } from "./use-opened";
import { VirtualRows, type Column, type RowsHandle } from "./virtual-rows";
import { count as written } from "../numbers";

interface Props<T> {
  label: string; // Items
  name: string; // item: what is open, in the address
  listKey: string; // another one, another list
  pages: Pages<T>;
  numberOf: (row: T) => number;
  columns: readonly Column[];
  narrowColumns: readonly Column[]; // on a phone, in rows of two lines
  cells: (row: T, narrow: boolean) => ReactNode;
  panel: (opened: number, onClose: () => void, onMove: ((by: number) => void) | null) => ReactNode;
  rowPx?: number; // by default a line, and on a phone two
  widths?: string; // of the columns, where the style sheet has none; not on a phone
  inOrder?: boolean; // nothing filters or sorts it: row 7 is number 7
  nothing: string; // what is said where no row fits
  search?: RefObject<HTMLInputElement | null>; // where `/` leads
}

/** A long list that is moved through with j and k; what Enter opens stands beside it, or on a phone in its place. */
export function OpeningList<T>({ label, name, listKey, pages, numberOf, columns, narrowColumns, cells, panel, nothing, search, rowPx, widths, inOrder = false }: Props<T>) {
  const grid = useRef<RowsHandle>(null);
  const narrow = useMedia("(max-width: 46rem)");
  const { chosen, opened, select, open, close, move } = useOpened(pages, name, numberOf, grid, search, inOrder);
  const aside = useRef<HTMLElement>(null);
  useLanding(aside, opened, narrow);
  const count = pages.count ?? 0;
  return (
    <>
      {pages.error !== null && <Failed error={pages.error} again={pages.again} what={label.toLowerCase()} />}
      {pages.count === 0 && <p className="nothing">{nothing}</p>}
      <div className={`items-split${opened !== null ? " opened" : ""}`}>
        {count > 0 && (
          <VirtualRows
            key={listKey}
            handle={grid}
            label={label}
            columns={narrow ? narrowColumns : columns}
            count={count}
            rowPx={rowPx ?? (narrow ? 64 : 36)}
            widths={narrow ? undefined : widths}
            selected={chosen}
            onSelect={select}
            onOpen={open}
            onShown={pages.need}
            row={(place) => {
              const found = pages.row(place);
              return found === null ? null : cells(found, narrow);
            }}
          />
        )}
        {opened !== null && <PanelPlace value={aside}>{panel(opened, close, chosen === null ? null : move)}</PanelPlace>}
      </div>
    </>
  );
}

/** `1,234 in all`, or how many of them `fit` the filters; nothing until it is known. */
export function HowMany({ count, filtered }: { count: number | null; filtered: boolean }) {
  return <span className="quiet" role="status">{count === null ? "" : `${written(count)} ${filtered ? "fit" : "in all"}`}</span>;
}

/** The keys of such a list, for whoever has some. */
export function ListKeys({ search = false }: { search?: boolean }) {
  return <KeyLine words={search ? [...FEW, SEARCH] : FEW} />;
}

const FEW = [MOVE, OPEN, CLOSE];
