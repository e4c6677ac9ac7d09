import { describe, expect, it } from "vitest";
import { chipsOf, filtersOf, isFiltered, range } from "./item-filters";

const number = { metric: "score", title: "Score", kind: "score", higher_is_better: true, lost: 1, won: 1, same: 1 } as const;
const chips = (query: string) => chipsOf(filtersOf(new URLSearchParams(query)), ["A", "C"], number, "score");

describe("chipsOf", () => {
  it.each([
    ["", []],
    ["class=regressed&section=core", [["Regressed", ["class"]], ["Section: core", ["section"]]]],
    ["reason_b=different", [["C missed: another answer", ["reason_b"]]]],
    ["a_min=0&a_max=0", [["Score, A: 0.00", ["a_min", "a_max"]]]],
    ["difference_min=-0.5", [["Score, C − A: at least −0.50", ["difference_min", "difference_max"]]]],
    ["moved=same&text=x", [["Text: x", ["text"]], ["Score: the same", ["moved"]]]],
    ["class=nonsense", [["nonsense", ["class"]]]],
  ])("%j", (query, wanted) => expect(chips(query).map((chip) => [chip.text, chip.takes])).toEqual(wanted));
});

it("a limit that is no number is none", () => {
  expect(filtersOf(new URLSearchParams("a_min=x&b_max=1e999&a_max=0.5"))).toMatchObject({ a_min: "", b_max: "", a_max: "0.5" });
  expect(isFiltered(filtersOf(new URLSearchParams("a_min=x")))).toBe(false);
});

it.each([
  ["0.25", "1", "0.25 to 1.00"],
  ["", "1", "at most 1.00"],
  ["-1", "-1", "−1.00"],
])("%j to %j", (low, high, wanted) => expect(range(low, high, { kind: "score" })).toBe(wanted));
