import { Fragment } from "react";
import type { CriterionWords, JudgedWords, MetWords, QuoteWords, Turn } from "../../api/types";
import { Inline, ModelText, Quoted } from "../../text/model-text";
import type { Quotes } from "../../text/marks";

/** What the judge quotes, in the order of the criteria: that of the marks' numbers. */
export function quotesOf(judged: JudgedWords | undefined): QuoteWords[] {
  return (judged?.criteria ?? []).flatMap((one) => one.quote ?? []);
}

/** Of each quote where it stands in a text that goes by these names: a turn's number, null for the answer. */
export function spansIn(quotes: readonly QuoteWords[], ...names: readonly (number | null)[]): Quotes {
  return quotes.map((one) => (names.includes(one.turn) ? one.spans : []));
}

/** A conversation, each turn under the number that quotes name it by. */
export function Turns({ turns, quotes }: { turns: readonly Turn[]; quotes: readonly QuoteWords[] }) {
  return turns.map(({ number, head, text }) => (
    <Fragment key={number}>
      <h4><span className="turn">{number}</span> <Inline text={head} /></h4>
      <ModelText text={text} label={`Turn ${number}`} quotes={spansIn(quotes, number)} />
    </Fragment>
  ));
}

/** What the judge gave for each criterion and quotes for it, and what it says of the item's own. */
export function Judged({ found }: { found: JudgedWords }) {
  const quotes = quotesOf(found);
  return (
    <>
      <h4>Criteria</h4>
      <dl className="criteria">
        {found.criteria.map((one, place) => (
          <Criterion key={place} one={one} number={one.quote === null ? 0 : quotes.indexOf(one.quote) + 1} />
        ))}
      </dl>
      {found.item_criteria.length > 0 && (
        <>
          <h4>The item's own criteria</h4>
          <ol className="met-list">
            {found.item_criteria.map((one) => <Met key={one.number} one={one} />)}
          </ol>
        </>
      )}
    </>
  );
}

function Criterion({ one, number }: { one: CriterionWords; number: number }) {
  return (
    <div>
      <dt><Inline text={one.title} /></dt>
      <dd>
        <p><span className={`outcome tone-${one.tone}`}><Inline text={one.given} /></span> <span className="small quiet"><Inline text={one.scale} /></span></p>
        {one.question !== "" && <p className="small"><Inline text={one.question} /></p>}
        {one.quote !== null && (
          <ol className="quotes">
            <Quoted number={number} quote={one.quote.quote} found={one.quote.found} words={one.quote.words} />
          </ol>
        )}
      </dd>
    </div>
  );
}

function Met({ one }: { one: MetWords }) {
  return (
    <li value={one.number}>
      <Inline text={one.text} />
      <p className="small">
        <strong className={`outcome tone-${one.tone}`}>{one.met ? "met" : "not met"}</strong>, weight {one.weight}, {one.adds}
        {one.rationale !== null && <>: <Inline text={one.rationale} /></>}
      </p>
    </li>
  );
}
