import type { Segment } from "../api/types";
import { Pieces } from "./model-text";
import { count } from "../numbers";

const AROUND = 400; // characters of what is the same that stay around a change

/** One side of a text difference: what only this side has is marked, by an element and not by colour alone. */
export function DiffSide({ segments, side, label }: { segments: readonly Segment[]; side: "a" | "b"; label: string }) {
  const own = side === "a" ? "deleted" : "inserted";
  const shown = segments.filter((one) => one.op === "same" || one.op === own);
  const length = shown.reduce((sum, one) => sum + one.text.length, 0);
  return (
    <div className="model-text diff" dir="auto" role="group" aria-label={label} tabIndex={length > 600 ? 0 : undefined}>
      {length === 0 && <span className="nothing">The text is empty.</span>}
      {shown.map((one, place) =>
        one.op === "same" ? (
          <Same key={place} text={one.text} />
        ) : side === "a" ? (
          <del key={place}>
            <Pieces text={one.text} />
          </del>
        ) : (
          <ins key={place}>
            <Pieces text={one.text} />
          </ins>
        ),
      )}
    </div>
  );
}

function Same({ text }: { text: string }) {
  if (text.length <= 8 * AROUND) return <Pieces text={text} />;
  const hidden = text.length - 2 * AROUND;
  return (
    <>
      <Pieces text={text.slice(0, AROUND)} />
      <span className="skipped"> … {count(hidden)} characters that are the same … </span>
      <Pieces text={text.slice(-AROUND)} />
    </>
  );
}
