import { useState, type RefObject } from "react";
import { address } from "../../api/client";
import type { EvaluatorOfRuns, FilterValue } from "../../api/types";
import { useResource } from "../../api/use-resource";
import { count } from "../../numbers";
import { decisionWords } from "../../parts/chips";
import { Choice, SearchField } from "../../parts/fields";
import { visible } from "../../text/visible";
import { RUN_STATES } from "../../words";

export const FILTERS = ["text", "spec", "spec_sha256", "eval_set", "model", "judge", "decision", "state", "tag", "archived"] as const;
export type Filters = Readonly<Record<(typeof FILTERS)[number], string>>;

const ANY = { value: "", text: "Any" };
const STATES = [ANY, ...Object.entries(RUN_STATES).map(([value, text]) => ({ value, text }))];
const MORE = ["decision", "state", "eval_set", "model", "judge", "tag", "archived"] as const; // that are folded away

const choices = (values: readonly FilterValue[] | undefined, say: (value: string) => string = visible) => [ANY, ...(values ?? []).map((one) => ({ value: one.value, text: `${say(one.value)} (${count(one.n_runs)})` }))];

interface Props {
  filters: Filters;
  onChange: (changes: Partial<Record<keyof Filters, string>>) => void;
  search: RefObject<HTMLInputElement | null>;
}

/** What the list of runs is filtered by. */
export function RunFilters({ filters, onChange, search }: Props) {
  const folded = MORE.filter((name) => filters[name] !== "").length;
  const [opened, setOpened] = useState(false);
  const open = opened || folded > 0;
  return (
    <form className="filters" role="search" aria-label="Runs" onSubmit={(event) => event.preventDefault()}>
      <SearchField label="Search (press /)" inputRef={search} value={filters.text} placeholder="id, name, model, eval set, tag, note" onChange={(text) => onChange({ text })} />
      <Evaluators spec={filters.spec} sha256={filters.spec_sha256} onChange={(spec, spec_sha256) => onChange({ spec, spec_sha256 })} />
      <details className="more-filters" open={open} onToggle={(event) => setOpened(event.currentTarget.open)}>
        <summary>More filters{folded > 0 && ` (${folded})`}</summary>
        {open && <MoreFilters filters={filters} onChange={onChange} />}
      </details>
      {FILTERS.some((name) => filters[name] !== "") && (
        <button type="button" className="plain" onClick={() => onChange(Object.fromEntries(FILTERS.map((name) => [name, ""])))}>
          Clear filters
        </button>
      )}
    </form>
  );
}

/** A choice for each of the rest: every value that runs have, with how many have it. */
function MoreFilters({ filters, onChange }: Omit<Props, "search">) {
  const found = useResource(address("/filters")).data;
  const archived = [
    { value: "", text: "left out" },
    { value: "only", text: `alone (${count(found?.n_archived ?? null)})` },
    { value: "any", text: "shown, too" },
  ];
  return (
    <div className="filters">
      <Choice label="Decision" value={filters.decision} options={choices(found?.decisions, decisionWords)} onChange={(decision) => onChange({ decision })} />
      <Choice label="State" value={filters.state} options={STATES} onChange={(state) => onChange({ state })} />
      <Choice label="Eval set" value={filters.eval_set} options={choices(found?.eval_sets)} onChange={(eval_set) => onChange({ eval_set })} />
      <Choice label="Model" value={filters.model} options={choices(found?.models)} onChange={(model) => onChange({ model })} />
      <Choice label="Judge" value={filters.judge} options={choices(found?.judges)} onChange={(judge) => onChange({ judge })} />
      <Choice label="Tag" value={filters.tag} options={choices(found?.tags)} onChange={(tag) => onChange({ tag })} />
      <Choice label="Archived runs" value={filters.archived} options={archived} onChange={(value) => onChange({ archived: value })} />
    </div>
  );
}

/** Every evaluator that has runs; two of one name, whose files differ, are told apart by their hashes. */
function Evaluators({ spec, sha256, onChange }: { spec: string; sha256: string; onChange: (spec: string, sha256: string) => void }) {
  const found = useResource(address("/evaluators")).data?.evaluators ?? [];
  const isOne = (one: EvaluatorOfRuns) => found.filter((other) => other.spec === one.spec).length === 1;
  const options = found.map((one) => (isOne(one) ? { value: `${one.spec} `, text: one.spec } : { value: `${one.spec} ${one.spec_sha256 ?? ""}`, text: `${one.spec} (${(one.spec_sha256 ?? "no hash").slice(0, 8)})` }));
  const value = spec === "" ? "" : `${spec} ${sha256}`;
  return (
    <Choice label="Evaluator" value={value} options={[ANY, ...options]} onChange={(chosen) => {
      const [name = "", hash = ""] = chosen.split(" ");
      onChange(name, hash);
    }} />
  );
}
