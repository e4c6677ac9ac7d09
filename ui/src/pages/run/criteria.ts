/** What a run's answers are scored by, as people read it. */
import type { CriterionOfRun } from "../../api/types";
import { words } from "../../format";

export function criterionTitle(criteria: readonly CriterionOfRun[], name: string): string {
  return criteria.find((one) => one.name === name)?.title ?? words(name);
}

/** What a score is called: its grade's name, where scores have names. */
export function scoreWords(criteria: readonly CriterionOfRun[], name: string, score: number): string {
  const found = criteria.find((one) => one.name === name);
  return found?.grades[found.scores.indexOf(score)] ?? String(score);
}
