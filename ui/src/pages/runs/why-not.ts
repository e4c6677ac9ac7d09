import type { RunRow } from "../../api/types";
import { isExperiment } from "../../parts/experiment";

export const MOST_COMPARED = 8;

/** Why a run can't be picked beside those that are; null where it can. */
export function whyNot(picked: readonly RunRow[], row: RunRow): string | null {
  if (isExperiment(row)) return "An experiment with judges is looked at on the page of judges.";
  if (picked.length >= MOST_COMPARED) return `${MOST_COMPARED} runs are picked, which is as many as are compared at once.`;
  return null;
}
