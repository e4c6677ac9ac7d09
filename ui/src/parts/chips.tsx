import type { RunRow } from "../api/types";
import { modelName, words } from "../format";
import { hasWord } from "../numbers";
import { Inline } from "../text/model-text";
import { VERDICTS } from "../words";
import { MARKS, type Tone } from "./states";

const TONES: Readonly<Record<string, Tone>> = { READY: "good", NOT_READY: "bad", INCONCLUSIVE: "doubt", fail: "bad", incomplete: "doubt" };

/** Whether a run decides anything: where a scorer knows no gates, `pass` says only that the run itself went through. */
export const isDecision = (decision: string | null | undefined): boolean => decision !== null && decision !== undefined && decision !== "pass";

/** A decision as words; where a scorer knows no gates, it is said of the run itself. */
export const decisionWords = (code: string): string => (hasWord(VERDICTS, code) ? `Run: ${VERDICTS[code]}` : words(code));

/** A decision as a word, a sign and a colour: none of them is needed to understand the others. */
export function DecisionChip({ decision }: { decision: string | null | undefined }) {
  const code = decision ?? "";
  const tone = TONES[code] ?? "none";
  return (
    <span className={`chip tone-${tone}`}>
      <span className="mark" aria-hidden="true">
        {MARKS[tone]}
      </span>
      {code === "" ? "No decision" : decisionWords(code)}
    </span>
  );
}

const STATES: Record<RunRow["state"], Tone> = { complete: "none", running: "doubt", interrupted: "doubt", damaged: "bad", later: "none" };

/** A run's state in the server's words, where it is anything but complete. */
export function StateChip({ run }: { run: Pick<RunRow, "state" | "state_words"> }) {
  if (run.state === "complete") return null;
  return (
    <span className={`chip tone-${STATES[run.state]}`}>
      {run.state === "running" && <span className="pulse" aria-hidden="true" />}
      {run.state_words}
    </span>
  );
}

export function ModelName({ id }: { id: string | null | undefined }) {
  return <Inline text={modelName(id)} className="model" />;
}

/** The names of all judges, one after the other. */
export function JudgeNames({ judges }: { judges: readonly string[] }) {
  return judges.map((one, place) => (
    <span key={one}>
      {place > 0 && ", "}
      <ModelName id={one} />
    </span>
  ));
}

export function Tag({ name }: { name: string }) {
  return (
    <span className="tag">
      <Inline text={name} />
    </span>
  );
}
