import { UNSEEN } from "../words";

/**
 * Hostile text made fit to be shown, as `benchbook.text.visible` does it: what nobody sees becomes the characters of its
 * escape, but for what writes language or emoji where it stands (benchbook.unseen); halves of pairs, too.
 */
const HIDDEN = new RegExp(`${UNSEEN.astray}|${UNSEEN.nowhere}|[\\ud800-\\udfff]`, "gu");

export interface Piece {
  text: string;
  escape: boolean;
}

function escaped(row: string): string {
  return Array.from(row, (one) => {
    const code = one.codePointAt(0)!;
    return code < 0x10000 ? `\\u${code.toString(16).padStart(4, "0")}` : `\\U${code.toString(16).padStart(8, "0")}`;
  }).join("");
}

/** The text in pieces, those apart that stand for a character that can't be seen. */
export function visiblePieces(text: string): Piece[] {
  const pieces: Piece[] = [];
  let end = 0;
  for (const match of text.matchAll(HIDDEN)) {
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
  return text.replace(HIDDEN, escaped);
}

/** On one line: runs of white space become a space, and what is longer than `width` is cut with an ellipsis. */
export function oneLine(text: string, width = 400): string {
  const line = visible(text.slice(0, 4 * width)).replace(/\s+/g, " ").trim();
  if (line.length <= width && text.length <= 4 * width) return line;
  const end = /[\ud800-\udbff]/.test(line.charAt(width - 2)) ? width - 2 : width - 1; // never half a pair
  return line.slice(0, Math.max(end, 0)) + "…";
}
