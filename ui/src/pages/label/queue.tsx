import { useState } from "react";
import { address, ApiError, segment, send } from "../../api/client";
import type { LabelStep } from "../../api/types";
import { useResource } from "../../api/use-resource";
import { counted, words } from "../../format";
import { Failed, Loading } from "../../parts/states";
import { useKeys } from "../../parts/use-keys";
import { Inline, ModelText } from "../../text/model-text";
import { Agreement } from "./agreement";

const SCORES = [0, 1, 2] as const;

/** One question after the other: 0, 1 or 2; u takes the last one back. */
export function Queue({ labels, labeller }: { labels: string; labeller: string }) {
  const base = `/labels/${segment(labels)}`;
  const next = useResource<LabelStep>(address(`${base}/next`, { labeller }));
  const [note, setNote] = useState("");
  const [busy, setBusy] = useState(false);
  const [said, setSaid] = useState("");
  const [error, setError] = useState<ApiError | null>(null);

  const tell = (url: string, body: unknown, done: string) => {
    if (busy) return;
    setBusy(true);
    send<LabelStep>("POST", url, body)
      .then(() => {
        setError(null);
        setNote("");
        setSaid(done);
        next.again();
      })
      .catch((reason: unknown) => setError(reason instanceof ApiError ? reason : new ApiError(0, String(reason), null)))
      .finally(() => setBusy(false));
  };
  const question = next.data?.question ?? null;
  const give = (score: number) => question !== null && tell(address(`${base}/labels`), { labeller, sample: question.sample, field: question.field, score, note }, `${words(question.field)} ${score} recorded`);
  const undo = () => tell(address(`${base}/undo`), { labeller }, "Your last label was taken back");
  useKeys({ "0": () => give(0), "1": () => give(1), "2": () => give(2), u: undo, n: () => document.getElementById("note")?.focus() });

  if (next.error !== null) return <Failed error={next.error} again={next.again} what="queue" />;
  if (next.data === null) return <Loading what="the next question" />;
  const { n_given: done, n_labels: all } = next.data;
  return (
    <div className="queue">
      <div className="page-head">
        <h1>Label</h1>
        <span className="quiet"><Inline text={labeller} /> on <Inline text={labels} /></span>
        <div className="actions">
          <progress max={Math.max(all, 1)} value={done} aria-label="Your labels" />
          <span className="small quiet">{done.toLocaleString("en")} of {counted(all, "label")}</span>
        </div>
      </div>
      {error !== null && <Failed error={error} what="label" />}
      <p role="status" className="small quiet said-last">{said}</p>
      {question === null ? <Done labels={labels} onUndo={undo} canUndo={done > 0} /> : (
        <div className="question">
          <section aria-label="Sample" className="sample">
            <h2>Sample {question.place} of {Math.round(all / 2)}</h2>
            <h3 className="over">Question</h3>
            <ModelText text={question.prompt} label="Question" />
            {question.context !== null && <><h3 className="over">Context</h3><ModelText text={question.context} label="Context" /></>}
            {question.expected !== null && <><h3 className="over">Reference answer</h3><ModelText text={question.expected} label="Reference answer" /></>}
            <h3 className="over">Answer to label</h3>
            <ModelText text={question.answer} label="Answer to label" />
          </section>
          <section className="scores" aria-label="Score">
            <h2>{words(question.field)}</h2>
            {SCORES.toReversed().map((score) => (
              <button key={score} type="button" className="score-button" onClick={() => give(score)} disabled={busy}>
                <kbd>{score}</kbd> <span>{meaning(question.meaning, score)}</span>
              </button>
            ))}
            <div className="field">
              <label htmlFor="note">Note, kept with the next score (press n)</label>
              <input id="note" type="text" maxLength={2000} value={note} onChange={(event) => setNote(event.target.value)} onKeyDown={(event) => event.key === "Escape" && event.currentTarget.blur()} />
            </div>
            <button type="button" className="plain" onClick={undo} disabled={busy || done === 0}><kbd>u</kbd> Undo my last label</button>
          </section>
        </div>
      )}
    </div>
  );
}

/** The rubric's words for a score, out of the lines that the judge was given. */
export function meaning(words: string, score: number): string {
  const line = words.split("\n").find((one) => one.trim().startsWith(`${score} `));
  return line?.trim().slice(2) ?? String(score);
}

function Done({ labels, onUndo, canUndo }: { labels: string; onUndo: () => void; canUndo: boolean }) {
  return (
    <>
      <div className="notice tone-good">
        <h2>Nothing is left for you to label</h2>
        <p>Thank you. How far people agree stands below.</p>
        {canUndo && <p className="actions"><button type="button" onClick={onUndo}><kbd>u</kbd> Undo my last label</button></p>}
      </div>
      <Agreement book={labels} />
    </>
  );
}
