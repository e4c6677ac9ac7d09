import type { ItemRow } from "../../api/types";
import { CLASSES as WORDS } from "../../words";

export type ItemClass = ItemRow["class"];

/** The baseline is A, the others follow in the order of their training. */
export const LETTERS = "ABCDEFGHIJKLMNOPQRST";
/** The colour of a run is that of its place; beyond eight, letters alone tell runs apart. */
export const letterClass = (letter: string): string => `letter series-${LETTERS.indexOf(letter)}`;

export const MOST_RUNS = LETTERS.length;
/** What still has a column each: of an item the answers, and of a history the runs. */
export const MOST_SIDE_BY_SIDE = 8;

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

export interface Chosen {
  runs: string[];
  baseline: string | null; // null: the first of their order
  b: string | null; // the run that cards and items hold against the baseline; null: the next one
}

/** The runs to compare, named once each. `b` is a place among them; alone, it is from when the first was the baseline. */
export function comparedRuns(query: URLSearchParams): Chosen {
  const runs = [...new Set(query.getAll("run"))].slice(0, MOST_RUNS);
  const asked = query.get("baseline");
  const place = query.get("b");
  const baseline = asked !== null && runs.includes(asked) ? asked : place !== null ? (runs[0] ?? null) : null;
  return { runs, baseline, b: (place !== null && /^\d{1,2}$/.test(place) ? runs[Number(place)] : undefined) ?? null };
}

/** The runs with the baseline first, the others in `order`; and which of them is held against it. */
export function heldRuns(order: readonly string[], { baseline, b }: Chosen): { runs: string[]; b: string } {
  const first = baseline ?? order[0]!;
  const runs = [first, ...order.filter((run) => run !== first)];
  return { runs, b: b !== null && b !== first ? b : runs[1]! };
}
