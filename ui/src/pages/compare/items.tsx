import { useMemo, useRef } from "react";
import { address } from "../../api/client";
import type { ItemMoves, ItemRow, ItemsSummary, Pair, ReasonCount } from "../../api/types";
import { usePages } from "../../api/use-pages";
import { useResource } from "../../api/use-resource";
import { reasonWords, words } from "../../format";
import { count } from "../../numbers";
import { Download } from "../../parts/download";
import { Choice, SearchField } from "../../parts/fields";
import { HowMany, ListKeys, OpeningList } from "../../parts/opening-list";
import { useMedia } from "../../parts/use-media";
import { useSettled } from "../../parts/use-settled";
import { useQuery, type Changes } from "../../router";
import { visible } from "../../text/visible";
import { itemsPage, ITEMS_PAGE, itemsUrl } from "./endpoints";
import { FilterChips, Limits } from "./filter-fields";
import { chipsOf, filtersOf, isFiltered, NO_FILTERS, WITHOUT_LIMITS, type Filters } from "./item-filters";
import { chosenColumns, columnsOf, tightened, type ItemColumn } from "./item-columns";
import { ItemPanel } from "./item-panel";
import { ItemPictures } from "./item-pictures";
import { ItemCellsNarrow } from "./item-row";
import { viewOf, ViewChoices } from "./item-view";
import { CLASSES, className } from "./state";

const numberOf = (row: ItemRow): number => row.position;

interface Props {
  runs: readonly string[]; // all that are compared: an opened item has the answer of each
  a: string;
  b: string;
  letters: readonly [string, string];
  pair: Pair | null; // not there yet: the table does not wait for it
  metric: string; // the number that classes and pictures go by; empty: the score
}

const SORTS = [
  { value: "", text: "as in the eval set" },
  { value: "change", text: "largest change first" },
  { value: "item_id", text: "by id" },
];
const BY_HEAD = ["class", "section", "category", "difficulty", "a", "b", "difference"]; // orders that heads of columns set

const NARROW = [{ name: "Item" }, { name: "Scores", className: "number" }];
const LINE_PX = 20;
const MANY = 3; // runs, from which on an opened item stands below the list, with room for a column each

/** The items of two runs: filtered, moved through with j and k, opened with Enter. */
export function Items({ runs, a, b, letters, pair, metric }: Props) {
  const [query, change] = useQuery();
  const narrow = useMedia("(max-width: 46rem)");
  const wide = useMedia("(min-width: 75rem)");
  const search = useRef<HTMLInputElement>(null);
  const filters = filtersOf(query);
  const filtered = isFiltered(filters);
  const view = viewOf(query, narrow);
  const order = orderOf(query);
  const question = { ...filters, metric, ...order };
  const key = itemsUrl(a, b, question, 0, ITEMS_PAGE);
  const pages = usePages<ItemRow>(key, ITEMS_PAGE, (page, signal) => itemsPage(a, b, question, page, signal));
  // After the rows, and once nobody types: it is of all that fit, and the rows are what people wait for.
  const settled = useSettled(address("/comparisons/items/summary", { run: [a, b], ...filters, metric }), 200);
  const summary = useResource(pages.count === null ? null : settled);
  const known = useMemo(() => (summary.data === null ? null : withVisibleTitles(summary.data)), [summary.data]);
  const moves = known?.moves ?? [];
  const number = moves.find((one) => one.metric === (metric || "score")) ?? null;
  const filter = (changes: Changes) => change({ ...changes, at: null, item: null }, { replace: true });
  const all = columnsOf(letters, moves);
  const chosen = chosenColumns(all, view.cols);
  const shown = wide && query.has("item") && runs.length < MANY ? tightened(chosen) : chosen;

  return (
    <section className={`part items lines-${view.lines}${runs.length >= MANY ? " many" : ""}`} aria-labelledby="items">
      <div className="page-head">
        <h2 id="items">Items</h2>
        <ListKeys search />
        <div className="actions">
          <HowMany count={pages.count} filtered={filtered} />
          <Download url={address("/comparisons/items.csv", { run: [a, b], ...filters, metric })} name="CSV" />
          <Download url={address("/comparisons/items.ndjson", { run: [a, b], ...filters, metric })} name="NDJSON" />
          <Download url={address("/comparisons/items.parquet", { run: [a, b], ...filters, metric })} name="Parquet" />
        </div>
      </div>
      <ClassButtons value={filters.class} pair={pair} onChange={(name) => filter({ class: name })} />
      <form className="filters" role="search" aria-label="Items" onSubmit={(event) => event.preventDefault()}>
        <SearchField label="Text" inputRef={search} value={filters.text} placeholder="in prompt, answers, id" onChange={(text) => filter({ text })} />
        {(["section", "category", "difficulty"] as const).map((field) => (
          <SliceChoice key={field} field={field} value={filters[field]} pair={pair} onChange={(found) => filter({ [field]: found })} />
        ))}
        <ReasonChoices filters={filters} letters={letters} reasons={known?.reasons ?? []} narrow={narrow} onChange={filter} />
        <MetricChoice value={metric} moves={moves} onChange={(found) => filter({ ...WITHOUT_LIMITS, metric: found === "score" ? null : found })} />
        <Limits filters={filters} letters={letters} title={number?.title ?? null} onChange={filter} />
        <Choice label="Order" value={query.get("sort") ?? ""} options={BY_HEAD.includes(order.sort) ? [...SORTS, { value: order.sort, text: "by a column" }] : SORTS} onChange={(by) => filter({ sort: by, order: null })} />
      </form>
      <FilterChips chips={chipsOf(filters, letters, number, metric || "score")} onTake={(names) => filter(Object.fromEntries(names.map((name) => [name, null])))} onClear={() => filter(NO_FILTERS)} />
      <ViewChoices view={view} all={all} shown={chosen} narrow={narrow} onChange={(changes) => change(changes, { replace: true })} />
      {view.pictures && <Pictures found={known} number={number} filters={filters} letters={letters} onFilter={filter} />}
      <OpeningList
        label="Items"
        name="item"
        listKey={key}
        pages={pages}
        numberOf={numberOf}
        search={search}
        inOrder={!filtered && order.sort === "" && order.order === ""}
        nothing="No item fits. Take a filter away, or search for less."
        columns={shown.map((column) => headOf(column, order, metric, filter))}
        narrowColumns={NARROW}
        rowPx={(narrow ? 44 : 16) + LINE_PX * view.lines}
        widths={shown.map((column) => column.width).join(" ")}
        cells={(item, isNarrow) => (isNarrow ? <ItemCellsNarrow item={item} letters={letters} /> : <Cells item={item} columns={shown} />)}
        panel={(opened, onClose, onMove) => <ItemPanel runs={runs} a={a} b={b} position={opened} letters={letters} onClose={onClose} onMove={onMove} />}
      />
    </section>
  );
}

