import { useMemo } from "react";
import { address } from "../../api/client";
import type { EvaluationDetail, ProtocolOfRun } from "../../api/types";
import { useResource } from "../../api/use-resource";
import { words } from "../../format";
import { sentence } from "../../numbers";
import { Panel } from "../../parts/panel";
import { Failed, Loading } from "../../parts/states";
import { Inline, ModelText, Quoted } from "../../text/model-text";
import { LOCATED } from "../../words";
import { Score, Verdict } from "./verdict";

interface Props {
  run: string;
  evaluation: number;
  protocol: ProtocolOfRun | null; // until it is loaded
  onClose: () => void;
  onMove: ((by: number) => void) | null;
}

/** One evaluation: scores, flags, and each quote where it stands in the judged text. */
export function EvaluationPanel({ run, evaluation, protocol, onClose, onMove }: Props) {
  const { data, error, again } = useResource(address("/evaluations/{sample}", { sample: evaluation, run }));
  const found = data !== null && data.sample === evaluation ? data : null;
  return (
    <Panel label="Evaluation" title={found === null ? "Evaluation" : <><Inline text={found.question_id} /> <Verdict one={found} /></>} what="evaluation" onClose={onClose} onMove={onMove} className="sample">
      {error !== null && <Failed error={error} again={again} what="evaluation" />}
      {found === null && error === null && <Loading what="the evaluation" />}
      {found !== null && <Whole found={found} protocol={protocol} />}
    </Panel>
  );
}

function Whole({ found, protocol }: { found: EvaluationDetail; protocol: ProtocolOfRun | null }) {
  const titles = new Map<string | null, string>(protocol?.dimensions.map((one) => [one.name, one.title]));
  const quotes = useMemo(() => found.evidence.map((one) => one.spans), [found.evidence]);
  return (
    <>
      <p className="small">
        <Inline text={found.judge_model} /> on <Inline text={found.target_model} />, variant <Inline text={found.prompt_variant} />, {words(found.method).toLowerCase()}{found.repeat > 0 && `, repeat ${found.repeat + 1}`}
      </p>
      <dl className="dimensions">
        {protocol?.dimensions.map(({ name, title, highest }) => (
          <div key={name}>
            <dt><Inline text={title} /></dt>
            <dd><Score found={found.scores[name]} highest={highest} /></dd>
          </div>
        ))}
        <div>
          <dt>Overall</dt>
          <dd><Score found={found.overall_score} highest={protocol?.highest} /></dd>
        </div>
      </dl>
      {found.details.length > 0 && (
        <ul className="flags">
          {found.details.map((one, place) => (
            <li key={place}><strong>{words(one.flag)}</strong> <Inline text={one.field} className="mono" />: <Inline text={one.message} /></li>
          ))}
        </ul>
      )}
      <details>
        <summary>What the target was asked</summary>
        <ModelText text={found.task} label="Task" />
      </details>
      <h4>Judged text, with what the judge quotes</h4>
      <ModelText text={found.text} label="Judged text" quotes={quotes} />
      <ol className="quotes">
        {found.evidence.map((one, number) => (
          <Quoted key={number} number={number + 1} quote={one.quote ?? ""} found={one.spans.length > 0} words={sentence(LOCATED, one.located ?? "no_quote")}>
            {" "}· <Inline text={titles.get(one.dimension) ?? one.dimension ?? "no dimension"} />
            {one.reason !== null && <>: <Inline text={one.reason} /></>}
          </Quoted>
        ))}
      </ol>
      <details>
        <summary>Raw reply of the judge</summary>
        <ModelText text={found.raw_reply} label="Raw reply" />
      </details>
    </>
  );
}
