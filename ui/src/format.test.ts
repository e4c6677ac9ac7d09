import { describe, expect, it } from "vitest";
import { distinctNames, kindOf, localTime, modelName, pValue, signed, span, value, words } from "./format";

describe("numbers", () => {
  it("null is not zero", () => expect([value(null), value(0), signed(null), pValue(null)]).toEqual(["–", "0.0000", "–", "–"]));
  it.each([
    ["pass_rate", 0.8514, "85.1 %"],
    ["latency_e2e_p95_ms", 9324.6, "9,325 ms"],
    ["aggregate_score", 0.78208, "0.7821"],
    ["accuracy_mean", 1.5, "1.500"],
    ["total_tokens", 11700, "11,700"],
    ["tokens_per_correct_answer", 2925.4, "2,925"],
  ])("%s", (name, found, wanted) => expect(value(found, kindOf(name))).toBe(wanted));
  it("a difference has its sign", () => expect([signed(0.05), signed(-0.05), signed(-0.00001)]).toEqual(["+0.0500", "−0.0500", "0.0000"]));
  it("an interval may be open", () => expect([span(1, 2, String), span(1, null, String), span(null, 2, String), span(null, null, String)]).toEqual(["1 to 2", "from 1", "up to 2", "no interval"]));
  it("a p is never 0", () => expect([pValue(0), pValue(0.0123), pValue(0.5)]).toEqual(["p < 0.0001", "p = 0.012", "p = 0.500"]));
});

describe("names", () => {
  it.each([
    ["openai/gpt-x@2026-01-01", "gpt-x"],
    ["local/org/model@sha256:ab", "model"],
    ["bare", "bare"],
    [null, "–"],
    ["<script>/@x", "<script>/@x"],
  ])("%s", (id, wanted) => expect(modelName(id)).toBe(wanted));
  it("shows where names differ", () => expect(distinctNames(["run-a-final", "run-b-final"])).toEqual(["a", "b"]));
  it("keeps names that are alike", () => expect(distinctNames(["x", "x"])).toEqual(["x", "x"]));
  it("knows the spec's words", () => expect([words("pass_rate"), words("some_new_name"), words("FORMAT_COMPLIANCE")]).toEqual(["Pass rate", "Some new name", "Format compliance"]));
});

it("a time that is none is null", () => {
  expect(localTime("nonsense")).toBeNull();
  expect(localTime(null)).toBeNull();
  expect(localTime("2026-11-28T10:00:00Z")).not.toBeNull();
});
