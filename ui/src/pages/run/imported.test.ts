import { expect, it } from "vitest";
import type { Aggregates } from "../../api/client";
import type { ImportedLog, ImportedScorer } from "../../api/types";
import { givenBy, isImported, isSilent, metadataText, plain, scaleWords, shownColumns, unscoredOptions } from "./imported";

const SCORER: ImportedScorer = { name: "match", column: "scorer_match", lowest: null, highest: null, higher_is_better: true, judge: null, passes_at: null, is_rate: true };
const LOG: ImportedLog = {
  tool: "inspect", tool_version: "0.3", form: "eval, version 2", task: "sums", status: "complete",
  scorers: [{ ...SCORER, name: "length", column: "scorer_length" }, SCORER], headline: "match",
  n_claimed: 2, n_held: 2, created_at: null, dataset: null, dataset_version: null, error: null, notes: [],
};

it("has the scorer first that the score goes by, and each one's own words", () => {
  const row = { scorer_match: 1, scorer_match_said: "C", scorer_match_compared: "7", scorer_match_why: "same", scorer_length: null, scorer_length_said: "" };
  const [match, length] = givenBy(LOG, row);
  expect([match!.scorer.name, match!.value, match!.said, match!.compared, match!.why]).toEqual(["match", 1, "C", "7", "same"]);
  expect(isSilent(match!)).toBe(false);
  expect(isSilent(length!)).toBe(true);
});

it.each([
  [null, null, ""],
  [0, 1, "0 to 1"],
  [-1.5, null, "from -1.5"],
  [null, 10, "to 10"],
])("a scale from %j to %j is %j", (lowest, highest, wanted) => expect(scaleWords({ ...SCORER, lowest, highest })).toBe(wanted));

it.each([[1, "1"], [0.1 + 0.2, "0.3"], [1234567, "1234570"], [-0.00001234, "-0.00001234"]])("%j is read as %j", (value, wanted) => expect(plain(value)).toBe(wanted));

it.each([['{"a":[1]}', '{\n  "a": [\n    1\n  ]\n}'], ["not JSON", "not JSON"]])("metadata %j", (own, wanted) => expect(metadataText(own)).toBe(wanted));

it.each([["imported@v1", true], ["contains@v1", false], [null, false]])("%j is imported: %j", (spec, wanted) => expect(isImported(spec)).toBe(wanted));

it("offers the reasons that the server takes, those of an imported run alone", () => {
  const unscored = [{ why: "NaN\n\u001b[31m", n_items: 1200 }, { why: "x".repeat(501), n_items: 1 }];
  const found = unscoredOptions({ unscored, limits: {} } as unknown as Aggregates);
  expect(found.map((one) => one.value)).toEqual(["NaN\n\u001b[31m"]);
  expect(found[0]!.text).toMatch(/^NaN .*\(1,200\)$/);
  expect(found[0]!.text).not.toContain("\u001b");
  expect(unscoredOptions({ unscored } as unknown as Aggregates)).toEqual([]);
  expect(unscoredOptions(null)).toEqual([]);
});

it("names each column that has a heading of its own", () => expect(shownColumns(LOG)).toEqual(expect.arrayContaining(["own", "failure", "scorer_length", "scorer_match_why"])));
