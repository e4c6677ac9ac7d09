import type { ItemClass } from "../../api/types";

export const LETTERS = "ABCDEFGH";
/** The colour of a run is that of its place. */
export const letterClass = (letter: string): string => `letter series-${LETTERS.indexOf(letter)}`;

export const MOST_RUNS = 8;

export const CLASSES: readonly { name: ItemClass; text: string; short: string; mark: string }[] = [
  { name: "regressed", text: "Regressed", short: "regressed", mark: "▼" },
  { name: "improved", text: "Improved", short: "improved", mark: "▲" },
  { name: "same_correct", text: "Same, right", short: "same, right", mark: "=" },
  { name: "same_wrong", text: "Same, wrong", short: "same, wrong", mark: "=" },
  { name: "only_in_a", text: "Only in A", short: "only in A", mark: "A" },
  { name: "only_in_b", text: "Only in B", short: "only in B", mark: "B" },
  { name: "expected_changed", text: "Expected answer changed", short: "expected changed", mark: "≠" },
];

export const className = (name: ItemClass): string => `class-${name.replaceAll("_", "-")}`;

/** Filters of the item table, as they are named in the address. */
export const FILTERS = ["class", "section", "category", "difficulty", "reason", "text"] as const;
export type FilterName = (typeof FILTERS)[number];
export type Filters = Readonly<Record<FilterName, string>>;

export function filtersOf(query: URLSearchParams): Filters {
  return Object.fromEntries(FILTERS.map((name) => [name, query.get(name) ?? ""])) as Filters;
}

/** The runs to compare: named once each, two to eight; and which of them is held against the first. */
export function comparedRuns(query: URLSearchParams): { runs: string[]; b: number } {
  const runs = [...new Set(query.getAll("run"))].slice(0, MOST_RUNS);
  const wanted = Number(query.get("b") ?? "1");
  const b = Number.isInteger(wanted) && wanted >= 1 && wanted < runs.length ? wanted : 1;
  return { runs, b };
}

