import { useMemo, useState } from "react";
import { count } from "../numbers";
import { lineEnds, visiblePieces } from "./visible";

const SHOWN = 20_000; // characters at first, and at each further step: 5 MB in one go would hold the page up

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

/** A whole text of a model, a judge or an eval set, with its line breaks. A long one is shown a stretch at a time. */
export function ModelText({ text, label }: { text: string | null | undefined; label: string }) {
  const [shown, setShown] = useState(SHOWN);
  if (text === null || text === undefined) return <p className="nothing">None.</p>;
  if (text === "") return <p className="nothing">The text is empty.</p>;
  return (
    <div className="model-text" dir="auto" role="group" aria-label={label} tabIndex={text.length > 600 ? 0 : undefined}>
      <Pieces text={lineEnds(cut(text, shown))} />
      {text.length > shown && (
        <p className="more">
          <button type="button" onClick={() => setShown(shown * 4)}>
            Show more of {count(text.length)} characters
          </button>
        </p>
      )}
    </div>
  );
}

/** At most `length` characters, and never half a surrogate pair. */
export function cut(text: string, length: number): string {
  if (text.length <= length) return text;
  const last = text.charCodeAt(length - 1);
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? length - 1 : length);
}
