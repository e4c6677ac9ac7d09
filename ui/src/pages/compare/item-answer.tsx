import { useMemo } from "react";
import type { AnswerOfRun } from "../../api/types";
import { counted, reasonWords } from "../../format";
import { show } from "../../numbers";
import { Link } from "../../parts/link";
import { runAddress } from "../../router";
import { AnswerText } from "../../text/answer-text";
import type { Span } from "../../text/marks";
import { Inline, ModelText } from "../../text/model-text";
import { Rendered } from "../../text/rendered";
import { WITHIN } from "../../words";
import { Judged, quotesOf, spansIn } from "../run/judged";
import { letterClass } from "./state";

interface Props {
  found: AnswerOfRun;
  letter: string;
  side: "a" | "b";
  changed: readonly Span[];
  differs: boolean;
  rendered: boolean;
  held: boolean; // one of the two whose items are listed
}

/** One run's answer: its score and why it missed, the text with its marks, what was measured, and what the judge said. */
export function ItemAnswer({ found, letter, side, changed, differs, rendered, held }: Props) {
  const label = `Answer of ${letter}`;
  return (
    <section className={`answer${held ? " held" : ""}`} aria-label={`Run ${letter}`}>
      <h4>
        <span className={letterClass(letter)}>{letter}</span>
        <Inline text={found.run} className="run-name" />
      </h4>
      <p className="outcome-line">
        <Outcome found={found} />
        {found.sample !== null && (
          <Link to={runAddress(found.run, { sample: String(found.sample) })} className="small">
            the sample
          </Link>
        )}
      </p>
      {found.sample === null ? null : found.text !== null && rendered ? <Rendered text={found.text} label={label} /> : <Text found={found} label={label} side={side} changed={changed} differs={differs} />}
      <Expected found={found} />
      <Numbers found={found} />
      {found.judged !== null && (
        <details open>
          <summary>What the judge said</summary>
          <Judged found={found.judged} />
        </details>
      )}
      {found.rationale !== null && (
        <details>
          <summary>Rationale of the judge</summary>
          <ModelText text={found.rationale} label={`Rationale for ${letter}`} />
        </details>
      )}
    </section>
  );
}

function Outcome({ found }: { found: AnswerOfRun }) {
  if (found.sample === null) return <span className="nothing">This run has no such item.</span>;
  const tone = found.passed === null ? "none" : found.passed ? "good" : "bad";
  return (
    <span>
      <strong className={`outcome tone-${tone}`}>
        {found.passed !== null && <span aria-hidden="true">{found.passed ? "✓ " : "✕ "}</span>}
        {found.score === null ? "no score" : `score ${show("score", found.score)}`}
      </strong>
      {found.n_scored > 1 && <span className="small quiet"> · mean of {counted(found.n_scored, "repeat")}; the first is shown</span>}
      {found.unanswered_why !== null && <span className="small quiet"> · not answered: {reasonWords(found.unanswered_why)}</span>}
      {found.reasons.filter((one) => one !== found.unanswered_why).map((one) => <span key={one} className="small quiet"> · {reasonWords(one)}</span>)}
    </span>
  );
}

function Text({ found, label, side, changed, differs }: { found: AnswerOfRun; label: string; side: "a" | "b"; changed: readonly Span[]; differs: boolean }) {
  const quotes = useMemo(() => spansIn(quotesOf(found.judged ?? undefined), null, found.quoted_turn), [found]);
  if (found.text === null) return <p className="nothing">No answer.</p>;
  return <AnswerText text={found.text} label={label} quotes={quotes} expected={found.expected_at} changed={changed} side={side} whole={!differs} />;
}

/** Whether the expected answer stands in a text that is not right by it, and as a part of what. */
function Expected({ found }: { found: AnswerOfRun }) {
  if (found.expected_at.length === 0) return null;
  const within = found.expected_at.flatMap((one) => one.within ?? []);
  const apart = found.expected_at.length - within.length;
  const kinds = [...new Set(within)].map((one) => WITHIN[one]).join(" or ");
  if (apart === 0) return <p className="small expected-said">The expected answer stands here only {kinds}.</p>;
  return <p className="small quiet expected-said">The expected answer stands {apart === 1 ? "here" : `here ${apart} times`}{within.length > 0 && `, and ${kinds}`}.</p>;
}

function Numbers({ found }: { found: AnswerOfRun }) {
  const known = found.numbers.filter((one) => one.value !== null);
  if (known.length === 0) return null;
  return (
    <dl className="dimensions">
      {known.map((one) => (
        <div key={one.name}>
          <dt><Inline text={one.title} /></dt>
          <dd>{show(one.kind, one.value)}</dd>
        </div>
      ))}
    </dl>
  );
}
