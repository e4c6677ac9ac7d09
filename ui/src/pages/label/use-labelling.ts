import { useState } from "react";
import { address, errorOf, send, type ApiError } from "../../api/client";
import type { LabelGiven, LabelStep } from "../../api/types";
import { useResource } from "../../api/use-resource";
import { useKeys, type KeyWords } from "../../parts/use-keys";

interface Asked {
  labels: string;
  labeller: string;
  adjudicate?: boolean;
  sample?: string | null; // with `field`, one of the disputes; else the first question that is open
  field?: string | null;
  onGiven?: () => void;
  onUndone?: (step: LabelStep) => void;
  onRefused?: () => void;
}

type Score = LabelGiven["score"];

export interface Labelling {
  step: LabelStep | null;
  failed: ApiError | null; // the question could not be had
  again: () => void;
  refused: ApiError | null; // the last key could not be recorded
  said: string;
  busy: boolean;
  note: string;
  setNote: (note: string) => void;
  give: (score: Score) => void;
  undo: () => void;
}

const OTHER_KEYS: readonly KeyWords[] = [
  { keys: ["u"], does: "takes my last label back" },
  { keys: ["n"], does: "goes to the note" },
];

// A key that is held down is pressed once: it must not label what nobody has read.
const once = (act: () => void) => (event: KeyboardEvent) => {
  if (!event.repeat) act();
};

/** A question, and what answers it by keys: each score has its own, u takes the last one back, n goes to the note. */
export function useLabelling({ labels, labeller, adjudicate = false, sample, field, onGiven, onUndone, onRefused }: Asked): Labelling {
  const url = address("/labels/{book}/next", { book: labels, labeller, adjudicate, sample, field });
  const next = useResource(url);
  // The answer to a label has the next question: no key can fall on the one before.
  const [answer, setAnswer] = useState<{ url: string; step: LabelStep } | null>(null);
  const [note, setNote] = useState("");
  const [sending, setSending] = useState(false);
  const [said, setSaid] = useState("");
  const [refused, setRefused] = useState<ApiError | null>(null);
  const step = answer?.url === url ? answer.step : next.data;
  const busy = sending || (next.loading && answer?.url !== url);

  const tell = (sent: Promise<LabelStep>, done: string, after?: (step: LabelStep) => void) => {
    setSending(true);
    sent
      .then(
        (found) => {
          setAnswer({ url, step: found });
          setRefused(null);
          setNote("");
          setSaid(done);
          after?.(found);
        },
        (reason: unknown) => {
          setRefused(errorOf(reason)); // somebody else may have been first: what is shown is asked for anew
          setAnswer(null);
          next.again();
          onRefused?.();
        },
      )
      .finally(() => setSending(false));
  };
  const give = (score: Score) => {
    const question = step?.question ?? null;
    if (question !== null && !busy) tell(send("POST /labels/{book}/labels", { book: labels }, { labeller, adjudicate, sample: question.sample, field: question.field, score, note }), `${question.title}: ${score ?? "does not apply"}, recorded`, onGiven);
  };
  const undo = () => {
    if (!busy && step !== null && step.n_given > 0) tell(send("POST /labels/{book}/undo", { book: labels }, { labeller, adjudicate }), "Your last label was taken back", onUndone);
  };
  const scores = (step?.question?.choices ?? []).flatMap(({ key, score }) => (key === null ? [] : [[key, once(() => give(score))] as const]));
  const giving = scores.length === 0 ? [] : [{ keys: scores.map(([key]) => key), does: "give the score beside the key" }];
  useKeys({ ...Object.fromEntries(scores), u: once(undo), n: () => document.getElementById("note")?.focus() }, [...giving, ...OTHER_KEYS]);
  return { step, failed: next.error, again: next.again, refused, said, busy, note, setNote, give, undo };
}
