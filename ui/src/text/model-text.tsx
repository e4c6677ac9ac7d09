import { useMemo, useState, type ReactNode } from "react";
import { count } from "../numbers";
import { markedPieces, type Quotes } from "./marks";
import { lineEnds, visiblePieces } from "./visible";

const SHOWN = 20_000; // characters at first, and at each further step: 5 MB in one go would hold the page up
const NONE: Quotes = [];

/** Pieces of model text as text nodes; an escape stands in a mark of its own. */
export function Pieces({ text }: { text: string }) {
  const pieces = useMemo(() => visiblePieces(text), [text]);
  if (pieces.length === 1 && !pieces[0]!.escape) return pieces[0]!.text;
  return pieces.map((piece, place) =>
    piece.escape ? (
      <span key={place} className="escape" title="A character that can't be seen">
        {piece.text}
      </span>
    ) : (
      piece.text
    ),
  );
}

/** A short model text within a line: isolated, so that it turns nothing around it. */
export function Inline({ text, className }: { text: string; className?: string }) {
  return (
    <bdi className={className}>
      <Pieces text={text} />
    </bdi>
  );
}

/**
 * A whole text of a model, a judge or an eval set, with its line breaks; each of `quotes` is marked by its number where it
 * stands. A long one is shown a stretch at a time, at first as far as the last quote.
 */
export function ModelText({ text, label, quotes = NONE }: { text: string | null | undefined; label: string; quotes?: Quotes }) {
  const [more, setMore] = useState(0);
  if (text === null || text === undefined) return <p className="nothing">None.</p>;
  if (text === "") return <p className="nothing">The text is empty.</p>;
  const shown = Math.max(SHOWN, more, ...quotes.flat().map((span) => span.end));
  return (
    <div className="model-text" dir="auto" role="group" aria-label={label} tabIndex={mayScroll(text) ? 0 : undefined}>
      <Marked text={cut(text, shown)} quotes={quotes} />
      {text.length > shown && (
        <p className="more">
          <button type="button" onClick={() => setMore(shown * 4)}>
            Show more of {count(text.length)} characters
          </button>
        </p>
      )}
    </div>
  );
}

function Marked({ text, quotes }: { text: string; quotes: Quotes }) {
  const pieces = useMemo(() => markedPieces(text, quotes), [text, quotes]);
  return pieces.map((piece, place) =>
    piece.quotes.length === 0 ? (
      <Pieces key={place} text={lineEnds(piece.text)} />
    ) : (
      <mark key={place}>
        <Pieces text={lineEnds(piece.text)} />
        <sup>{piece.quotes.map((number) => number + 1).join(",")}</sup>
      </mark>
    ),
  );
}

/** One quote of a judge, by the number of its mark; `words` say how it was found, or that it was not. */
export function Quoted({ number, quote, found, words, children }: { number: number; quote: string; found: boolean; words: string; children?: ReactNode }) {
  return (
    <li className={found ? "found" : "lost"}>
      <p>
        <sup>{number}</sup> <q><Inline text={quote} /></q>
      </p>
      <p className="small">
        <strong>{found ? "✓" : "✕"} {words}</strong>{children}
      </p>
    </li>
  );
}

/** Whether a text may be taller than its box: then the box takes the focus, so that keys scroll it. */
export const mayScroll = (text: string): boolean => text.length > 600 || text.split("\n").reduce((lines, line) => lines + Math.max(Math.ceil(line.length / 30), 1), 0) > 14;

/** At most `length` characters, and never half a surrogate pair. */
export function cut(text: string, length: number): string {
  if (text.length <= length) return text;
  const last = text.charCodeAt(length - 1);
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? length - 1 : length);
}
