import { expect, it } from "vitest";
import type { Difference, Place } from "./api/types";
import { adjustment, pSentence, rankWords, verdictSentence } from "./verdicts";
import { RANKS, VERDICT_SENTENCES } from "./words";

const found = { verdict: "not_told", low: -0.1, high: 0.2, p: 0.066, p_adjusted: 0.396, n_tests: 6, adjusted_by: "holm", test: "mcnemar_mid_p" } as Difference;

it("says what reports say, by the verdict that the server gave", () => {
  expect(verdictSentence(found, "E")).toBe(VERDICT_SENTENCES.not_told);
  expect(verdictSentence({ ...found, verdict: "better" }, "E")).toBe("E is better.");
  expect(verdictSentence({ ...found, verdict: "same" }, "E")).toBe("No item differs: the same within 20.0 points.");
});
it("shows the p that the verdict is by, and how it was adjusted", () => {
  expect(pSentence(found)).toBe("p = 0.396 by Holm over 6; by itself p = 0.066 (McNemar's test, mid-p)");
  expect(pSentence({ ...found, p_adjusted: 0.066, n_tests: 1, adjusted_by: null })).toBe("p = 0.066 (McNemar's test, mid-p)");
  expect(adjustment({ ...found, n_tests: 1234, adjusted_by: "tarone_holm" })).toBe("by Tarone-Holm over 1,234");
});
it("says what is to be known of a rank where it stands", () => {
  expect(rankWords({ standing: "among_best", note: "3 of 40 items not answered (timeout)" } as Place)).toBe(`${RANKS.among_best}; 3 of 40 items not answered (timeout)`);
  expect(rankWords({ run: "a", model: null, score: 0, reason: "the run itself failed: crashed" })).toBe("not ranked: the run itself failed: crashed");
});
it("takes no letter for a pattern", () => expect(verdictSentence({ ...found, verdict: "worse" }, "$&")).toBe("$& is worse."));
