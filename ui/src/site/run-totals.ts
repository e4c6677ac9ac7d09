/** Runs taken together, as catalog/totals.py has them. */

import type { RunTotalsAnswer } from "../api/types.ts";
import { compared, numberOf, textOf, type Row } from "./rows.ts";

export function totalsOf(rows: readonly Row[]): RunTotalsAnswer {
  const known = (name: string): number[] => rows.map((row) => numberOf(row[name])).filter((one) => one !== null);
  const [tokens, costs] = [known("n_tokens"), known("cost_usd")];
  return {
    n_runs: rows.length,
    n_samples: sum(known("n_attempted")),
    n_tokens: tokens.length === 0 ? null : sum(tokens),
    n_with_tokens: tokens.length,
    cost_usd: costs.length === 0 ? null : Number(sum(costs).toFixed(9)),
    n_with_cost: costs.length,
    by_state: countsOf(rows, "state"),
    by_decision: countsOf(rows, "decision"),
  };
}

const sum = (found: readonly number[]): number => found.reduce((all, one) => all + one, 0);

function countsOf(rows: readonly Row[], name: string): Record<string, number> {
  const values = rows.map((row) => textOf(row[name])).filter((one) => one !== "");
  return Object.fromEntries([...new Set(values)].toSorted(compared).map((value) => [value, values.filter((one) => one === value).length]));
}