// ── order and columns ────────────────────────────────────────────────────────────────────────────────────────

interface Order {
  readonly [name: string]: string;
  readonly sort: string;
  readonly order: string;
}

function orderOf(query: URLSearchParams): Order {
  const sort = query.get("sort") ?? "";
  const known = SORTS.some((one) => one.value === sort) || BY_HEAD.includes(sort);
  return { sort: known ? sort : "", order: query.get("order") === "desc" ? "desc" : "" };
}

/** A column's head: pressed, it sorts by the column; again, the other way; then no more. Numbers begin with the highest. */
function headOf(column: ItemColumn, order: Order, metric: string, onChange: (changes: Changes) => void) {
  const { title: name, className: kind, sorts } = column;
  if (sorts === undefined) return { name, className: kind };
  const mine = order.sort === sorts && (column.metric === undefined || column.metric === (metric || "score"));
  const first = column.metric === undefined ? "" : "desc";
  const onSort = () => {
    const other = mine && order.order === first;
    const over = mine && !other;
    const by = column.metric === undefined || column.metric === (metric || "score") ? {} : { ...WITHOUT_LIMITS, metric: column.metric };
    onChange(over ? { sort: null, order: null } : { ...by, sort: sorts, order: (other ? first === "" : first === "desc") ? "desc" : null });
  };
  return { name, className: kind, onSort, sorted: mine ? (order.order === "desc" ? ("descending" as const) : ("ascending" as const)) : null };
}

function Cells({ item, columns }: { item: ItemRow; columns: readonly ItemColumn[] }) {
  return columns.map((column) => (
    <div key={column.name} role="gridcell" className={column.className}>
      {column.cell(item)}
    </div>
  ));
}

// ── filters ──────────────────────────────────────────────────────────────────────────────────────────────────

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

interface ReasonProps {
  filters: Filters;
  letters: readonly [string, string];
  reasons: readonly ReasonCount[];
  narrow: boolean; // room for one choice alone, but for what is chosen
  onChange: (changes: Changes) => void;
}

/** Why texts missed: the reasons that occur in these runs, and so those of their own evaluator alone. */
function ReasonChoices({ filters, letters, reasons, narrow, onChange }: ReasonProps) {
  const fields = [
    { name: "reason", label: "Why it missed", n: (one: ReasonCount) => one.n_a + one.n_b },
    { name: "reason_a", label: `Why ${letters[0]} missed`, n: (one: ReasonCount) => one.n_a },
    { name: "reason_b", label: `Why ${letters[1]} missed`, n: (one: ReasonCount) => one.n_b },
  ] as const;
  return fields
    .filter(({ name }) => filters[name] !== "" || (reasons.length > 0 && (name === "reason" || !narrow)))
    .map(({ name, label, n }) => {
      const options = reasons.filter((one) => n(one) > 0).map((one) => ({ value: one.reason, text: reasonWords(one.reason) }));
      return <Choice key={name} label={label} value={filters[name]} options={[{ value: "", text: "Any" }, ...options]} onChange={(found) => onChange({ [name]: found })} />;
    });
}

/** Which number limits, pictures and orders go by. */
function MetricChoice({ value, moves, onChange }: { value: string; moves: readonly ItemMoves[]; onChange: (metric: string) => void }) {
  if (moves.length < 2 && value === "") return null;
  return <Choice label="Number" value={value || "score"} options={moves.map((one) => ({ value: one.metric, text: one.title }))} onChange={onChange} />;
}

/** The names of numbers are whoever wrote the rubric's: they stand in heads, labels and options, where nothing isolates them. */
const withVisibleTitles = (found: ItemsSummary): ItemsSummary => ({ ...found, moves: found.moves.map((one) => ({ ...one, title: visible(one.title) })) });

function Pictures({ found, number, ...rest }: { found: ItemsSummary | null; number: ItemMoves | null; filters: Filters; letters: readonly [string, string]; onFilter: (changes: Changes) => void }) {
  if (found === null || number === null) return <div className="item-pictures waiting" aria-hidden="true" />; // their room, so that nothing moves
  return <ItemPictures found={found} number={number} {...rest} />;
}
