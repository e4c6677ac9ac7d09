import { describe, expect, it } from "vitest";
import { scale, ticks } from "./scale";
import { aligned, smoothed, thinned } from "./smooth";

describe("smoothed", () => {
  it("leaves curves as they are at 0", () => expect(smoothed([1, null, 3], 0)).toEqual([1, null, 3]));
  it("has no bias at the start", () => expect(smoothed([4, 4, 4], 0.9)).toEqual([4, 4, 4].map((one) => expect.closeTo(one))));
  it("is the weighted mean", () => expect(smoothed([0, 3], 0.5)).toEqual([0, 2])); // (0.25·0 + 0.5·3) / 0.75
  it("keeps gaps", () => expect(smoothed([0, null, 3], 0.5)[1]).toBeNull());
});

it("aligns lines by x, and tells a gap from no point", () =>
  expect(aligned([{ x: [1, 3], y: [10, null] }, { x: [2, 3], y: [20, 30] }])).toEqual([
    [1, 2, 3],
    [10, undefined, null],
    [undefined, 20, 30],
  ]));

describe("thinned", () => {
  const x = Array.from({ length: 100_000 }, (_, i) => i);
  const y: (number | null)[] = x.map(() => 1);
  y[55_555] = 99;
  y[66_666] = null;
  const found = thinned({ x, y }, 500);
  it("is short", () => expect(found.x.length).toBeLessThan(1_100));
  it("loses no spike", () => expect(found.y[found.x.indexOf(55_555)]).toBe(99));
  it("loses no gap", () => expect(found.y[found.x.indexOf(66_666)]).toBeNull());
  it("keeps both ends", () => expect([found.x[0], found.x.at(-1)]).toEqual([0, 99_999]));
  it("leaves a short line alone", () => expect(thinned({ x: [1, 2], y: [3, 4] }, 10)).toEqual({ x: [1, 2], y: [3, 4] }));
});

it.each([
  [0, 1, [0, 0.25, 0.5, 0.75, 1]],
  [0, 10, [0, 2.5, 5, 7.5, 10]],
  [0.31, 0.42, [0.35, 0.4]],
  [5, 5, [5]],
])("ticks from %d to %d", (low, high, wanted) => expect(ticks(low, high, 4)).toEqual(wanted));

it("holds what lies outside at the ends", () => {
  const x = scale(0, 2, 100);
  expect([-1, 1, 5].map(x.px)).toEqual([0, 50, 100]);
});
