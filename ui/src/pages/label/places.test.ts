import { expect, test } from "vitest";
import { drawAddress, drawnName } from "./places";

test("a set is named after its run, as far as a name may be", () => {
  expect(drawnName("step-300")).toBe("step-300-labels");
  expect(drawnName("é run/of mine")).toBe("run-of-mine-labels");
  expect(drawnName("é")).toBe("labels");
  expect(drawnName("x".repeat(200))).toBe(`${"x".repeat(93)}-labels`);
  for (const name of ["a b", "--x", "é", "..", "x".repeat(200)]) expect(drawnName(name)).toMatch(/^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/);
});

test("a draw is an address", () => {
  expect(drawAddress("a&b")).toBe("/label?draw=a%26b");
});
