import type { LabelQuestion } from "../../api/types";
import { count } from "../../numbers";
import { Failed } from "../../parts/states";
import { Inline, ModelText } from "../../text/model-text";
import type { Labelling } from "./use-labelling";

/** What was asked and answered, and the scores to give it. In adjudication also both scores that were given. */
export function QuestionView({ question, n, labelling }: { question: LabelQuestion; n?: number; labelling: Labelling }) {
  return (
    <div className="question">
      <section aria-label="Sample" className="sample">
        <h2>Sample {count(question.place)}{n !== undefined && ` of ${count(n)}`}</h2>
        <h3 className="over">Question</h3>
        <ModelText text={question.prompt} label="Question" />
        {question.context !== null && <><h3 className="over">Context</h3><ModelText text={question.context} label="Context" /></>}
        {question.expected !== null && <><h3 className="over">Reference answer</h3><ModelText text={question.expected} label="Reference answer" /></>}
        <h3 className="over">Answer to label</h3>
        <ModelText text={question.answer} label="Answer to label" />
      </section>
      <Scores question={question} labelling={labelling} />
    </div>
  );
}

function Scores({ question, labelling }: { question: LabelQuestion; labelling: Labelling }) {
  const { busy, note, setNote, give, undo, step } = labelling;
  return (
    <section className="scores" aria-label="Score">
      <h2><Inline text={question.title} /></h2>
      {question.asked !== "" && <p className="asked"><Inline text={question.asked} /></p>}
      {question.opinions.length > 0 && (
        <ul className="opinions" aria-label="What two people said">
          {question.opinions.map((one, place) => (
            <li key={place}>one said <strong><Inline text={one.words} /></strong>{one.note !== "" && <>: <Inline text={one.note} /></>}</li>
          ))}
        </ul>
      )}
      {question.choices.map(({ score, key, words }) => (
        <button key={score} type="button" className="score-button" onClick={() => give(score)} disabled={busy}>
          {key !== null && <kbd>{key}</kbd>}{" "}
          {score !== null && key !== String(score) && <strong>{score} </strong>}
          <span><Inline text={words || (key === String(score) ? String(score) : "")} /></span>
        </button>
      ))}
      <div className="field">
        <label htmlFor="note">Note, kept with the next score (press n)</label>
        <input id="note" type="text" maxLength={2000} value={note} onChange={(event) => setNote(event.target.value)} onKeyDown={(event) => event.key === "Escape" && event.currentTarget.blur()} />
      </div>
      <button type="button" className="plain" onClick={undo} disabled={busy || step === null || step.n_given === 0}><kbd>u</kbd> Undo my last label</button>
    </section>
  );
}

/** What came of the last key. */
export function Said({ labelling }: { labelling: Labelling }) {
  return (
    <>
      {labelling.refused !== null && <Failed error={labelling.refused} what="label" title="That was not recorded" />}
      <p role="status" className="small quiet said-last">{labelling.said}</p>
    </>
  );
}
