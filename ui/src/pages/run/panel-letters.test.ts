import { expect, it } from "vitest";
import type { JudgePairAgreement } from "../../api/types";
import { letterOf, pairOf } from "./panel-letters";

it.each([
  [0, "A"],
  [25, "Z"],
  [26, "AA"],
  [51, "AZ"],
  [52, "BA"],
])("the judge at place %d is %s", (place, wanted) => expect(letterOf(place)).toBe(wanted));

it("finds a pair in either order", () => {
  const pair = { judge_a: "a", judge_b: "b", n: 3, same_scores: 1, kappa: {} } as JudgePairAgreement;
  expect([pairOf([pair], "b", "a"), pairOf([pair], "a", "b"), pairOf([pair], "a", "c")]).toEqual([pair, pair, null]);
});
