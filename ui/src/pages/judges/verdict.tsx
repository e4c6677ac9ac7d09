import type { EvaluationSummary } from "../../api/types";
import { words } from "../../format";

const TONES: Readonly<Record<string, string>> = { PASS: "good", PARTIAL: "doubt", FAIL: "bad" };

/** What a judge said of an output; an invalid evaluation says nothing. */
export function Verdict({ one }: { one: EvaluationSummary }) {
  if (!one.valid) return <span className="outcome tone-none">– invalid</span>;
  return <span className={`outcome tone-${TONES[one.verdict ?? ""] ?? "none"}`}>{words(one.verdict ?? "none")}</span>;
}
