import { describe, expect, it } from "vitest";
import cases from "../../tests/cases/numbers.json";
import type { Difference, Measured } from "./api/types";
import { interval, limit, measured, points, pValue, show, signed, signedInterval } from "./numbers";
import type { Kind } from "./words";

// A case is what a function takes, and last the text it makes of that.
type Case = readonly (string | number | null)[];

const difference = (low: number | null, high: number | null, reason: string | null = null): Difference => ({ low, high, reason }) as Difference;

const WRITERS: Readonly<Record<string, (...given: never[]) => string>> = {
  "show: kind, value, apart from, why there is none": (kind: Kind, value: number | null, apartFrom: number | null, unknown: string | null) => show(kind, value, { apartFrom, unknown }),
  "limit: kind, value": limit,
  "interval: kind, low, high, confidence, reason": (kind: Kind, low: number | null, high: number | null, confidence: number, reason: string | null) => interval(kind, { low, high, confidence, reason }),
  "signed: value": (value: number | null) => signed(value),
  "difference: low, high, reason": (low: number | null, high: number | null, reason: string | null) => signedInterval(difference(low, high, reason)),
  "points: low, high": (low: number, high: number) => points(difference(low, high)),
  "p: p": pValue,
  "measured: kind, value, low, high, units, at least, reason": (kind: Kind, value: number | null, low: number | null, high: number | null, n_units: number, at_least: number, reason: string | null) => {
    const found = measured(kind, { value, low, high, n_units, at_least, reason } as Measured);
    return `${found.value} (${found.beside})`;
  },
};

const { about: _, ...tables } = cases;

describe.each(Object.entries<readonly Case[]>(tables))("%s", (name, rows) => {
  it.each(rows.map((row) => [row.slice(0, -1), row.at(-1)] as const))("%j is %s", (given, wanted) => {
    expect(WRITERS[name]!(...(given as never[]))).toBe(wanted);
  });
});
