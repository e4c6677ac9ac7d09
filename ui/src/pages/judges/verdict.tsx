import type { EvaluationSummary } from "../../api/types";
import { words } from "../../format";
import { NOTHING } from "../../numbers";

const TONES: Readonly<Record<string, string>> = { PASS: "good", PARTIAL: "doubt", FAIL: "bad" };

/** What a judge said of an output; an invalid evaluation says nothing. */
export function Verdict({ one }: { one: EvaluationSummary }) {
  if (!one.valid) return <span className="outcome tone-none">– invalid</span>;
  return <span className={`outcome tone-${TONES[one.verdict ?? ""] ?? "none"}`}>{words(one.verdict ?? "none")}</span>;
}

/** `4 of 5`: a score, and the most that there is, once that is known. */
export function Score({ found, highest }: { found: number | null | undefined; highest: number | undefined }) {
  return (
    <>
      {found ?? NOTHING}
      {highest !== undefined && <span className="quiet small"> of {highest}</span>}
    </>
  );
}
