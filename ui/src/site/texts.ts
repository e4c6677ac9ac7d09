/** Texts that stand in several places of a site: written once each, and referred to, as server/site/texts.py does it. */

import { isList, isObject, type Json } from "./rows.ts";

const SIGN = "\u0001";

/** JSON of a list with its texts in place of the references; `firsts` has of each script of texts the number of its first,
 * and `load` its texts. */
export async function withTexts(value: Json, firsts: Readonly<Record<string, number>>, load: (script: string) => Promise<readonly string[]>): Promise<Json> {
  const scripts = Object.entries(firsts).toSorted(([, a], [, b]) => a - b);
  const placeOf = (number: number) => scripts.findLastIndex(([, first]) => first <= number);
  const wanted = new Set<number>();
  referred(value, (number) => wanted.add(placeOf(number)));
  const loaded = new Map(await Promise.all([...wanted].map(async (place) => [place, await load(scripts[place]![0])] as const)));
  const textOf = (number: number): string => {
    const place = placeOf(number);
    return loaded.get(place)![number - scripts[place]![1]]!;
  };
  return restored(value, textOf);
}

function referred(value: Json, found: (number: number) => void): void {
  if (typeof value === "string") {
    if (value.startsWith(SIGN)) found(Number.parseInt(value.slice(1), 10));
  } else if (isList(value)) for (const one of value) referred(one, found);
  else if (isObject(value)) for (const one of Object.values(value)) referred(one, found);
}

function restored(value: Json, textOf: (number: number) => string): Json {
  if (typeof value === "string") return value.startsWith(SIGN) ? pieceOf(value, textOf) : value;
  if (isList(value)) return value.map((one) => restored(one, textOf));
  if (isObject(value)) return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, restored(one, textOf)]));
  return value;
}

function pieceOf(reference: string, textOf: (number: number) => string): string {
  const [number, start, end] = reference.slice(1).split(":").map(Number);
  return textOf(number!).slice(start, end);
}
