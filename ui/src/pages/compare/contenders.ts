/** The compared runs as the page calls them: a letter, a colour and a name that no other of them has. */

import type { RunAtStep, RunRow } from "../../api/types";
import { distinctNames, modelName } from "../../format";
import { LETTERS } from "./state";

export interface Contender {
  run: string;
  letter: string;
  place: number;
  name: string; // the model's with its version, or where several have the same the run's
  row: RunRow;
  step: number | null;
}

export function contenders(runs: readonly string[], found: readonly RunAtStep[]): Contender[] {
  const known = new Map(found.map((one) => [one.run.run_id, one]));
  const there = runs.flatMap((run) => known.get(run) ?? []);
  const models = there.map((one) => modelName(one.run.model_id));
  const isTold = there.every((one) => one.run.model_id !== null) && new Set(models).size === models.length;
  const names = isTold ? models : distinctNames(there.map((one) => one.run.run_id));
  return there.map(({ run: row, step }, place) => ({ run: row.run_id, letter: LETTERS[place]!, place, name: names[place]!, row, step }));
}
