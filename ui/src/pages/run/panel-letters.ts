/** A panel's judges by letters, where there is no room for their names. */
import type { JudgePairAgreement } from "../../api/types";

/** A, B, …, Z, AA, AB: the letter of the judge at a place. */
export function letterOf(place: number): string {
  const last = String.fromCodePoint(65 + (place % 26));
  return place < 26 ? last : letterOf(Math.floor(place / 26) - 1) + last;
}

/** Two judges, in whichever order the server names them; null where they have no sample in common. */
export function pairOf(pairs: readonly JudgePairAgreement[], one: string, other: string): JudgePairAgreement | null {
  return pairs.find((pair) => (pair.judge_a === one && pair.judge_b === other) || (pair.judge_a === other && pair.judge_b === one)) ?? null;
}
