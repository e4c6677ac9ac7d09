import { expect, it } from "vitest";
import { criterionTitle, scoreWords } from "./criteria";

const CRITERIA = [{ name: "tone", title: "Tone", scores: [0, 1], grades: ["cold", "kind"], may_not_apply: false }, { name: "GDPR", title: "GDPR", scores: [-1, 0], grades: [], may_not_apply: true }];

it.each([
  ["tone", 1, "kind"],
  ["tone", 2, "2"], // not of its scale
  ["GDPR", -1, "-1"],
  ["nobody", 0, "0"],
])("%s %j is %s", (name, score, wanted) => expect(scoreWords(CRITERIA, name, score)).toBe(wanted));

it("names a criterion as the server does", () => expect(["GDPR", "well_put"].map((name) => criterionTitle(CRITERIA, name))).toEqual(["GDPR", "Well put"]));
