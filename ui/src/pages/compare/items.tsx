import { useRef } from "react";
import { address } from "../../api/client";
import type { ItemRow, Pair } from "../../api/types";
import { usePages } from "../../api/use-pages";
import { Choice, SearchField } from "../../parts/fields";
import { HowMany, ListKeys, OpeningList } from "../../parts/opening-list";
import { useQuery } from "../../router";
import { itemsPage, ITEMS_PAGE, itemsUrl } from "./endpoints";
import { ItemPanel } from "./item-panel";
import { ItemCells, ItemCellsNarrow } from "./item-row";
import { CLASSES, className, FILTERS, filtersOf } from "./state";
import { words } from "../../format";
import { count } from "../../numbers";
import { MISS_REASONS } from "../../words";

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
const NARROW = [{ name: "Item" }, { name: "Scores", className: "number" }];

/** The items of both runs: filtered, moved through with j and k, opened with Enter. */
export function Items({ a, b, letters, pair }: Props) {
  const [query, change] = useQuery();
  const filters = filtersOf(query);
  const search = useRef<HTMLInputElement>(null);
  const filtered = FILTERS.some((name) => filters[name] !== "");

  const sort = SORTS.some((one) => one.value === query.get("sort")) ? query.get("sort")! : "";
  const key = itemsUrl(a, b, filters, sort, 0, ITEMS_PAGE);
  const pages = usePages<ItemRow>(key, ITEMS_PAGE, (page, signal) => itemsPage(a, b, filters, sort, page, signal));
  const filter = (changes: Record<string, string>) => change({ ...changes, at: null, item: null }, { replace: true });

  return (
    <section className="part items" aria-labelledby="items">
      <div className="page-head">
        <h2 id="items">Items</h2>
        <ListKeys search />
        <div className="actions">
          <HowMany count={pages.count} filtered={filtered} />
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
      <OpeningList
        label="Items"
        name="item"
        listKey={key}
        pages={pages}
        numberOf={numberOf}
        search={search}
        nothing="No item fits. Take a filter away, or search for less."
        columns={COLUMNS}
        narrowColumns={NARROW}
        cells={(item, narrow) => (narrow ? <ItemCellsNarrow item={item} letters={letters} /> : <ItemCells item={item} letters={letters} />)}
        panel={(opened, onClose, onMove) => <ItemPanel a={a} b={b} position={opened} letters={letters} onClose={onClose} onMove={onMove} />}
      />
    </section>
  );
}

const REASONS = [
  { value: "", text: "Any" },
  ...(["no_prediction", "expected_inside_longer_text", "numerically_equal", "different"] as const).map((name) => ({ value: name, text: MISS_REASONS[name] })),
];

function ClassButtons({ value, pair, onChange }: { value: string; pair: Pair | null; onChange: (name: string) => void }) {
  return (
    <div className="class-buttons" role="group" aria-label="Class">
      <button type="button" aria-pressed={value === ""} onClick={() => onChange("")}>
        All
      </button>
      {CLASSES.filter((one) => (pair?.classes[one.name] ?? 0) > 0 || value === one.name).map((one) => (
        <button key={one.name} type="button" aria-pressed={value === one.name} onClick={() => onChange(value === one.name ? "" : one.name)}>
          <span className={`swatch ${className(one.name)}`} aria-hidden="true" />
          {one.text}
          {pair !== null && <span className="number quiet">{count(pair.classes[one.name] ?? 0)}</span>}
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
