/** The metrics that runs are compared by, and the differences of a pair by each. */

import type { Difference, MetricOption, Pair, RunByMetric } from "../../api/types";

export const SCORE = "score";

export interface Measure {
  name: string;
  difference: Difference;
}

/** Every difference of a pair, the score first. */
export function measuresOf(pair: Pair): Measure[] {
  const { score, passing, containment, metrics } = pair;
  return [
    { name: SCORE, difference: score },
    ...(passing === null ? [] : [{ name: "passing", difference: passing }]),
    ...(containment === null ? [] : [{ name: "contained", difference: containment.difference }]),
    ...metrics.map(({ name, difference }) => ({ name, difference })),
  ];
}

/** True where both runs of a pair have the metric, item by item: then cards, slices and items are by it. */
export const isOfPair = (pair: Pair, metric: string): boolean => measuresOf(pair).some((one) => one.name === metric);

/** Rows from the best on: by rank, or by value where nothing is ranked; where nobody knows what is better, the highest first. */
export function bestFirst(rows: readonly RunByMetric[], metric: MetricOption): RunByMetric[] {
  const sign = metric.higher_is_better === false ? 1 : -1;
  const worst = Number.POSITIVE_INFINITY;
  const key = (row: RunByMetric): [number, number] => [row.rank ?? worst, row.value === null ? worst : sign * row.value];
  return rows.toSorted((one, other) => {
    const [a, b] = [key(one), key(other)];
    return a[0] === b[0] ? (a[1] === b[1] ? 0 : a[1] - b[1]) : a[0] - b[0];
  });
}

/** The ends of a scale that holds all values with their intervals, and some room; never beyond what a score can be. */
export function spanOf(found: readonly { value: number | null; low: number | null; high: number | null }[], isScore = false): [number, number] {
  const all = found.flatMap(({ value, low, high }) => [value, low, high]).filter((one) => one !== null);
  if (all.length === 0) return [0, 1];
  const [low, high] = [Math.min(...all), Math.max(...all)];
  const room = Math.max((high - low) * 0.06, Math.abs(high) * 1e-3, 1e-6);
  return isScore ? [Math.max(low - room, 0), Math.min(high + room, 1)] : [low < 0 ? low - room : Math.max(low - room, 0), high + room];
}
