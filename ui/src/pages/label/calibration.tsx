import type { CardDecision, CardSection, CardWords, Crossed } from "../../api/types";
import { HeatGrid } from "../../charts/heat-grid";
import { SpansLegend, SpansView } from "../../charts/spans";
import { count } from "../../numbers";
import { Lead } from "../../parts/lead";
import { Link } from "../../parts/link";
import { ReportTableView } from "../../parts/report-table";
import { MARKS } from "../../parts/states";
import { runAddress } from "../../router";
import { Inline } from "../../text/model-text";
import { visible } from "../../text/visible";

const OPEN = 3; // criteria that are drawn at once; of more each opens

/** The judge held against people, as `benchbook calibrate` has it: its sentences first, then pictures, then its tables folded away. */
export function CalibrationView({ words, run, labels }: { words: CardWords; run: string; labels: string }) {
  const decides = words.as_judged !== null || words.as_people_judge !== null;
  return (
    <section className="part calibration" aria-labelledby="calibration">
      <h2 id="calibration">{decides ? "What the judge is worth" : "What the scores are worth"}</h2>
      <Lead sentences={words.sentences} />
      {decides && (
        <div className="cards wide">
          <BothWays judged={words.as_judged} people={words.as_people_judge} />
        </div>
      )}
      {words.notices.length > 0 && (
        <div className="notice tone-doubt">
          <h3>Read this first</h3>
          <ul>{words.notices.map((one) => <li key={one}><Inline text={one} /></li>)}</ul>
        </div>
      )}
      {words.values.length > 0 && (
        <section className="card-section">
          <h3>{decides ? "Each gate as judged, and as people would judge" : "The scores, and as people would score"}</h3>
          <div className="pictures">{words.values.map((one) => <SpansView key={one.title} of={one} level="h4" />)}</div>
          <SpansLegend zone={decides} mark={decides ? "limit of the gate" : null} />
          {words.values_about !== "" && <p className="small quiet">{words.values_about}</p>}
        </section>
      )}
      {words.criteria.length > OPEN
        ? words.criteria.map((one) => <Folded key={one.title} of={one} />)
        : words.criteria.map((one) => <Against key={one.title} of={one} said={words.sentences.includes(one.says)} />)}
      <details className="part-details">
        <summary>All of it as tables</summary>
        {words.sections.map((one) => <Section key={one.title} section={one} />)}
      </details>
      <p className="small quiet">
        Run <Link to={runAddress(run)}><Inline text={run} /></Link>. The same, as a page of its own: <code>benchbook calibrate <Inline text={run} /> --labels <Inline text={labels} /> --html card.html</code>
      </p>
    </section>
  );
}

/** One of many criteria: its sentence, which opens. */
function Folded({ of }: { of: Crossed }) {
  return (
    <details className="part-details">
      <summary><Inline text={of.says} /></summary>
      <Against of={of} said />
    </details>
  );
}

/** One criterion: how often people gave a score and the judge gave one, and by how much they differ. */
function Against({ of, said }: { of: Crossed; said: boolean }) {
  const most = Math.max(...of.counts.flat());
  if (most === 0) return null; // nobody has labelled it, which is said above
  return (
    <section className="card-section">
      <h3><Inline text={of.title} />: {of.who} against people</h3>
      {!said && <p><Inline text={of.says} /></p>}
      <div className="pictures">
        <div>
          <HeatGrid
            label={`${of.title}: scores of people and ${of.who}`}
            corner={<>people ↓ {of.who} →</>}
            rows={of.scores}
            columns={of.scores}
            cell={(people, judge) => {
              const n = of.counts[people]?.[judge] ?? 0;
              return { text: count(n), share: n / most, framed: people === judge };
            }}
          />
          <p className="small quiet">How many answers; framed, both gave the same score. Right of the frame the {of.who} gave more, left of it less.</p>
        </div>
        <div>
          <SpansView of={of.differences} level="h4" />
          <SpansLegend mark="no difference" />
        </div>
      </div>
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

/** The decision as judged, and beside it as people would judge. `of` tells them from others on the page. */
export function BothWays({ judged, people, of }: { judged: CardDecision | null; people: CardDecision | null; of?: string }) {
  return (
    <>
      {judged && <Decided title="As judged" decision={judged} of={of} />}
      {people && <Decided title="As people would judge" decision={people} of={of} />}
    </>
  );
}

function Decided({ title, decision, of }: { title: string; decision: CardDecision; of: string | undefined }) {
  return (
    <section className={`card decided tone-${decision.tone}`} aria-label={of === undefined ? title : `${title}, by ${visible(of)}`}>
      <h3>{title}</h3>
      <p className="big"><span aria-hidden="true">{MARKS[decision.tone]}</span> {decision.headline}</p>
      <ul className="small">{decision.reasons.map((one) => <li key={one}><Inline text={one} /></li>)}</ul>
    </section>
  );
}
