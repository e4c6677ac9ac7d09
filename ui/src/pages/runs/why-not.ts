import type { RunRow } from "../../api/types";
import { whyNotCompared } from "../../parts/comparable";
import { MOST_RUNS } from "../compare/state";

/** Why a run can't be picked beside those that are; null where it can. */
export function whyNot(picked: readonly RunRow[], row: RunRow): string | null {
  const why = whyNotCompared(row, picked);
  if (why !== null) return why;
  return picked.length >= MOST_RUNS ? `${MOST_RUNS} runs are picked, which is as many as are compared at once.` : null;
}
