import type { CardDecision, CardSection, CardWords } from "../../api/types";
import { Link } from "../../parts/link";
import { ReportTableView } from "../../parts/report-table";
import { MARKS } from "../../parts/states";
import { runAddress } from "../../router";
import { Inline } from "../../text/model-text";

// What else is known of the judge stands folded away: it is about the judge, not about the labels.
const FOLDED = new Set(["Validity", "Evidence and test-retest", "Labels", "Cost"]);

/** The judge held against people, as `benchbook calibrate` has it: the same sentences and the same tables. */
export function CalibrationView({ words, run, labels }: { words: CardWords; run: string; labels: string }) {
  const [open, folded] = [false, true].map((fold) => words.sections.filter((one) => FOLDED.has(one.title) === fold));
  const decides = words.as_judged !== null || words.as_people_judge !== null;
  return (
    <section className="part calibration" aria-labelledby="calibration">
      <h2 id="calibration">{decides ? "What the judge is worth" : "What the scores are worth"}</h2>
      <p><Inline text={words.says} /></p>
      {decides && (
        <div className="cards wide">
          {words.as_judged && <Decided title="As judged" decision={words.as_judged} />}
          {words.as_people_judge && <Decided title="As people would judge" decision={words.as_people_judge} />}
        </div>
      )}
      {words.notices.length > 0 && (
        <div className="notice tone-doubt">
          <h3>Read this first</h3>
          <ul>{words.notices.map((one) => <li key={one}><Inline text={one} /></li>)}</ul>
        </div>
      )}
      {open!.map((one) => <Section key={one.title} section={one} />)}
      {folded!.length > 0 && (
        <details>
          <summary>What else is known of the judge</summary>
          {folded!.map((one) => <Section key={one.title} section={one} />)}
        </details>
      )}
      <p className="small quiet">
        Run <Link to={runAddress(run)}><Inline text={run} /></Link>. The same, as a page of its own: <code>benchbook calibrate <Inline text={run} /> --labels <Inline text={labels} /> --html card.html</code>
      </p>
    </section>
  );
}

function Section({ section }: { section: CardSection }) {
  if (section.tables.every((table) => table.rows.length === 0)) return null;
  return (
    <section className="card-section">
      <h3>{section.title}</h3>
      {section.tables.map((table) => <ReportTableView key={table.caption} table={table} of={section.title} />)}
    </section>
  );
}

function Decided({ title, decision }: { title: string; decision: CardDecision }) {
  return (
    <section className={`card decided tone-${decision.tone}`} aria-label={title}>
      <h3>{title}</h3>
      <p className="big"><span aria-hidden="true">{MARKS[decision.tone]}</span> {decision.headline}</p>
      <ul className="small">{decision.reasons.map((one) => <li key={one}><Inline text={one} /></li>)}</ul>
    </section>
  );
}
