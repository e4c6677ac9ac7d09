import { useRef } from "react";
import { address } from "../../api/client";
import type { ItemRow, Pair } from "../../api/types";
import { usePages } from "../../api/use-pages";
import { Choice, SearchField } from "../../parts/fields";
import { Failed } from "../../parts/states";
import { useOpened } from "../../parts/use-opened";
import { useMedia } from "../../parts/use-media";
import { VirtualRows, type RowsHandle } from "../../parts/virtual-rows";
import { useQuery } from "../../router";
import { itemsPage, ITEMS_PAGE } from "./endpoints";
import { ItemPanel } from "./item-panel";
import { ItemCells, ItemCellsNarrow } from "./item-row";
import { CLASSES, className, FILTERS, filtersOf } from "./state";
import { words } from "../../format";

const numberOf = (row: ItemRow): number => row.position;

interface Props {
  a: string;
  b: string;
  letters: readonly [string, string];
  pair: Pair | null; // not there yet: the table does not wait for it
}

const SORTS = [
  { value: "", text: "as in the eval set" },
  { value: "change", text: "largest change first" },
  { value: "item_id", text: "by id" },
];

const COLUMNS = [
  { name: "Class" },
  { name: "Item" },
  { name: "Slice", className: "col-slice" },
  { name: "Prompt" },
  { name: "Scores", className: "number" },
];

/** The items of both runs: filtered, moved through with j and k, opened with Enter. */
export function Items({ a, b, letters, pair }: Props) {
  const [query, change] = useQuery();
  const filters = filtersOf(query);
  const narrow = useMedia("(max-width: 46rem)");
  const grid = useRef<RowsHandle>(null);
  const search = useRef<HTMLInputElement>(null);
  const filtered = FILTERS.some((name) => filters[name] !== "");

  const sort = SORTS.some((one) => one.value === query.get("sort")) ? query.get("sort")! : "";
  const key = address("", { a, b, ...filters, sort });
  const pages = usePages<ItemRow>(key, ITEMS_PAGE, (page, signal) => itemsPage(a, b, filters, sort, page, signal));
  const count = pages.count ?? 0;
  const { chosen, opened, select, open, close, move } = useOpened(pages, "item", numberOf, grid, search);
  const filter = (changes: Record<string, string>) => change({ ...changes, at: null, item: null }, { replace: true });

  return (
    <section className="part items" aria-labelledby="items">
      <div className="page-head">
        <h2 id="items">Items</h2>
        <p className="small quiet keys">
          <kbd>j</kbd> <kbd>k</kbd> move, <kbd>Enter</kbd> opens, <kbd>Esc</kbd> closes, <kbd>/</kbd> searches
        </p>
        <div className="actions">
          <span className="quiet" role="status">
            {pages.count === null ? "" : `${count.toLocaleString("en")} ${filtered ? "fit" : "in all"}`}
          </span>
          <a className="button" href={address("/comparisons/items.csv", { run: [a, b], ...filters })} download>
            CSV
          </a>
          <a className="button" href={address("/comparisons/items.ndjson", { run: [a, b], ...filters })} download>
            NDJSON
          </a>
          <a className="button" href={address("/comparisons/items.parquet", { run: [a, b], ...filters })} download>
            Parquet
          </a>
        </div>
      </div>
      <ClassButtons value={filters.class} pair={pair} onChange={(name) => filter({ class: name })} />
      <form className="filters" role="search" aria-label="Items" onSubmit={(event) => event.preventDefault()}>
        <SearchField label="Text" inputRef={search} value={filters.text} placeholder="in prompt, answers, id" onChange={(text) => filter({ text })} />
        {(["section", "category", "difficulty"] as const).map((field) => (
          <SliceChoice key={field} field={field} value={filters[field]} pair={pair} onChange={(found) => filter({ [field]: found })} />
        ))}
        <Choice label="Why it missed" value={filters.reason} options={REASONS} onChange={(reason) => filter({ reason })} />
        <Choice label="Order" value={sort} options={SORTS} onChange={(by) => filter({ sort: by })} />
        {filtered && (
          <button type="button" className="plain" onClick={() => filter(Object.fromEntries(FILTERS.map((name) => [name, ""])))}>
            Clear filters
          </button>
        )}
      </form>
      {pages.error !== null && <Failed error={pages.error} again={pages.again} what="items" />}
      {pages.count !== null && count === 0 && <p className="nothing">No item fits. Take a filter away, or search for less.</p>}
      <div className={`items-split${opened !== null ? " opened" : ""}`}>
        {count > 0 && (
          <VirtualRows
            key={key}
            handle={grid}
            label="Items"
            columns={narrow ? [{ name: "Item" }, { name: "Scores", className: "number" }] : COLUMNS}
            count={count}
            rowPx={narrow ? 64 : 36}
            selected={chosen}
            onSelect={select}
            onOpen={open}
            onShown={pages.need}
            row={(place) => {
              const found = pages.row(place);
              return found === null ? null : narrow ? <ItemCellsNarrow item={found} letters={letters} /> : <ItemCells item={found} letters={letters} />;
            }}
          />
        )}
        {opened !== null && <ItemPanel a={a} b={b} position={opened} letters={letters} onClose={close} onMove={chosen === null ? null : move} />}
      </div>
    </section>
  );
}

const REASONS = [
  { value: "", text: "Any" },
  ...["no_prediction", "expected_inside_longer_text", "numerically_equal", "different"].map((name) => ({ value: name, text: words(name) })),
];

function ClassButtons({ value, pair, onChange }: { value: string; pair: Pair | null; onChange: (name: string) => void }) {
  return (
    <div className="class-buttons" role="group" aria-label="Class">
      <button type="button" aria-pressed={value === ""} onClick={() => onChange("")}>
        All
      </button>
      {CLASSES.filter((one) => (pair !== null && pair.classes[one.name] > 0) || value === one.name).map((one) => (
        <button key={one.name} type="button" aria-pressed={value === one.name} onClick={() => onChange(value === one.name ? "" : one.name)}>
          <span className={`swatch ${className(one.name)}`} aria-hidden="true" />
          {one.text}
          {pair !== null && <span className="number quiet">{pair.classes[one.name].toLocaleString("en")}</span>}
        </button>
      ))}
    </div>
  );
}

function SliceChoice({ field, value, pair, onChange }: { field: string; value: string; pair: Pair | null; onChange: (value: string) => void }) {
  const values = (pair?.slices ?? []).filter((slice) => slice.field === field).map((slice) => slice.value);
  if (values.length === 0 && value === "") return null;
  return <Choice label={words(field)} value={value} options={[{ value: "", text: "Any" }, ...values.map((one) => ({ value: one, text: one }))]} onChange={onChange} />;
}
