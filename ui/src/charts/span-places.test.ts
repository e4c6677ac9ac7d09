import { describe, expect, it } from "vitest";
import { partOf, placeOn, shade } from "./span-places";

const GRADES = { lowest: -2, highest: 2 };

it.each([
  [-2, 0],
  [0, 50],
  [1, 75],
  [9, 100],
  [-9, 0],
])("%d stands at %d percent of -2 to 2", (value, wanted) => expect(placeOn(GRADES, value)).toBe(wanted));

it("an axis of no length has one place", () => expect(placeOn({ lowest: 1, highest: 1 }, 1)).toBe(0));

describe("an interval", () => {
  it.each([
    [-1, 1, { from: 25, wide: 50 }],
    [null, 0, { from: 0, wide: 50 }],
    [1, null, { from: 75, wide: 25 }],
    [-7.8, 4.9, { from: 0, wide: 100 }],
    [0, 0, { from: 50, wide: 0.6 }],
    [2, 2, { from: 99.4, wide: 0.6 }],
  ])("from %s to %s", (low, high, wanted) => expect(partOf(GRADES, low, high)).toEqual(wanted));
  it("is not drawn where there is none", () => expect(partOf(GRADES, null, null)).toBeNull());
});

it.each([
  [null, 0],
  [0, 0],
  [0.01, 1],
  [0.2, 1],
  [0.21, 2],
  [1, 5],
])("a share of %s has shade %d", (share, wanted) => expect(shade(share)).toBe(wanted));
