/** What may be said of a difference and of a rank, in the words of reports: the server decides, and nothing is decided here. */
import type { Apart, Difference, Place } from "./api/types";
import { count, pEquals, points, sentence } from "./numbers";
import { ADJUSTMENTS, RANKS, TESTS, VERDICT_SENTENCES } from "./words";

/** What may be said of `b`, in a sentence. */
export const verdictSentence = (found: Difference, b: string): string => VERDICT_SENTENCES[found.verdict].replace("{b}", () => b).replace("{points}", () => points(found));

/** `by Holm over 6`: how the p that is shown was adjusted; nothing where it was not. */
export const adjustment = (found: Difference): string => (found.adjusted_by === null ? "" : `by ${ADJUSTMENTS[found.adjusted_by]} over ${count(found.n_tests)}`);

/** The p that the verdict is by; where it was adjusted, how, and the test's own beside it. */
export function pSentence(found: Difference): string {
  const test = sentence(TESTS, found.test);
  const by = adjustment(found);
  return by === "" ? `${pEquals(found.p)} (${test})` : `${pEquals(found.p_adjusted)} ${by}; by itself ${pEquals(found.p)} (${test})`;
}

/** What a run's rank says, and what must be known of it. */
export function rankWords(found: Place | Apart): string {
  if ("reason" in found) return `not ranked: ${found.reason}`;
  return found.note === null ? RANKS[found.standing] : `${RANKS[found.standing]}; ${found.note}`;
}
