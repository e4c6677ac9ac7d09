/** Which runs can be compared with one another: the server says of each run what it is compared as, or why never. */

import type { RunRow } from "../api/types";
import { NOT_COMPARED } from "../words";
import { visible } from "../text/visible";

type Row = Pick<RunRow, "run_id" | "spec" | "compared_as" | "not_compared">;

/** Why a run can't be compared with those that are chosen already; null where it can. */
export function whyNotCompared(run: Row, chosen: readonly Row[]): string | null {
  if (run.compared_as === null) return run.not_compared;
  const other = chosen.find((one) => one.compared_as !== null && one.compared_as !== run.compared_as);
  if (other === undefined) return null;
  const words: Record<string, string> = { a: other.run_id, spec_a: other.spec ?? "", b: run.run_id, spec_b: run.spec ?? "" };
  return NOT_COMPARED.other_scorer.replace(/\{(\w+)\}/g, (_, name: string) => visible(words[name] ?? ""));
}
