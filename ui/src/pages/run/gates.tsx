import type { Aggregates, Decision, Gate, RunRow } from "../../api/types";
import { GateScale } from "../../charts/gate-scale";
import { counted, kindOf, span, value, words } from "../../format";
import { decisionWord } from "../../parts/chips";
import { isExperiment } from "../../parts/experiment";
import type { Tone } from "../../parts/states";
import { Inline } from "../../text/model-text";

const MEANINGS: Record<string, string> = {
  READY: "All gates hold, and they would hold even if every unscored sample had been scored zero.",
  NOT_READY: "At least one gate does not hold, and no score that is still missing could change that.",
  INCONCLUSIVE: "This run does not show that the model is ready, and does not show that it is not.",
};

/** What `answer_correctness@v1` says is of the run itself, and not of its score (A3). */
const VERDICTS: Record<string, string> = {
  pass: "The run itself completed",
  fail: "The run itself failed",
  incomplete: "The run is not complete",
  unavailable: "Nothing was scored",
};

/** The first thing to be read: the decision in words, and why; else the number that the spec ranks runs by. */
export function Headline({ row, decision, aggregates }: { row: RunRow; decision: Decision | null; aggregates: Aggregates | null }) {
  if (decision?.decision !== undefined) {
    const word = decisionWord(decision.decision);
    const reasons = decision.said ?? decision.reasons ?? [];
    return (
      <section className={`headline tone-${word.tone}`} aria-label="Decision">
        <p className="says">
          <span className="mark" aria-hidden="true">{word.mark}</span>
          {word.text}
        </p>
        <p>{MEANINGS[decision.decision] ?? ""}</p>
        {reasons.length > 0 && (
          <ul>
            {reasons.map((reason) => (
              <li key={reason}><Inline text={reason} /></li>
            ))}
          </ul>
        )}
      </section>
    );
  }
  if (isExperiment(row)) return <Evaluated row={row} aggregates={aggregates} />;
  const name = row.primary_name ?? "primary_score";
  const kind = kindOf(name);
  return (
    <section className="headline tone-none" aria-label="Score">
      <p className="says">{value(row.primary, kind)}</p>
      <p>
        {words(name)}, {span(row.primary_low, row.primary_high, (found) => value(found, kind))} (95 % interval), n = {(row.n_scored ?? 0).toLocaleString("en")}
      </p>
      {row.primary === null && row.n_planned !== null && <p>{(row.n_attempted ?? 0).toLocaleString("en")} of {counted(row.n_planned, "sample")} so far.</p>}
      {decision?.verdict !== undefined && <p>{VERDICTS[decision.verdict] ?? words(decision.verdict)}{decision.reason && <>: <Inline text={decision.reason} /></>}.</p>}
      {aggregates?.n_items !== undefined && <p className="quiet">{counted(aggregates.n_items, "item")}, {(aggregates.n_scored ?? 0).toLocaleString("en")} scored{aggregates.n_unanswered ? `, ${aggregates.n_unanswered.toLocaleString("en")} unanswered` : ""}.</p>}
    </section>
  );
}

/** An experiment has no one number: how much of it counts is what there is to say first. */
function Evaluated({ row, aggregates }: { row: RunRow; aggregates: Aggregates | null }) {
  const done = row.n_attempted ?? 0;
  return (
    <section className="headline tone-none" aria-label="Evaluations">
      <p className="says">{counted(aggregates?.n_evaluations ?? done, "evaluation")}</p>
      {aggregates?.n_valid !== undefined && <p>{aggregates.n_valid.toLocaleString("en")} valid, {(aggregates.n_invalid ?? 0).toLocaleString("en")} invalid. An invalid one enters no score.</p>}
      {row.n_planned !== null && done < row.n_planned && <p>{done.toLocaleString("en")} of {row.n_planned.toLocaleString("en")} so far.</p>}
    </section>
  );
}

export function Gates({ decision }: { decision: Decision | null }) {
  if (decision?.gates === undefined || decision.gates.length === 0) return null;
  return (
    <section className="part" aria-labelledby="gates">
      <h2 id="gates">Gates</h2>
      <ul className="gates">
        {decision.gates.map((gate) => (
          <GateLine key={gate.aggregate} gate={gate} />
        ))}
      </ul>
      <p className="legend small quiet">
        <span><span className="swatch s-value" /> value</span> <span><span className="swatch s-interval" /> interval</span> <span><span className="swatch s-zone" /> where the gate holds</span>{" "}
        <span><span className="swatch s-range" /> worst to best case of unscored samples</span>
      </p>
    </section>
  );
}

function GateLine({ gate }: { gate: Gate }) {
  const kind = kindOf(gate.aggregate);
  const state = gateState(gate);
  const write = (found: number) => value(found, kind);
  const interval = gate.interval;
  return (
    <li className="gate">
      <div className={`tone-${state.tone}`}>
        <h3>{words(gate.aggregate)}</h3>
        <p className="state"><span className="mark" aria-hidden="true">{state.mark}</span>{state.text}</p>
      </div>
      <GateScale value={gate.value} low={interval?.low ?? null} high={interval?.high ?? null} open={interval !== null && interval.high === null} worst={gate.worst} best={gate.best} limit={gate.limit} atLeast={gate.direction === "at_least"} kind={kind}
        label={`${words(gate.aggregate)}: ${value(gate.value, kind)}, asked for ${gate.direction === "at_least" ? "at least" : "at most"} ${write(gate.limit)}`} />
      <div className="beside">
        <p className="figure">{value(gate.value, kind)}</p>
        <p className="small quiet">
          {interval === null ? "no interval" : <>{span(interval.low, interval.high, write)}<br />{Math.round(100 * interval.confidence)} % interval, n = {interval.n.toLocaleString("en")}</>}
        </p>
      </div>
    </li>
  );
}

function gateState(gate: Gate): { text: string; tone: Tone; mark: string } {
  if (gate.unmeasured) return { text: "Not measured", tone: "none", mark: "–" };
  if (!gate.holds) return gate.holds_in_best_case ? { text: "Does not hold; missing scores could change that", tone: "doubt", mark: "?" } : { text: "Does not hold", tone: "bad", mark: "✕" };
  return gate.holds_in_worst_case ? { text: "Holds", tone: "good", mark: "✓" } : { text: "Holds, but not in the worst case", tone: "doubt", mark: "?" };
}
