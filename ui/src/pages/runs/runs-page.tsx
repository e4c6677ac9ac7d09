import { useRef } from "react";
import { address } from "../../api/client";
import type { EvaluatorOfRuns } from "../../api/types";
import { useResource } from "../../api/use-resource";
import { Choice, SearchField } from "../../parts/fields";
import { Tag } from "../../parts/chips";
import { Link } from "../../parts/link";
import { Empty, Failed, Loading } from "../../parts/states";
import { SEARCH } from "../../parts/key-words";
import { useKeys } from "../../parts/use-keys";
import { compareAddress, useQuery, valuesOf } from "../../router";
import { RunsTable } from "./runs-table";
import { useRuns } from "./use-runs";

const MOST = 8;
const SEARCH_KEYS = [SEARCH];
const DECISIONS = [
  { value: "", text: "Any" },
  { value: "READY", text: "Ready" },
  { value: "INCONCLUSIVE", text: "Inconclusive" },
  { value: "NOT_READY", text: "Not ready" },
];
const STATES = [
  { value: "", text: "Any" },
  ...["running", "complete", "interrupted", "stopped", "damaged"].map((state) => ({ value: state, text: state })),
];
const FILTERS = ["text", "spec", "spec_sha256", "eval_set", "model", "decision", "state", "tag"] as const;

/** All runs, the newest first; two or more are chosen to be compared. */
export function RunsPage() {
  const [query, change] = useQuery();
  const search = useRef<HTMLInputElement>(null);
  const filters = valuesOf(query, FILTERS);
  const sort = query.get("sort") ?? "started";
  const order = query.get("order") ?? "desc";
  const { runs, error, more, again } = useRuns({ ...filters, sort, order });
  const chosen = query.getAll("pick");
  const filtered = FILTERS.some((name) => filters[name] !== "");
  useKeys({ "/": () => search.current?.focus() }, SEARCH_KEYS);

  const pick = (runId: string, picked: boolean) =>
    change({ pick: picked ? [...chosen, runId].slice(0, MOST) : chosen.filter((one) => one !== runId) }, { replace: true });

  return (
    <>
      <div className="page-head">
        <h1>Runs</h1>
        <div className="actions">
          <span className="quiet" role="status">
            {chosen.length === 0 ? "Choose two to eight to compare." : `${chosen.length} chosen`}
          </span>
          {chosen.length > 0 && (
            <button type="button" className="plain" onClick={() => change({ pick: null }, { replace: true })}>
              Clear
            </button>
          )}
          {chosen.length >= 2 ? (
            <Link to={compareAddress(chosen)} className="button primary">
              Compare {chosen.length} runs
            </Link>
          ) : (
            <button type="button" className="primary" disabled>
              Compare
            </button>
          )}
        </div>
      </div>
      <form className="filters" role="search" aria-label="Runs" onSubmit={(event) => event.preventDefault()}>
        <SearchField
          label="Search (press /)"
          inputRef={search}
          value={filters.text}
          placeholder="model, eval set, tag, id"
          onChange={(text) => change({ text }, { replace: true })}
        />
        <Evaluators spec={filters.spec} sha256={filters.spec_sha256} onChange={(spec, sha256) => change({ spec, spec_sha256: sha256 })} />
        <Choice label="Decision" value={filters.decision} options={DECISIONS} onChange={(decision) => change({ decision })} />
        <Choice label="State" value={filters.state} options={STATES} onChange={(state) => change({ state })} />
        {filters.tag !== "" && <span className="filter-tag">tag <Tag name={filters.tag} /></span>}
        {filtered && (
          <button type="button" className="plain" onClick={() => change(Object.fromEntries(FILTERS.map((name) => [name, null])))}>
            Clear filters
          </button>
        )}
      </form>
      {error !== null && <Failed error={error} again={again} what="list of runs" />}
      {runs === null && error === null && <Loading what="runs" />}
      {runs !== null && runs.length === 0 && (filtered ? <NothingFits /> : <NoRuns />)}
      {runs !== null && runs.length > 0 && (
        <>
          <RunsTable runs={runs} chosen={chosen} most={MOST} onPick={pick} sort={sort} order={order} onSort={(by, way) => change({ sort: by, order: way })} />
          {more !== null && (
            <p className="actions">
              <button type="button" onClick={more}>
                More runs
              </button>
            </p>
          )}
        </>
      )}
    </>
  );
}

/** Every evaluator that has runs; two of one name, whose files differ, are told apart by their hashes. */
function Evaluators({ spec, sha256, onChange }: { spec: string; sha256: string; onChange: (spec: string, sha256: string) => void }) {
  const found = useResource(address("/evaluators")).data?.evaluators ?? [];
  const isOne = (one: EvaluatorOfRuns) => found.filter((other) => other.spec === one.spec).length === 1;
  const options = found.map((one) => (isOne(one) ? { value: `${one.spec} `, text: one.spec } : { value: `${one.spec} ${one.spec_sha256 ?? ""}`, text: `${one.spec} (${(one.spec_sha256 ?? "no hash").slice(0, 8)})` }));
  const value = spec === "" ? "" : `${spec} ${sha256}`;
  return (
    <Choice label="Evaluator" value={value} options={[{ value: "", text: "Any" }, ...options]} onChange={(chosen) => {
      const [name = "", hash = ""] = chosen.split(" ");
      onChange(name, hash);
    }} />
  );
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
