/**
 * Hostile text made fit to be shown. The same rule as `benchbook.text.visible`: controls but for tab and line feed,
 * the marks that reorder text, and lone surrogates become the characters of their escape.
 */
const UNSEEN =
  // eslint-disable-next-line no-control-regex
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

export interface Piece {
  text: string;
  escape: boolean;
}

const escaped = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;

/** The text in pieces, those apart that stand for a character that can't be seen. */
export function visiblePieces(text: string): Piece[] {
  const pieces: Piece[] = [];
  let end = 0;
  for (const match of text.matchAll(UNSEEN)) {
    if (match.index > end) pieces.push({ text: text.slice(end, match.index), escape: false });
    pieces.push({ text: escaped(match[0]), escape: true });
    end = match.index + match[0].length;
  }
  if (end < text.length) pieces.push({ text: text.slice(end), escape: false });
  return pieces;
}

/** A line end of Windows is a line end; a carriage return anywhere else stays to be seen. */
export const lineEnds = (text: string): string => text.replaceAll("\r\n", "\n");

export function visible(text: string): string {
  return text.replace(UNSEEN, escaped);
}

/** On one line: runs of white space become a space, and what is longer than `width` is cut with an ellipsis. */
export function oneLine(text: string, width = 400): string {
  const line = visible(text.slice(0, 4 * width)).replace(/\s+/g, " ").trim();
  if (line.length <= width && text.length <= 4 * width) return line;
  const end = /[\ud800-\udbff]/.test(line.charAt(width - 2)) ? width - 2 : width - 1; // never half a pair
  return line.slice(0, Math.max(end, 0)) + "…";
}
