/**
 * Markdown as data, to be shown inertly: no link leads anywhere, no picture is fetched, HTML stays text. It knows what
 * models write: headings, lists, quotes, code, tables, emphasis. What it does not know stays as it was written.
 */

export type Inline =
  | string
  | { kind: "code"; text: string }
  | { kind: "strong" | "em" | "struck"; of: readonly Inline[] }
  | { kind: "link" | "picture"; of: readonly Inline[]; to: string };

export type Block =
  | { kind: "heading"; level: number; of: readonly Inline[] }
  | { kind: "paragraph"; of: readonly Inline[] }
  | { kind: "code"; text: string }
  | { kind: "quote"; of: readonly Block[] }
  | { kind: "list"; start: number | null; items: readonly (readonly Block[])[] }
  | { kind: "rule" }
  | { kind: "table"; rows: readonly (readonly (readonly Inline[])[])[] };

const DEEPEST = 6; // lists and quotes within one another
const LONGEST = 20_000; // characters of a paragraph that are looked through for marks

const FENCE = /^ {0,3}(`{3,}|~{3,})[^`]*$/;
const HEADING = /^ {0,3}(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*$/;
const RULE = /^ {0,3}(?:-[ \t]*){3,}$|^ {0,3}(?:\*[ \t]*){3,}$|^ {0,3}(?:_[ \t]*){3,}$/;
const QUOTE = /^ {0,3}> ?/;
const ITEM = /^( *)(?:[-*+]|(\d{1,9})[.)])(?:[ \t]+|$)/;
const DELIMITERS = /^ *\|?(?: *:?-+:? *\|)+ *(?::?-+:? *)?$/;

/** The blocks of a text. */
export function markdown(text: string): Block[] {
  return blocks(text.replaceAll("\r\n", "\n").split("\n"), 0);
}

function blocks(lines: readonly string[], depth: number): Block[] {
  const found: Block[] = [];
  let at = 0;
  while (at < lines.length) {
    const [block, end] = blockAt(lines, at, depth);
    if (block !== null) found.push(block);
    at = end;
  }
  return found;
}

/** The block that begins at a line, and the line behind it. */
function blockAt(lines: readonly string[], at: number, depth: number): [Block | null, number] {
  const line = lines[at]!;
  if (line.trim() === "") return [null, at + 1];
  const fence = FENCE.exec(line)?.[1];
  if (fence !== undefined) return fenced(lines, at, fence);
  const heading = HEADING.exec(line);
  if (heading !== null) return [{ kind: "heading", level: heading[1]!.length, of: inlines(heading[2] ?? "") }, at + 1];
  if (RULE.test(line)) return [{ kind: "rule" }, at + 1];
  if (depth < DEEPEST && QUOTE.test(line)) return quoted(lines, at, depth);
  if (depth < DEEPEST && ITEM.test(line)) return listed(lines, at, depth);
  if (line.includes("|") && DELIMITERS.test(lines[at + 1] ?? "")) return tabled(lines, at);
  return paragraph(lines, at, depth);
}

function fenced(lines: readonly string[], at: number, fence: string): [Block, number] {
  let end = at + 1;
  while (end < lines.length && !(lines[end]!.trim().startsWith(fence) && lines[end]!.trim().replaceAll(fence[0]!, "") === "")) end++;
  return [{ kind: "code", text: lines.slice(at + 1, end).join("\n") }, end + 1];
}

function quoted(lines: readonly string[], at: number, depth: number): [Block, number] {
  let end = at;
  while (end < lines.length && QUOTE.test(lines[end]!)) end++;
  return [{ kind: "quote", of: blocks(lines.slice(at, end).map((line) => line.replace(QUOTE, "")), depth + 1) }, end];
}

/** A list: items of one depth, each with the lines that are indented below it. */
function listed(lines: readonly string[], at: number, depth: number): [Block, number] {
  const first = ITEM.exec(lines[at]!)!;
  const indent = first[1]!.length;
  const items: Block[][] = [];
  let end = at;
  while (end < lines.length) {
    const item = ITEM.exec(lines[end]!);
    if (item === null || item[1]!.length > indent + 1 || item[1]!.length < indent || (item[2] === undefined) !== (first[2] === undefined)) break;
    const own = [lines[end]!.slice(item[0].length)];
    for (end++; end < lines.length && belongs(lines, end, indent); end++) own.push(lines[end]!.replace(/^ {1,4}|^\t/, ""));
    items.push(blocks(own, depth + 1));
  }
  return [{ kind: "list", start: first[2] === undefined ? null : Number(first[2]), items }, end];
}

/** Whether a line goes on with the item above it. */
function belongs(lines: readonly string[], at: number, indent: number): boolean {
  const line = lines[at]!;
  if (line.trim() === "") return /^(?: {2,}|\t)/.test(lines[at + 1] ?? "") && (lines[at + 1] ?? "").search(/\S/) > indent;
  if (line.search(/\S/) > indent + 1 || line.startsWith("\t")) return true;
  return lines[at - 1]!.trim() !== "" && !begins(line);
}

