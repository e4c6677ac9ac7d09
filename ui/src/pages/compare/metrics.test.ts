import { expect, it } from "vitest";
import type { MetricOption, RunByMetric } from "../../api/types";
import { bestFirst, spanOf } from "./metrics";

const metric = (higher_is_better: boolean | null): MetricOption => ({ name: "m", title: "M", kind: "ms", higher_is_better, by_items: true });
const row = (run: string, value: number | null, rank: number | null = null) => ({ run, value, rank }) as RunByMetric;
const order = (rows: RunByMetric[], higher: boolean | null) => bestFirst(rows, metric(higher)).map((one) => one.run);

it.each([
  ["by rank, ties as they stand", [row("a", 0.1, 2), row("b", 0.3, 1), row("c", 0.1, 2)], true, ["b", "a", "c"]],
  ["lower is better", [row("a", 20), row("b", null), row("c", 10)], false, ["c", "a", "b"]],
  ["nobody knows what is better: the highest first", [row("a", 10), row("b", 20)], null, ["b", "a"]],
  ["what is not ranked stands last", [row("a", 0.9, null), row("b", 0.2, 1)], true, ["b", "a"]],
])("rows from the best on: %s", (_, rows, higher, wanted) => expect(order(rows, higher)).toEqual(wanted));

it("a scale holds every interval, and no score beyond 0 and 1", () => {
  const [from, to] = spanOf([{ value: 0.5, low: 0.4, high: 1 }, { value: null, low: null, high: null }], true);
  expect([from > 0.35 && from < 0.4, to]).toEqual([true, 1]);
  expect(spanOf([])).toEqual([0, 1]);
  const [low, high] = spanOf([{ value: 300, low: 200, high: null }]);
  expect([low < 200, high > 300]).toEqual([true, true]);
  expect(spanOf([{ value: 5, low: 5, high: 5 }])[1]).toBeGreaterThan(5);
});
