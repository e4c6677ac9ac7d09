import { modelName, words } from "../format";
import { Inline } from "../text/model-text";
import type { Tone } from "./states";

const DECISIONS: Record<string, { text: string; tone: Tone; mark: string }> = {
  READY: { text: "Ready", tone: "good", mark: "✓" },
  NOT_READY: { text: "Not ready", tone: "bad", mark: "✕" },
  INCONCLUSIVE: { text: "Inconclusive", tone: "doubt", mark: "?" },
  fail: { text: "Run failed", tone: "bad", mark: "✕" },
  incomplete: { text: "Run incomplete", tone: "doubt", mark: "?" },
};

export const decisionWord = (decision: string | null | undefined): { text: string; tone: Tone; mark: string } =>
  DECISIONS[decision ?? ""] ?? { text: decision ? words(decision) : "No decision", tone: "none", mark: "–" };

/** Whether a run decides anything: where a scorer knows no gates, `pass` says only that the run itself went through. */
export const isDecision = (decision: string | null | undefined): boolean => decision !== null && decision !== undefined && decision !== "pass";

/** A decision as a word, a sign and a colour: none of them is needed to understand the others. */
export function DecisionChip({ decision }: { decision: string | null | undefined }) {
  const word = decisionWord(decision);
  return (
    <span className={`chip tone-${word.tone}`}>
      <span className="mark" aria-hidden="true">
        {word.mark}
      </span>
      {word.text}
    </span>
  );
}

const STATES: Record<string, Tone> = { running: "doubt", interrupted: "doubt", stopped: "doubt", damaged: "bad" };

/** A run's state, where it is anything but complete. */
export function StateChip({ state }: { state: string }) {
  if (state === "complete") return null;
  return (
    <span className={`chip tone-${STATES[state] ?? "none"}`}>
      {state === "running" && <span className="pulse" aria-hidden="true" />}
      {words(state)}
    </span>
  );
}

export function ModelName({ id }: { id: string | null | undefined }) {
  return <Inline text={modelName(id)} className="model" />;
}

export function Tag({ name }: { name: string }) {
  return (
    <span className="tag">
      <Inline text={name} />
    </span>
  );
}
