import { useCallback, useEffect, useEffectEvent, useImperativeHandle, useLayoutEffect, useRef, useState, type CSSProperties, type KeyboardEvent, type ReactNode, type Ref } from "react";
import { drawn, heldPx, scrollTopFor, topOf, topToShow, type Geometry } from "./virtual-math";

export interface RowsHandle {
  focus: () => void;
}

export interface Column {
  name: string;
  className?: string | undefined;
  onSort?: () => void; // pressed, it orders the list by the column
  sorted?: "ascending" | "descending" | null;
}

interface Props {
  label: string;
  columns: readonly Column[];
  count: number;
  rowPx: number;
  widths?: string | undefined; // of the columns, where the style sheet has none
  selected: number | null;
  onSelect: (row: number) => void;
  onOpen?: (row: number, by: "key" | "click") => void;
  onShown: (first: number, end: number) => void; // which rows are in the window: whoever holds them fetches these
  row: (row: number) => ReactNode; // the cells of a row, each with role="gridcell"; null while it is on its way
  handle?: Ref<RowsHandle>;
  start?: number; // the row that stands at the top at first
  onTop?: (row: number) => void; // which row stands at the top, when the list is scrolled
}

/** A grid of rows of one height, of which only those in the window are in the document. */
export function VirtualRows({ label, columns, count, rowPx, widths, selected, onSelect, onOpen, onShown, row, handle, start = 0, onTop }: Props) {
  const box = useRef<HTMLDivElement>(null);
  const [windowPx, setWindowPx] = useState(600);
  const [scrollTop, setScrollTop] = useState(0);
  const geometry: Geometry = { count, rowPx, windowPx };
  const top = topOf(scrollTop, geometry);
  const [first, end] = drawn(top, geometry);

  useLayoutEffect(() => {
    const element = box.current;
    if (element === null) return;
    const measure = () => setWindowPx(Math.max(element.clientHeight - HEAD_PX, rowPx));
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    return () => observer.disconnect();
  }, [rowPx]);

  useEffect(() => onShown(first, end), [onShown, first, end]);
  useImperativeHandle(handle, () => ({ focus: () => box.current?.focus({ preventScroll: true }) }));

  const show = useCallback(
    (place: number) => {
      const element = box.current;
      if (element === null) return;
      const held = { count, rowPx, windowPx };
      const now = topOf(element.scrollTop, held);
      const wanted = topToShow(place, now, held);
      if (wanted !== now) element.scrollTop = scrollTopFor(wanted, held);
    },
    [count, rowPx, windowPx],
  );
  const showNow = useEffectEvent(show);
  useEffect(() => {
    if (selected !== null) showNow(selected);
  }, [selected, rowPx, windowPx]); // not where the list only grew: it may be looked at elsewhere
  const begin = useEffectEvent(() => {
    if (start > 0 && box.current !== null) box.current.scrollTop = scrollTopFor(start * rowPx, geometry);
  });
  useLayoutEffect(() => begin(), []);

  const page = Math.max(Math.floor(windowPx / rowPx) - 1, 1);
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === "Enter" && event.target !== event.currentTarget) return; // a link or a button in it
    if (event.metaKey || event.ctrlKey || event.altKey || count === 0) return;
    const at = selected ?? -1;
    const target: Record<string, number> = { j: at + 1, ArrowDown: at + 1, k: at - 1, ArrowUp: at - 1, PageDown: at + page, PageUp: at - page, Home: 0, End: count - 1 };
    const wanted = target[event.key];
    if (wanted !== undefined) {
      event.preventDefault();
      onSelect(Math.min(Math.max(wanted, 0), count - 1));
    } else if (event.key === "Enter" && selected !== null) {
      event.preventDefault();
      onOpen?.(selected, "key");
    }
  };

  const rows = Array.from({ length: end - first }, (_, above) => {
    const place = first + above;
    const cells = row(place);
    const chosen = place === selected;
    return (
      // oxlint-disable-next-line jsx-a11y/click-events-have-key-events -- the keys are the grid's
      <div
        key={place}
        id={`row-${place}`}
        role="row"
        aria-rowindex={place + 2}
        aria-selected={chosen}
        aria-busy={cells === null || undefined}
        className={`vrow${chosen ? " chosen" : ""}${cells === null ? " waiting" : ""}`}
        style={{ height: rowPx }}
        onClick={(event) => {
          if (event.target instanceof Element && event.target.closest("a, button, input, label") !== null) return;
          onSelect(place);
          onOpen?.(place, "click");
        }}
      >
        {cells ?? (
          <div role="gridcell" className="wait">
            <span className="bone" />
            <span className="unseen">Loading</span>
          </div>
        )}
      </div>
    );
  });
  const style: CSSProperties & { "--rows-px": string; "--columns"?: string } = { "--rows-px": `${Math.min(count * rowPx + HEAD_PX + 3, 4_000)}px` };
  if (widths !== undefined) style["--columns"] = widths;
  return (
    <div
      ref={box}
      className="vrows"
      role="grid"
      aria-label={label}
      aria-rowcount={count + 1}
      aria-activedescendant={selected !== null && selected >= first && selected < end ? `row-${selected}` : undefined}
      tabIndex={0}
      style={style}
      onKeyDown={onKeyDown}
      onScroll={(event) => {
        setScrollTop(event.currentTarget.scrollTop);
        onTop?.(Math.round(topOf(event.currentTarget.scrollTop, geometry) / rowPx));
      }}
    >
      <div role="row" aria-rowindex={1} className="vhead">
        {columns.map((column) => (
          <div role="columnheader" key={column.name} className={column.className} aria-sort={column.sorted ?? undefined}>
            {column.onSort === undefined ? column.name : (
              <button type="button" className="sort" onClick={column.onSort}>
                {column.name} <span aria-hidden="true">{column.sorted === "ascending" ? "↑" : column.sorted === "descending" ? "↓" : ""}</span>
              </button>
            )}
          </div>
        ))}
      </div>
      <div role="rowgroup" className="vheld" style={{ height: heldPx(geometry) }}>
        <div role="presentation" className="vdrawn" style={{ transform: `translateY(${first * rowPx - top + scrollTop}px)` }}>
          {rows}
        </div>
      </div>
    </div>
  );
}

const HEAD_PX = 32;
