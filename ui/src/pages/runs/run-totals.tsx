import { address, get } from "../../api/client";
import type { RunTotalsAnswer } from "../../api/types";
import { useAnswer } from "../../api/use-resource";
import { Download } from "../../parts/download";
import { counted, words } from "../../format";
import { count, show } from "../../numbers";
import { decisionWords } from "../../parts/chips";
import type { Filters } from "./run-filters";

interface Props {
  filters: Filters;
  order: Readonly<Record<string, string>>;
  turn: number;
  onChange: (changes: Partial<Record<keyof Filters, string>>) => void;
}

/** The runs that fit, taken together: how many, what they took, their states and decisions, which filter; and the list as a file. */
export function RunTotals({ filters, order, turn, onChange }: Props) {
  const url = address("/totals", filters);
  const found = useAnswer<RunTotalsAnswer>(`${url} ${turn}`, (signal) => get(url, signal)).data;
  const file = { ...filters, ...order };
  return (
    <div className="run-totals">
      <p role="status">{found === null ? " " : said(found)}</p>
      <div className="by-value">
        {found !== null && (
          <>
            <Buttons values={found.by_decision} say={decisionWords} chosen={filters.decision} onChoose={(decision) => onChange({ decision })} />
            <Buttons values={found.by_state} say={words} chosen={filters.state} onChoose={(state) => onChange({ state })} />
          </>
        )}
      </div>
      <div className="actions">
        <Download url={address("/runs.csv", file)} name="CSV" small />
        <Download url={address("/runs.ndjson", file)} name="NDJSON" small />
        <Download url={address("/runs.parquet", file)} name="Parquet" small />
      </div>
    </div>
  );
}

/** `204 runs, 12,480 samples, 1,204,000 tokens (of 12 runs), $3.20 (of 8 runs)`. */
function said(found: RunTotalsAnswer): string {
  const of = (n: number) => (n === found.n_runs ? "" : ` (of ${counted(n, "run")})`);
  return [
    counted(found.n_runs, "run"),
    counted(found.n_samples, "sample"),
    ...(found.n_tokens === null ? [] : [`${counted(found.n_tokens, "token")}${of(found.n_with_tokens)}`]),
    ...(found.cost_usd === null ? [] : [`${show("usd", found.cost_usd)}${of(found.n_with_cost)}`]),
  ].join(", ");
}

interface ButtonsProps {
  values: Readonly<Record<string, number>>;
  say: (value: string) => string;
  chosen: string;
  onChoose: (value: string) => void;
}

function Buttons({ values, say, chosen, onChoose }: ButtonsProps) {
  return Object.entries(values).map(([value, n]) => (
    <button key={value} type="button" className="small" aria-pressed={chosen === value} onClick={() => onChoose(chosen === value ? "" : value)}>
      {say(value)} <span className="quiet">{count(n)}</span>
    </button>
  ));
}
