/** What a filtered list of items comes to, as server/item_summary.py has it: bins, a grid, slices, what was lost and won. */

import type { ItemBin, ItemCell, ItemMoves, ItemSlice, ItemsSummary, ReasonCount } from "../api/types.ts";
import { differenceOf, moved, numberIn } from "./items.ts";
import { compared, textOf, type Row } from "./rows.ts";

const FEW = 12; // numbers that get a bin each; of more, that many stretches of the whole
const MOST_SLICES = 200;
const FIELDS = ["section", "category", "difficulty"] as const;

/** The summary of the rows that fit; `all` are those of the whole list, and `numbers` the metrics that they have. */
export function summaryOf(fitting: readonly Row[], all: readonly Row[], metric: string, numbers: readonly ItemMoves[]): ItemsSummary {
  const higher = numbers.find((one) => one.metric === metric)?.higher_is_better ?? true;
  const [binsA, placeA] = bins(fitting.map((row) => numberIn(row, metric, "a")));
  const [binsB, placeB] = bins(fitting.map((row) => numberIn(row, metric, "b")));
  return {
    n: fitting.length,
    metric,
    differences: bins(fitting.map((row) => differenceOf(row, metric)))[0],
    bins_a: binsA,
    bins_b: binsB,
    cells: cellsOf(placeA, placeB),
    slices: FIELDS.flatMap((field) => slicesOf(fitting, field, metric, higher)),
    moves: numbers.map((one) => ({ ...one, ...countsOf(fitting, one.metric, one.higher_is_better) })),
    reasons: reasonsOf(all),
  };
}

/** Bins of what is known of `values`, and of each value the place of its bin. */
function bins(values: readonly (number | null)[]): [ItemBin[], (number | null)[]] {
  const single = [...new Set(values.filter((one) => one !== null))].toSorted((a, b) => a - b);
  const [edges, placeOf] = single.length <= FEW ? eachAlone(single) : stretches(single[0]!, single.at(-1)!);
  const places = values.map((one) => (one === null ? null : placeOf(one)));
  const found = edges.map(([start, end], place): ItemBin => {
    const inside = values.filter((one, n) => one !== null && places[n] === place).map(Number);
    return { start, end, n: inside.length, low: inside.length === 0 ? null : Math.min(...inside), high: inside.length === 0 ? null : Math.max(...inside) };
  });
  return [found, places];
}

type Edges = readonly (readonly [number, number])[];

const eachAlone = (single: readonly number[]): [Edges, (value: number) => number] => [single.map((one) => [one, one]), (value) => single.indexOf(value)];

function stretches(least: number, most: number): [Edges, (value: number) => number] {
  if (least < 0 && most > 0) {
    const half = FEW / 2;
    const width = Math.max(-least, most) / half;
    const edges: [number, number][] = Array.from({ length: FEW }, (_, n) => [width * (n - half), width * (n - half + 1)]);
    edges.splice(half, 0, [0, 0]);
    return [edges, (value) => (value === 0 ? half : Math.min(Math.max(Math.floor(value / width), -half), half - 1) + half + Number(value > 0))];
  }
  const width = (most - least) / FEW;
  const edges = Array.from({ length: FEW }, (_, n) => [least + width * n, least + width * (n + 1)] as const);
  return [edges, (value) => Math.min(Math.max(Math.floor((value - least) / width), 0), FEW - 1)];
}

function cellsOf(a: readonly (number | null)[], b: readonly (number | null)[]): ItemCell[] {
  const counts = new Map<string, ItemCell>();
  a.forEach((left, place) => {
    const right = b[place] ?? null;
    if (left === null || right === null) return;
    const key = `${left} ${right}`;
    counts.set(key, { a: left, b: right, n: (counts.get(key)?.n ?? 0) + 1 });
  });
  return [...counts.values()].toSorted((one, other) => one.a - other.a || one.b - other.b);
}

function countsOf(rows: readonly Row[], metric: string, higher: boolean): { lost: number; won: number; same: number } {
  const found = { lost: 0, won: 0, same: 0 };
  for (const row of rows) {
    const became = moved(differenceOf(row, metric), higher);
    if (became !== null) found[became] += 1;
  }
  return found;
}

function slicesOf(rows: readonly Row[], field: (typeof FIELDS)[number], metric: string, higher: boolean): ItemSlice[] {
  const values = [...new Set(rows.map((row) => row[field]).filter((one) => typeof one === "string"))].toSorted(compared);
  if (values.length > MOST_SLICES) return [];
  return values.map((value) => ({ field, value, ...countsOf(rows.filter((row) => row[field] === value), metric, higher) }));
}

function reasonsOf(rows: readonly Row[]): ReasonCount[] {
  const of = (side: "a" | "b") => rows.map((row) => textOf(row[`miss_reason_${side}`])).filter((one) => one !== "");
  const [a, b] = [of("a"), of("b")];
  return [...new Set([...a, ...b])].toSorted(compared).map((reason) => ({
    reason,
    n_a: a.filter((one) => one === reason).length,
    n_b: b.filter((one) => one === reason).length,
  }));
}
