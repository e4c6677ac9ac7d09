import type { ComparedSet, MetricOption } from "../../api/types";
import { counted } from "../../format";
import { Choice } from "../../parts/fields";
import { useQuery } from "../../router";
import type { Contender } from "./contenders";
import { ForestTable } from "./forest-table";
import { MetricChoice } from "./metric-choice";
import { bestFirst } from "./metrics";

const ORDERS = [
  { value: "", text: "baseline first, then as trained" },
  { value: "best", text: "best first" },
];

interface Props {
  found: ComparedSet;
  option: MetricOption;
  contenders: readonly Contender[];
  b: string;
  why: string;
  onMetric: (name: string) => void;
  onB: (run: string) => void;
  onBaseline: (run: string) => void;
  onRemove: (run: string) => void;
}

/** All runs at once, by a metric of choice. */
export function RunsTogether({ found, option, contenders, b, why, onMetric, onB, onBaseline, onRemove }: Props) {
  const [query, change] = useQuery();
  const order = query.get("rows") === "best" ? "best" : "";
  return (
    <section className="part together" aria-labelledby="together">
      <h2 id="together">{counted(found.rows.length, "run")}</h2>
      <div className="filters">
        <MetricChoice value={option.name} options={found.metrics} onChange={onMetric} />
        <Choice label="Rows" value={order} options={ORDERS} onChange={(rows) => change({ rows }, { replace: true })} />
      </div>
      <ForestTable
        rows={order === "best" ? bestFirst(found.rows, option) : contenders.flatMap(({ run }) => found.rows.find((row) => row.run === run) ?? [])}
        contenders={contenders}
        pairs={found.pairs}
        metric={option}
        a={found.baseline}
        b={b}
        why={why}
        onB={onB}
        onBaseline={onBaseline}
        onRemove={onRemove}
      />
      <p className="small quiet">
        {option.higher_is_better === false && "Lower is better. "}
        The line through the rows is the baseline. A row is held against it below.{" "}
        {found.unranked === null ? `Ranks are over the ${counted(found.n_ranked ?? 0, "item")} that every run has; in brackets those that are not ruled out, at 95 % confidence for all at once.` : `No ranks: ${found.unranked}.`}
      </p>
    </section>
  );
}
