import type { Decision } from "../../api/client";
import type { Gate, GateWords } from "../../api/types";
import { GateScale } from "../../charts/gate-scale";
import { aggregate } from "../../format";
import { count, interval as written, limit } from "../../numbers";
import { ReportTableView } from "../../parts/report-table";
import { MARKS } from "../../parts/states";

/** The gates, each on its scale and in the words of the report: whether it holds, and how firmly that is shown. */
export function Gates({ decision }: { decision: Decision | null }) {
  if (decision === null || !("gates" in decision) || !decision.gates?.length) return null;
  const { gates, gates_table } = decision.words;
  return (
    <section className="part" aria-labelledby="gates">
      <h2 id="gates">Gates</h2>
      <ul className="gates">
        {decision.gates.map((gate, place) => <GateLine key={gate.aggregate} gate={gate} words={gates[place]!} />)}
      </ul>
      <p className="legend small quiet">
        <span><span className="swatch s-value" /> value</span> <span><span className="swatch s-interval" /> interval</span> <span><span className="swatch s-zone" /> where the gate holds</span>{" "}
        <span><span className="swatch s-range" /> worst to best case of unscored samples</span>
      </p>
      <details className="part-details">
        <summary>The gates as a table</summary>
        <ReportTableView table={gates_table} />
      </details>
    </section>
  );
}

function GateLine({ gate, words }: { gate: Gate; words: GateWords }) {
  const { interval } = gate;
  const hasEnd = interval !== null && (interval.low !== null || interval.high !== null);
  const [, kind] = aggregate(gate.aggregate);
  const state = words.detail === null ? words.text : `${words.text}, ${words.detail}`;
  return (
    <li className="gate">
      <div className={`tone-${words.tone}`}>
        <h3>{words.label}</h3>
        <p className="state"><span className="mark" aria-hidden="true">{MARKS[words.tone]}</span><span><strong>{words.text}</strong>{words.detail !== null && `, ${words.detail}`}</span></p>
      </div>
      <GateScale gate={gate} label={`${words.label}: ${words.value}, asked for ${words.rule}. ${state}.`} />
      <div className="beside">
        <p className="figure">{words.value}</p>
        <p className="small quiet">
          {written(kind, interval, true)}
          {interval !== null && <><br />{hasEnd && `${limit("rate", interval.confidence)} interval, `}n = {count(interval.n)}</>}
        </p>
      </div>
    </li>
  );
}
