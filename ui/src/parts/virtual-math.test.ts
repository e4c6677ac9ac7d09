import { expect, it } from "vitest";
import { drawn, heldPx, MOST_PX, scrollTopFor, topOf, topToShow } from "./virtual-math";

const few = { count: 100, rowPx: 36, windowPx: 360 };
const million = { count: 1_000_000, rowPx: 36, windowPx: 720 };

it("is as tall as its rows, up to what browsers draw", () => {
  expect(heldPx(few)).toBe(3_600);
  expect(heldPx(million)).toBe(MOST_PX);
});

it("reaches the last row at the end of the scroll bar", () => {
  expect(topOf(0, million)).toBe(0);
  expect(topOf(MOST_PX - 720, million)).toBe(36_000_000 - 720);
  expect(drawn(topOf(MOST_PX - 720, million), million)[1]).toBe(1_000_000);
});

it.each([0, 1, 19, 500_000, 999_999])("shows row %i where it is asked to", (row) => {
  const top = topToShow(row, 0, million);
  const there = topOf(scrollTopFor(top, million), million);
  expect(there).toBeCloseTo(top, 3);
  expect(row * 36).toBeGreaterThanOrEqual(there - 0.01);
  expect((row + 1) * 36).toBeLessThanOrEqual(there + 720.01);
});

it("draws what is in the window, and some beyond", () => {
  expect(drawn(0, few)).toEqual([0, 18]);
  expect(drawn(3_240, few)).toEqual([82, 100]);
  expect(drawn(0, { count: 0, rowPx: 36, windowPx: 360 })).toEqual([0, 0]);
});

it("leaves a row alone that is whole in the window", () => expect(topToShow(3, 36, few)).toBe(36));
