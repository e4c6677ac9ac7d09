import { useEffect, useRef, useState } from "react";
import { useMe } from "../../api/use-me";
import { Empty, Failed, Loading } from "../../parts/states";
import { SEARCH } from "../../parts/key-words";
import { useKeys } from "../../parts/use-keys";
import { placeOf, useQuery, valuesOf } from "../../router";
import { StartLink } from "../start/start-link";
import { ColumnChoice } from "./column-choice";
import { chosenColumns, keepColumns, namesOf, type RunColumn } from "./columns";
import { CompareBar } from "./compare-bar";
import { OrganiseBar } from "./organise-bar";
import { FILTERS, RunFilters, type Filters } from "./run-filters";
import { RunTotals } from "./run-totals";
import { RunsList, type Checking } from "./runs-list";
import { usePicked } from "./use-picked";
import { useRuns } from "./use-runs";
import { whyNot } from "./why-not";

const SEARCH_KEYS = [SEARCH];
const STILL_MS = 200; // the list is at rest: the address says where

/** All runs, the newest first; some are picked to be compared, or put in order. */
export function RunsPage() {
  const [query, change] = useQuery();
  const search = useRef<HTMLInputElement>(null);
  const filters: Filters = valuesOf(query, FILTERS);
  const order = { sort: query.get("sort") ?? "started", order: query.get("order") ?? "desc" };
  const runs = useRuns({ ...filters, ...order });
  const picked = usePicked();
  const may = useMe().data?.scopes.includes("label") ?? false;
  const organising = may && query.has("organise");
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const [why, setWhy] = useState<string | null>(null);
  const [columns, setColumns] = useColumns();
  const onTop = useWhereItIs();
  const filter = (changes: Partial<Filters>) => change({ ...changes, at: null }, { replace: true });
  useKeys({ "/": () => search.current?.focus() }, SEARCH_KEYS);

  const comparing: Checking = {
    verb: "Compare",
    has: (id) => picked.ids.includes(id),
    whyNot: (run) => whyNot(picked.rows, run),
    onCheck: (run, checked) => {
      setWhy(null);
      picked.pick(run.run_id, checked);
    },
    onRefused: setWhy,
  };
  const putting: Checking = {
    verb: "Check",
    has: (id) => chosen.has(id),
    whyNot: () => null,
    onCheck: (run, checked) => setChosen((before) => new Set(checked ? [...before, run.run_id] : [...before].filter((one) => one !== run.run_id))),
    onRefused: setWhy,
  };
  const filtered = FILTERS.some((name) => filters[name] !== "");
  return (
    <>
      <div className="page-head runs-head">
        <h1>Runs</h1>
        {organising ? <OrganiseBar chosen={chosen} onChosen={setChosen} fitting={runs.count ?? 0} filters={filters} onChanged={runs.again} onDone={() => change({ organise: null }, { replace: true })} /> : <CompareBar picked={picked} why={why} />}
        <div className="actions">
          <StartLink />
          {may && !organising && (
            <button type="button" onClick={() => change({ organise: "1" }, { replace: true })}>
              Organise
            </button>
          )}
          <ColumnChoice columns={columns} onChange={setColumns} />
        </div>
      </div>
      <RunFilters filters={filters} onChange={filter} search={search} />
      <RunTotals filters={filters} order={order} turn={runs.turn} onChange={filter} />
      {runs.error !== null && <Failed error={runs.error} again={runs.again} what="list of runs" />}
      {runs.count === null && runs.error === null && <Loading what="runs" />}
      {runs.count === 0 && (filtered ? <NothingFits /> : <NoRuns />)}
      {runs.count !== null && runs.count > 0 && (
        <RunsList
          key={JSON.stringify([filters, order])}
          runs={runs}
          columns={columns}
          {...order}
          onSort={(sort, way) => change({ sort, order: way, at: null })}
          start={placeOf(query.get("at")) ?? 0}
          onTop={onTop}
          checking={organising ? putting : comparing}
        />
      )}
    </>
  );
}

function useColumns(): [readonly RunColumn[], (columns: readonly RunColumn[] | null) => void] {
  const [query, change] = useQuery();
  const set = (columns: readonly RunColumn[] | null) => {
    keepColumns(columns);
    change({ columns: columns === null ? null : namesOf(columns) }, { replace: true });
  };
  return [chosenColumns(query.get("columns")), set];
}

/** Tells the address which row stands at the top of the list, once it is at rest. */
function useWhereItIs(): (row: number) => void {
  const [, change] = useQuery();
  const timer = useRef<number>(undefined);
  useEffect(() => () => window.clearTimeout(timer.current), []);
  return (row) => {
    window.clearTimeout(timer.current);
    timer.current = window.setTimeout(() => change({ at: row === 0 ? null : String(row) }, { replace: true }), STILL_MS);
  };
}

function NothingFits() {
  return (
    <Empty title="No run fits">
      <p>Take a filter away, or search for less.</p>
    </Empty>
  );
}

function NoRuns() {
  return (
    <Empty title="No runs yet">
      <p>
        A run appears here while it goes on. Start one: <code>benchbook demo</code>, or <code>benchbook run</code>.
      </p>
    </Empty>
  );
}
