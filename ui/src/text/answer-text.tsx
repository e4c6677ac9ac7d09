import { useMemo, useState, type ReactNode } from "react";
import type { PlaceOfExpected, Segment } from "../api/types";
import { count } from "../numbers";
import { WITHIN } from "../words";
import { firstOfEachKind, markedPieces, type Quotes, type Span } from "./marks";
import { cut, Pieces, mayScroll } from "./model-text";
import { lineEnds } from "./visible";

const AROUND = 400; // characters of what is unmarked that stay around a mark, in a long text
const SHOWN = 20_000; // characters at first, and at each further step

interface Props {
  text: string;
  label: string;
  quotes: Quotes; // of the judge, by their numbers
  expected: readonly PlaceOfExpected[];
  changed: readonly Span[]; // what the other text does not have
  side: "a" | "b"; // taken away from A, or added in B
  whole: boolean; // else long stretches without a mark are left out
}

/**
 * An answer with all that is marked in it: the judge's quotes, where the expected answer stands, and what differs. Each is
 * an element of its own, and none is told by colour alone.
 */
export function AnswerText({ text, label, quotes, expected, changed, side, whole }: Props) {
  const [more, setMore] = useState(0);
  const layers = useMemo(() => [...quotes, ...expected.map((one) => [one]), changed], [quotes, expected, changed]);
  const shown = whole ? Math.max(SHOWN, more, ...layers.flat().map((span) => span.end)) : text.length;
  const pieces = useMemo(() => markedPieces(cut(text, shown), layers), [text, shown, layers]);
  const labelled = useMemo(() => firstOfEachKind(expected), [expected]);
  if (text === "") return <p className="nothing">The text is empty.</p>;
  return (
    <div className="model-text diff" dir="auto" role="group" aria-label={label} tabIndex={mayScroll(text) ? 0 : undefined}>
      {pieces.map((piece, place) => {
        const marks = piece.quotes;
        if (marks.length === 0) return <Unmarked key={place} text={piece.text} longest={whole ? shown : 8 * AROUND} />;
        const quoted = marks.filter((mark) => mark < quotes.length);
        const found = marks.map((mark) => expected[mark - quotes.length]).find((one) => one !== undefined);
        let marked: ReactNode = <Pieces text={lineEnds(piece.text)} />;
        if (found !== undefined) marked = <mark className="expected" data-within={withinWords(found, labelled)}>{marked}</mark>;
        if (quoted.length > 0) marked = <mark>{marked}<sup>{quoted.map((number) => number + 1).join(",")}</sup></mark>;
        if (!marks.includes(layers.length - 1)) return <span key={place}>{marked}</span>;
        return side === "a" ? <del key={place}>{marked}</del> : <ins key={place}>{marked}</ins>;
      })}
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

/** What the mark says; nothing, but that it is one of them, behind the first of its kind. */
function withinWords(found: PlaceOfExpected, labelled: ReadonlySet<PlaceOfExpected>): string | undefined {
  if (found.within === null) return undefined;
  return labelled.has(found) ? WITHIN[found.within] : "";
}

function Unmarked({ text, longest }: { text: string; longest: number }) {
  if (text.length <= longest) return <Pieces text={lineEnds(text)} />;
  return (
    <>
      <Pieces text={lineEnds(cut(text, AROUND))} />
      <span className="skipped"> … {count(text.length - 2 * AROUND)} characters without a mark … </span>
      <Pieces text={lineEnds(text.slice(-AROUND))} />
    </>
  );
}

/** Where one of two compared texts has what the other has not. */
export function changedSpans(segments: readonly Segment[] | null, side: "a" | "b"): Span[] {
  const own = side === "a" ? "deleted" : "inserted";
  const found: Span[] = [];
  let at = 0;
  for (const { op, text } of segments ?? []) {
    if (op !== "same" && op !== own) continue;
    if (op === own) found.push({ start: at, end: at + text.length });
    at += text.length;
  }
  return found;
}
