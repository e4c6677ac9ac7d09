import type { Aggregates, Decision } from "../../api/client";
import type { RunRow } from "../../api/types";
import { aggregate, counted, rowInterval } from "../../format";
import { count, interval, show } from "../../numbers";
import { isExperiment } from "../../parts/experiment";
import { MARKS } from "../../parts/states";
import { Inline } from "../../text/model-text";

interface Props {
  row: RunRow;
  decision: Decision | null;
  aggregates: Aggregates | null;
}

/** The first thing to be read: what the report says first, and why; until there is a decision, what is known so far. */
export function Headline({ row, decision, aggregates }: Props) {
  if (decision !== null) return <Decided decision={decision} aggregates={aggregates} />;
  return isExperiment(row) ? <Evaluated row={row} aggregates={aggregates} /> : <SoFar row={row} />;
}

function Decided({ decision, aggregates }: { decision: Decision; aggregates: Aggregates | null }) {
  const { headline, tone, meaning, reasons } = decision.words;
  return (
    <section className={`headline tone-${tone}`} aria-label={"verdict" in decision ? "Score" : "Decision"}>
      <p className="says">
        {tone !== "none" && <span className="mark" aria-hidden="true">{MARKS[tone]}</span>}
        {headline}
      </p>
      {meaning.map((one) => <p key={one}><Inline text={one} /></p>)}
      {reasons.map(({ title, entries }) => (
        <div key={title}>
          {title !== null && <p className="why">{title}</p>}
          <ul>{entries.map((one) => <li key={one}><Inline text={one} /></li>)}</ul>
        </div>
      ))}
      {aggregates !== null && "checks" in aggregates && <p>Score {show("score", aggregates.primary_score)}, {interval("score", aggregates.intervals["primary_score"] ?? null)}.</p>}
      {aggregates !== null && "misses" in aggregates && (
        <p className="quiet">{counted(aggregates.n_items, "item")}, {count(aggregates.n_scored)} scored{aggregates.n_unanswered ? `, ${count(aggregates.n_unanswered)} unanswered` : ""}.</p>
      )}
    </section>
  );
}

function SoFar({ row }: { row: RunRow }) {
  const [label, kind] = aggregate(row.primary_name ?? "primary_score");
  return (
    <section className="headline tone-none" aria-label="Score">
      <p className="says">{show(kind, row.primary)}</p>
      <p>{label}, {rowInterval(row, kind)}, n = {count(row.n_scored)}</p>
      {row.primary === null && row.n_planned !== null && <p>{count(row.n_attempted)} of {counted(row.n_planned, "sample")} so far.</p>}
    </section>
  );
}

/** An experiment has no one number: how much of it counts is what there is to say first. */
function Evaluated({ row, aggregates }: Omit<Props, "decision">) {
  const done = row.n_attempted ?? 0;
  const found = aggregates !== null && "n_evaluations" in aggregates ? aggregates : null;
  return (
    <section className="headline tone-none" aria-label="Evaluations">
      <p className="says">{counted(found?.n_evaluations ?? done, "evaluation")}</p>
      {found !== null && <p>{count(found.n_valid)} valid, {count(found.n_invalid)} invalid. An invalid one enters no score.</p>}
      {row.n_planned !== null && done < row.n_planned && <p>{count(done)} of {count(row.n_planned)} so far.</p>}
    </section>
  );
}
