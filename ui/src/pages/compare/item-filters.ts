/** What the list of items is filtered and ordered by: as the address has it, and in words. */
import type { ItemMoves } from "../../api/types";
import { reasonWords, words } from "../../format";
import { limit, sentence } from "../../numbers";
import { valuesOf } from "../../router";
import { CLASSES as CLASS_WORDS, type Kind } from "../../words";

/** Filters of the item table, as they are named in the address and by the server. */
export const FILTERS = [
  "class", "section", "category", "difficulty", "reason", "reason_a", "reason_b", "text", "text_changed", "moved", "a_min", "a_max", "b_min", "b_max", "difference_min", "difference_max",
] as const;
export type FilterName = (typeof FILTERS)[number];
export type Filters = Readonly<Record<FilterName, string>>;

export const LIMITS = ["a_min", "a_max", "b_min", "b_max", "difference_min", "difference_max"] as const;
const OF_METRIC: readonly FilterName[] = ["moved", ...LIMITS];

/** The filters in the address; a limit that is no number is none. */
export function filtersOf(query: URLSearchParams): Filters {
  const found = { ...valuesOf(query, FILTERS) };
  for (const name of LIMITS) if (found[name] !== "" && !Number.isFinite(Number(found[name]))) found[name] = "";
  return found;
}

export const isFiltered = (filters: Filters): boolean => FILTERS.some((name) => filters[name] !== "");

/** None of the filters that go by a number: another number is chosen. */
export const WITHOUT_LIMITS: Readonly<Record<string, null>> = Object.fromEntries(OF_METRIC.map((name) => [name, null]));

export const NO_FILTERS: Readonly<Record<string, null>> = Object.fromEntries(FILTERS.map((name) => [name, null]));

export interface Chip {
  text: string;
  takes: readonly FilterName[]; // what it takes away
}

/** What is filtered, in words, each to be taken away alone. `number` is what limits go by, where it is known. */
export function chipsOf(filters: Filters, letters: readonly [string, string], number: ItemMoves | null, metric: string): Chip[] {
  const [a, b] = letters;
  const title = number?.title ?? words(metric);
  const chips: Chip[] = [];
  const add = (name: FilterName, text: (value: string) => string) => {
    if (filters[name] !== "") chips.push({ text: text(filters[name]), takes: [name] });
  };
  add("class", (value) => sentence(CLASS_WORDS, value));
  for (const name of ["section", "category", "difficulty"] as const) add(name, (value) => `${words(name)}: ${value}`);
  add("reason", (value) => `A text missed: ${reasonWords(value)}`);
  add("reason_a", (value) => `${a} missed: ${reasonWords(value)}`);
  add("reason_b", (value) => `${b} missed: ${reasonWords(value)}`);
  add("text", (value) => `Text: ${value}`);
  add("text_changed", (value) => (value === "true" ? "Another text" : "The same text"));
  add("moved", (value) => `${title}: ${value === "same" ? "the same" : value}`);
  for (const [name, of] of [["a", a], ["b", b], ["difference", `${b} − ${a}`]] as const) {
    const [low, high] = [filters[`${name}_min`], filters[`${name}_max`]];
    if (low !== "" || high !== "") chips.push({ text: `${title}, ${of}: ${range(low, high, number)}`, takes: [`${name}_min`, `${name}_max`] });
  }
  return chips;
}

/** `0.2500 to 1`, `at least 1`: two limits of a filter; a number alone where they are the same. */
export function range(low: string, high: string, number: Pick<ItemMoves, "kind"> | null): string {
  const [from, to] = [low, high].map((text) => (text === "" || number === null ? text : written(Number(text), number.kind)));
  if (low === high) return from!;
  return low === "" ? `at most ${to}` : high === "" ? `at least ${from}` : `${from} to ${to}`;
}

const written = (value: number, kind: Kind): string => (value < 0 ? `−${limit(kind, -value)}` : limit(kind, value));
