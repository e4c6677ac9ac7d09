import { useMemo } from "react";
import { address } from "../../api/client";
import type { EvaluationDetail, EvaluationEvidence, ProtocolOfRun } from "../../api/types";
import { useResource } from "../../api/use-resource";
import { words } from "../../format";
import { sentence } from "../../numbers";
import { Panel } from "../../parts/panel";
import { Failed, Loading } from "../../parts/states";
import { Inline, ModelText, Pieces } from "../../text/model-text";
import { markedPieces } from "../../text/marks";
import { lineEnds } from "../../text/visible";
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
  return (
    <>
      <p className="small">
        <Inline text={found.judge_model} /> on <Inline text={found.target_model} />, variant <Inline text={found.prompt_variant} />, {words(found.method).toLowerCase()}{found.repeat > 0 && `, repeat ${found.repeat + 1}`}
      </p>
      <dl className="dimensions">
        {protocol?.dimensions.map(({ name, highest }) => (
          <div key={name}>
            <dt><Inline text={words(name)} /></dt>
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
      <Marked text={found.text} evidence={found.evidence} />
      <ol className="quotes">
        {found.evidence.map((one, number) => (
          <Quote key={number} one={one} number={number + 1} />
        ))}
      </ol>
      <details>
        <summary>Raw reply of the judge</summary>
        <ModelText text={found.raw_reply} label="Raw reply" />
      </details>
    </>
  );
}

function Marked({ text, evidence }: { text: string; evidence: readonly EvaluationEvidence[] }) {
  const pieces = useMemo(() => markedPieces(text, evidence.map((one) => one.spans)), [text, evidence]);
  return (
    <div className="model-text" dir="auto" role="group" aria-label="Judged text" tabIndex={0}>
      {pieces.map((piece, place) =>
        piece.quotes.length === 0 ? (
          <Pieces key={place} text={lineEnds(piece.text)} />
        ) : (
          <mark key={place}>
            <Pieces text={lineEnds(piece.text)} />
            <sup>{piece.quotes.map((number) => number + 1).join(",")}</sup>
          </mark>
        ),
      )}
    </div>
  );
}

const isFound = (one: EvaluationEvidence): boolean => one.spans.length > 0;

function Quote({ one, number }: { one: EvaluationEvidence; number: number }) {
  const there = isFound(one);
  return (
    <li className={there ? "found" : "lost"}>
      <p>
        <sup>{number}</sup> <q><Inline text={one.quote ?? ""} /></q>
      </p>
      <p className="small">
        <strong>{there ? "✓" : "✕"} {sentence(LOCATED, one.located ?? "no_quote")}</strong> · <Inline text={words(one.dimension ?? "no dimension")} />
        {one.reason !== null && <>: <Inline text={one.reason} /></>}
      </p>
    </li>
  );
}
