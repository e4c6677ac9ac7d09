/** Where quotes stand in a judged text. */

export interface Span {
  start: number;
  end: number;
}

export type Quotes = readonly (readonly Span[])[]; // of each quote its spans; none where it is not in this text

export interface MarkedPiece {
  text: string;
  quotes: readonly number[]; // which quotes cover it
}

/** The text in pieces, each with the numbers of the quotes that cover it. Spans are in UTF-16 code units. */
export function markedPieces(text: string, quotes: Quotes): MarkedPiece[] {
  const held = (place: number) => Math.min(Math.max(place, 0), text.length);
  const covers = quotes.flatMap((spans, number) => spans.map((span) => ({ number, start: held(span.start), end: held(span.end) })));
  const edges = [...new Set([0, text.length, ...covers.flatMap((one) => [one.start, one.end])])].toSorted((a, b) => a - b);
  const pieces: MarkedPiece[] = [];
  for (let i = 0; i + 1 < edges.length; i++) {
    const [start, end] = [edges[i]!, edges[i + 1]!];
    const numbers = [...new Set(covers.filter((one) => one.start <= start && one.end >= end).map((one) => one.number))];
    pieces.push({ text: text.slice(start, end), quotes: numbers });
  }
  return pieces;
}

/** Of marks that stand within something longer, the first of each kind: where one answer has many, the others need no words. */
export function firstOfEachKind<T extends { within: string | null }>(marks: readonly T[]): ReadonlySet<T> {
  const kinds = new Set<string | null>();
  return new Set(marks.filter(({ within }) => !kinds.has(within) && kinds.add(within)));
}
