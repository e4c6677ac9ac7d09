import { counted } from "../../format";
import { count } from "../../numbers";
import { Failed, Loading } from "../../parts/states";
import { Inline } from "../../text/model-text";
import { QuestionView, Said } from "./question";
import { Results } from "./results";
import { useLabelling } from "./use-labelling";

/** One question after the other, each score by its key; u takes the last one back. */
export function Queue({ labels, labeller }: { labels: string; labeller: string }) {
  const labelling = useLabelling({ labels, labeller });
  const { step, failed, again, undo } = labelling;
  if (failed !== null) return <Failed error={failed} again={again} what="queue" />;
  if (step === null) return <Loading what="the next question" />;
  const { n_given: done, n_labels: all } = step;
  return (
    <div className="queue">
      <div className="page-head">
        <h1>Label</h1>
        <span className="quiet"><Inline text={step.labeller} /> on <Inline text={labels} /></span>
        <div className="actions">
          <progress max={Math.max(all, 1)} value={done} aria-label="Your labels" />
          <span className="small quiet">{count(done)} of {counted(all, "label")}</span>
        </div>
      </div>
      <Said labelling={labelling} />
      {step.question !== null ? <QuestionView question={step.question} n={step.n_samples} labelling={labelling} /> : (
        <>
          <div className="notice tone-good">
            <h2>Nothing is left for you to label</h2>
            <p>Thank you. How far people agree, with each other and with the judge, stands below.</p>
            {done > 0 && <p className="actions"><button type="button" onClick={undo}><kbd>u</kbd> Undo my last label</button></p>}
          </div>
          <Results labels={labels} labeller={labeller} />
        </>
      )}
    </div>
  );
}
