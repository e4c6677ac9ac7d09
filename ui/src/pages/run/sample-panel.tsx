import { useMemo } from "react";
import { address } from "../../api/client";
import type { ImportedLog, SampleDetail } from "../../api/types";
import { useResource } from "../../api/use-resource";
import { reasonWords, words } from "../../format";
import { Panel } from "../../parts/panel";
import { ReportTableView } from "../../parts/report-table";
import { Failed, Loading } from "../../parts/states";
import { Inline, ModelText } from "../../text/model-text";
import { oneLine } from "../../text/visible";
import { shownColumns } from "./imported";
import { LogWords } from "./log-words";
import { Judged, quotesOf, spansIn, Turns } from "./judged";

interface Props {
  id: string;
  sample: number;
  judged: boolean;
  log: ImportedLog | null; // that the run was imported from
  onClose: () => void;
  onMove: ((by: number) => void) | null;
}

// What stands in the panel under a heading of its own.
const SHOWN = new Set(["item_id", "prompt", "expected", "context", "predicted", "candidate_answer", "judge_replies", "votes", "rationale", "reasoning", "quotes", "item_criteria"]);

/** One sample, whole: what was asked, what came back, what the judge said of it, and all the rest. */
export function SamplePanel({ id, sample, judged, log, onClose, onMove }: Props) {
  const { data, error, again } = useResource(address("/runs/{run_id}/samples/{sample}", { run_id: id, sample }));
  const found = data !== null && data.sample === sample ? data : null;
  return (
    <Panel label="Sample" title={found === null ? `Sample ${sample}` : <Inline text={found.item_id} />} what="sample" onClose={onClose} onMove={onMove} className="sample">
      {error !== null && <Failed error={error} again={again} what="sample" />}
      {found === null && error === null && <Loading what="the sample" />}
      {found !== null && <Whole found={found} judged={judged} log={log} />}
    </Panel>
  );
}

function Whole({ found, judged, log }: { found: SampleDetail; judged: boolean; log: ImportedLog | null }) {
  const rationale = found.row["rationale"];
  const reasons = log === null ? found.reasons : found.reasons.filter((one) => one !== found.row["unscored"]); // told with the log's words
  const reasoning = found.row["reasoning"];
  const quotes = useMemo(() => quotesOf(found.judged), [found.judged]);
  const shown = useMemo(() => new Set([...SHOWN, ...(log === null ? [] : shownColumns(log))]), [log]);
  const asked = found.text === null ? found.turns : found.turns?.slice(0, -1);
  const last = found.turns?.length ?? null; // the answer, where it is a turn
  return (
    <>
      {asked === undefined ? (
        <>
          <h4>Prompt</h4>
          <ModelText text={found.prompt} label="Prompt" />
        </>
      ) : (
        <>
          <Turns turns={asked} quotes={quotes} />
          {found.prompt !== asked[0]?.text && (
            <details>
              <summary>As people and judges read it</summary>
              <ModelText text={found.prompt} label="Prompt" />
            </details>
          )}
        </>
      )}
      {found.context !== null && (
        <>
          <h4>Context</h4>
          <ModelText text={found.context} label="Context" />
        </>
      )}
      <h4>{judged ? "Reference answer" : "Expected answer"}</h4>
      <ModelText text={found.expected} label="Reference" />
      <h4>{last !== null && found.text !== null && <span className="turn">{last}</span>} Answer</h4>
      <ModelText text={found.text} label="Answer" quotes={spansIn(quotes, null, last)} />
      {typeof reasoning === "string" && (
        <details>
          <summary>Reasoning before the answer</summary>
          <ModelText text={reasoning} label="Reasoning" />
        </details>
      )}
      {reasons.length > 0 && (
        <p className="small">
          {reasons.map(reasonWords).join(", ")}
        </p>
      )}
      {log !== null && <LogWords log={log} row={found.row} />}
      {found.judged !== undefined && <Judged found={found.judged} />}
      {typeof rationale === "string" && (
        <>
          <h4>Rationale of the judge</h4>
          <ModelText text={rationale} label="Rationale" />
        </>
      )}
      {found.judged !== undefined && <ReportTableView table={found.judged.facts} />}
      {found.judge_replies.map((reply, place) => (
        <details key={place} open={found.judge_replies.length === 1}>
          <summary>
            Raw reply of {reply.judge === null ? "the judge" : <>judge <Inline text={reply.judge} /></>}
            {found.judge_replies.length > 1 && `, attempt ${reply.attempt}`}{" "}
            {reply.parse_error_reason !== null && (
              <span className="quiet">
                not read: {words(reply.parse_error_reason).toLowerCase()} {reply.detail !== null && <Inline text={reply.detail} />}
              </span>
            )}
          </summary>
          <ModelText text={reply.text} label={`Raw reply${reply.judge === null ? "" : ` of judge ${reply.judge}`}, attempt ${reply.attempt}`} />
        </details>
      ))}
      <details>
        <summary>All fields</summary>
        <dl className="facts">
          {Object.entries(found.row)
            .filter(([name, value]) => !shown.has(name) && value !== null)
            .map(([name, value]) => (
              <div key={name} className="fact">
                <dt className="mono">{name}</dt>
                <dd>
                  <Inline text={oneLine(typeof value === "string" ? value : JSON.stringify(value), 500)} />
                </dd>
              </div>
            ))}
        </dl>
      </details>
    </>
  );
}
