import type { ItemRow } from "../../api/types";
import { valuesOf } from "../../router";
import { CLASSES as WORDS } from "../../words";

export type ItemClass = ItemRow["class"];

export const LETTERS = "ABCDEFGH";
/** The colour of a run is that of its place. */
export const letterClass = (letter: string): string => `letter series-${LETTERS.indexOf(letter)}`;

export const MOST_RUNS = 8;

export const CLASSES: readonly { name: ItemClass; text: string; short: string; mark: string }[] = [
  { name: "regressed", text: WORDS.regressed, short: "regressed", mark: "▼" },
  { name: "improved", text: WORDS.improved, short: "improved", mark: "▲" },
  { name: "same_correct", text: WORDS.same_correct, short: "same, right", mark: "=" },
  { name: "same_wrong", text: WORDS.same_wrong, short: "same, wrong", mark: "=" },
  { name: "only_in_a", text: WORDS.only_in_a, short: "only in A", mark: "A" },
  { name: "only_in_b", text: WORDS.only_in_b, short: "only in B", mark: "B" },
  { name: "expected_changed", text: WORDS.expected_changed, short: "expected changed", mark: "≠" },
];

export const className = (name: ItemClass): string => `class-${name.replaceAll("_", "-")}`;

/** Filters of the item table, as they are named in the address. */
export const FILTERS = ["class", "section", "category", "difficulty", "reason", "text"] as const;
export type FilterName = (typeof FILTERS)[number];
export type Filters = Readonly<Record<FilterName, string>>;

export const filtersOf = (query: URLSearchParams): Filters => valuesOf(query, FILTERS);

/** The runs to compare: named once each, two to eight; and which of them is held against the first. */
export function comparedRuns(query: URLSearchParams): { runs: string[]; b: number } {
  const runs = [...new Set(query.getAll("run"))].slice(0, MOST_RUNS);
  const wanted = Number(query.get("b") ?? "1");
  const b = Number.isInteger(wanted) && wanted >= 1 && wanted < runs.length ? wanted : 1;
  return { runs, b };
}

