/** The items of two runs: their numbers, filters and orders, as server/item_numbers.py and compared_items.py have them. */

import { equals, holds, numberOf, partOf, SLICES, textOf, type Fits, type Row } from "./rows.ts";

export type Side = "a" | "b";

/** A number of an item in one of its runs, by the metric's name. */
export function numberIn(row: Row, metric: string, side: Side): number | null {
  if (metric === "score") return numberOf(row[`score_${side}`]);
  if (metric === "passing") return numberOf(row[`passed_${side}`]);
  if (metric === "contained") return numberOf(row[`contained_${side}`]);
  return numberOf(partOf(row[`metrics_${side}`], metric));
}

const COMPARED = new Set(["regressed", "improved", "same_correct", "same_wrong"]);

/** B - A of an item that is compared; null of others. */
export function differenceOf(row: Row, metric: string): number | null {
  const [a, b] = [numberIn(row, metric, "a"), numberIn(row, metric, "b")];
  return a === null || b === null || !COMPARED.has(textOf(row["class"])) ? null : Number((b - a).toFixed(9));
}

const metricOf = (query: URLSearchParams): string => query.get("metric") ?? "score";

const limited = (of: (row: Row, query: URLSearchParams) => number | null, least: boolean): Fits => (row, value, _, query) => {
  const found = of(row, query);
  return found !== null && (least ? found >= Number(value) : found <= Number(value));
};
const inA = (row: Row, query: URLSearchParams) => numberIn(row, metricOf(query), "a");
const inB = (row: Row, query: URLSearchParams) => numberIn(row, metricOf(query), "b");
const between = (row: Row, query: URLSearchParams) => differenceOf(row, metricOf(query));

/** What became of an item by a metric; `higher` is better, or lower is. */
export function moved(difference: number | null, higher: boolean): "lost" | "won" | "same" | null {
  if (difference === null) return null;
  if (difference === 0) return "same";
  return difference > 0 === higher ? "won" : "lost";
}

/** The filters of items; `isHigherBetter` knows the metrics. */
export const itemFilters = (isHigherBetter: (metric: string) => boolean): Readonly<Record<string, Fits>> => ({
  ...SLICES,
  class: equals("class"),
  reason: (row, value) => row["miss_reason_a"] === value || row["miss_reason_b"] === value,
  reason_a: equals("miss_reason_a"),
  reason_b: equals("miss_reason_b"),
  text: (row, value, text) => [row["item_id"], text["prompt"], text["expected"], text["text_a"], text["text_b"]].some((one) => holds(one, value)),
  text_changed: (row, value) => row["text_changed"] === (value === "true"),
  moved: (row, value, _, query) => moved(between(row, query), isHigherBetter(metricOf(query))) === value,
  a_min: limited(inA, true),
  a_max: limited(inA, false),
  b_min: limited(inB, true),
  b_max: limited(inB, false),
  difference_min: limited(between, true),
  difference_max: limited(between, false),
});

/** What items are put in order by; null where it is a column of its own name. */
export function itemKey(row: Row, sort: string, query: URLSearchParams): Row[string] {
  if (sort === "a") return inA(row, query);
  if (sort === "b") return inB(row, query);
  if (sort === "difference") return between(row, query);
  if (sort === "change") {
    const found = differenceOf(row, "score");
    return found === null || row["class"] === "expected_changed" ? null : -Math.abs(found);
  }
  return row[sort] ?? null;
}
