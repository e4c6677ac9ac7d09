/** Rows of the site's lists, and conditions on them: those of the server, over rows that are all here. */

export type Json = string | number | boolean | null | readonly Json[] | { readonly [name: string]: Json };
export type Row = Readonly<Record<string, Json>>;

/** The condition that a row fits one parameter; `text` is the row with its texts whole, `query` all that is asked. */
export type Fits = (row: Row, value: string, text: Row, query: URLSearchParams) => boolean;

export const isList = (found: Json | undefined): found is readonly Json[] => Array.isArray(found);
export const textOf = (found: Json | undefined): string => (typeof found === "string" ? found : "");
export const textsOf = (found: Json | undefined): string[] => (isList(found) ? found.map(textOf) : []);
export const numberOf = (found: Json | undefined): number | null => (typeof found === "number" ? found : typeof found === "boolean" ? Number(found) : null);
export const isObject = (found: Json | undefined): found is Readonly<Record<string, Json>> => typeof found === "object" && found !== null && !isList(found);
export const partOf = (found: Json | undefined, name: string): Json | undefined => (isObject(found) ? found[name] : undefined);

export const equals = (column: string): Fits => (row, value) => row[column] === value;
export const lists = (column: string): Fits => (row, value) => textsOf(row[column]).includes(value);
export const SLICES: Readonly<Record<string, Fits>> = { section: equals("section"), category: equals("category"), difficulty: equals("difficulty") };

/** ASCII letters in either case, as the server has it. */
const folded = (text: string): string => text.replace(/[A-Z]+/g, (some) => some.toLowerCase());
export const holds = (text: Json | undefined, part: string): boolean => typeof text === "string" && folded(text).includes(folded(part));

/** The order of two of which one or both are null; null where neither is. */
export function nullsLast(a: Json | undefined, b: Json | undefined): number | null {
  return (a ?? null) !== null && (b ?? null) !== null ? null : Number((a ?? null) === null) - Number((b ?? null) === null);
}

/** As the server orders values: texts by their code points. */
export function compared(a: Json | undefined, b: Json | undefined): number {
  if (typeof a !== "string" || typeof b !== "string") return Number(a) - Number(b);
  const [left, right] = [Array.from(a), Array.from(b)];
  const place = left.findIndex((one, n) => one !== right[n]);
  return place < 0 ? left.length - right.length : (left[place]!.codePointAt(0) ?? 0) - (right[place]?.codePointAt(0) ?? -1);
}
