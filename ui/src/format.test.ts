import { describe, expect, it } from "vitest";
import type { RunRow } from "./api/types";
import { aggregate, distinctNames, localTime, modelName, reasonWords, rowInterval, words } from "./format";

describe("an aggregate has the report's label and kind", () => {
  it.each([
    ["pass_rate", "Pass rate", "rate"],
    ["latency_e2e_p95_ms", "Latency end to end, p95", "ms"],
    ["total_tokens", "Tokens in all", "tokens"],
    ["primary_score", "Primary score", "score"],
    ["n_samples", "N samples", "count"],
    ["constructor", "Constructor", "ratio"],
  ])("%s", (name, label, kind) => expect(aggregate(name)).toEqual([label, kind]));
});

it("a run without an interval has none, and one may be open", () =>
  expect([[null, null], [0.5, null], [0.5, 0.75]].map(([low, high]) => rowInterval({ primary_low: low, primary_high: high } as RunRow))).toEqual(["no interval", "from 0.5000", "0.5000 to 0.7500"]));

describe("names", () => {
  it.each([
    ["openai/gpt-x@2026-01-01", "gpt-x@2026-01-01"],
    ["local/org/model@sha256:ab", "model@sha256:ab"],
    [`local/small@sha256:0123456789ab${"c".repeat(52)}`, "small@sha256:0123456789ab…"],
    ["bare", "bare"],
    [null, "–"],
    ["<script>/@x", "<script>/@x"],
    ["scripted/j0@1 + openai/k@2", "j0@1 + k@2"],
  ])("%s", (id, wanted) => expect(modelName(id)).toBe(wanted));
  it("tells checkpoints of one model apart", () => expect(distinctNames(["local/tunix@step-100", "local/tunix@step-200"].map(modelName))).toEqual(["100", "200"]));
  it("shows where names differ", () => expect(distinctNames(["run-a-final", "run-b-final"])).toEqual(["a", "b"]));
  it("keeps names that are alike", () => expect(distinctNames(["x", "x"])).toEqual(["x", "x"]));
  it("has words for what is shown of any criterion", () => expect([aggregate("tone_mean"), aggregate("safe_failure_rate"), aggregate("is_clear_full_credit_rate")]).toEqual([["Tone, mean", "grade"], ["Safe failure rate", "rate"], ["Is clear, full credit", "rate"]]));
  it("knows the spec's words", () => expect([words("sample_score"), words("some_new_name"), words("FORMAT_COMPLIANCE")]).toEqual(["Sample score", "Some new name", "Format compliance"]));
  it("knows why samples failed and items missed", () =>
    expect(["latency_above_maximum", "score_below_minimum", "well_put_below_minimum", "tone_unscored", "expected_inside_longer_text", "parse_error", "toString"].map(reasonWords)).toEqual(["too slow", "sample score below the minimum", "well put below the minimum", "tone not scored", "the expected answer stands inside a longer text", "parse error", "tostring"]));
});

it("a time that is none is null", () => {
  expect(localTime("nonsense")).toBeNull();
  expect(localTime(null)).toBeNull();
  expect(localTime("2026-11-28T10:00:00Z")).not.toBeNull();
});