const begins = (line: string): boolean => ITEM.test(line) || FENCE.test(line) || HEADING.test(line) || RULE.test(line) || QUOTE.test(line);

const cells = (line: string): Inline[][] => line.trim().replace(/^\||\|$/g, "").split(/(?<!\\)\|/).map((cell) => inlines(cell.trim().replaceAll("\\|", "|")));

function tabled(lines: readonly string[], at: number): [Block, number] {
  const rows = [cells(lines[at]!)];
  let end = at + 2;
  for (; end < lines.length && lines[end]!.includes("|"); end++) rows.push(cells(lines[end]!));
  return [{ kind: "table", rows }, end];
}

function paragraph(lines: readonly string[], at: number, depth: number): [Block, number] {
  const goesOn = (line: string) => line.trim() !== "" && (depth >= DEEPEST || !begins(line));
  let end = at + 1;
  while (end < lines.length && goesOn(lines[end]!)) end++;
  return [{ kind: "paragraph", of: inlines(lines.slice(at, end).join("\n")) }, end];
}

// ── within a line ────────────────────────────────────────────────────────────────────────────────────────────

const MARKS: readonly (readonly [string, "strong" | "em" | "struck"])[] = [["**", "strong"], ["__", "strong"], ["~~", "struck"], ["*", "em"], ["_", "em"]];
const SPECIAL = /[\\`*_~![]/g;

/** A stretch of text with its code, emphasis and links. */
export function inlines(text: string, depth = 0): Inline[] {
  if (depth > DEEPEST || text.length > LONGEST) return [text];
  const found: Inline[] = [];
  const missing = new Set<string>(); // marks that nothing more of the text closes
  let done = 0;
  SPECIAL.lastIndex = 0;
  for (let at = nextMark(text, 0); at >= 0; ) {
    const [inline, end] = inlineAt(text, at, depth, missing);
    if (inline !== null) {
      if (at > done) found.push(text.slice(done, at));
      found.push(inline);
      done = end;
    }
    at = nextMark(text, end);
  }
  if (done < text.length) found.push(text.slice(done));
  return found;
}

function nextMark(text: string, from: number): number {
  SPECIAL.lastIndex = from;
  return SPECIAL.exec(text)?.index ?? -1;
}

/** What stands at a mark, or nothing; and where to go on. */
function inlineAt(text: string, at: number, depth: number, missing: Set<string>): [Inline | null, number] {
  const character = text[at]!;
  if (character === "\\") return /[!-/:-@[-`{-~]/.test(text[at + 1] ?? "") ? [text[at + 1]!, at + 2] : [null, at + 1];
  if (character === "`") return code(text, at, missing);
  if (character === "[" || text.startsWith("![", at)) return linked(text, at, depth, missing);
  for (const [mark, kind] of MARKS) {
    if (!text.startsWith(mark, at)) continue;
    const end = closing(text, at, mark, missing);
    if (end >= 0) return [{ kind, of: inlines(text.slice(at + mark.length, end), depth + 1) }, end + mark.length];
  }
  return [null, at + 1];
}

function code(text: string, at: number, missing: Set<string>): [Inline | null, number] {
  const ticks = /^`+/.exec(text.slice(at, at + 20))![0];
  const end = at + ticks.length;
  let close = missing.has(ticks) ? -1 : text.indexOf(ticks, end);
  while (close >= 0 && text[close + ticks.length] === "`") close = text.indexOf(ticks, close + ticks.length + 1);
  if (close < 0) {
    missing.add(ticks);
    return [null, end];
  }
  return [{ kind: "code", text: text.slice(end, close) }, close + ticks.length];
}

/** Where a mark is closed: not beside a space, and `_` not within a word. */
function closing(text: string, at: number, mark: string, missing: Set<string>): number {
  const begin = at + mark.length;
  const isWord = (place: number) => /[\p{L}\p{N}]/u.test(text[place] ?? "");
  if (missing.has(mark) || !/\S/.test(text[begin] ?? "") || (mark[0] === "_" && isWord(at - 1))) return -1;
  let end = text.indexOf(mark, begin + 1);
  while (end >= 0 && (!/\S/.test(text[end - 1]!) || (mark[0] === "_" && isWord(end + mark.length)) || (mark.length === 1 && (text[end + 1] === mark || text[end - 1] === mark)))) end = text.indexOf(mark, end + 1);
  if (end < 0) missing.add(mark);
  else if (mark.length === 2) while (text[end + 2] === mark[0]) end++; // of three in a row the first closes what is within
  return end;
}

function linked(text: string, at: number, depth: number, missing: Set<string>): [Inline | null, number] {
  const isPicture = text[at] === "!";
  const begin = at + (isPicture ? 2 : 1);
  const middle = missing.has("](") ? -1 : text.indexOf("](", begin);
  const end = middle < 0 ? -1 : text.indexOf(")", middle);
  if (end < 0) {
    missing.add("](");
    return [null, begin];
  }
  if (text.slice(begin, middle).includes("[")) return [null, begin];
  return [{ kind: isPicture ? "picture" : "link", of: inlines(text.slice(begin, middle), depth + 1), to: text.slice(middle + 2, end) }, end + 1];
}
