import type { ImportedLog } from "../../api/types";
import { Inline, ModelText } from "../../text/model-text";
import { givenBy, isSilent, metadataText, plain, scaleWords, textAt, type Given } from "./imported";

type Row = Readonly<Record<string, unknown>>;

/** What the log of another tool says of one sample: what failed or ended it, and each scorer's word. */
export function LogWords({ log, row }: { log: ImportedLog; row: Row }) {
  const own = textAt(row, "own");
  const told = [
    ["The tool failed", textAt(row, "failure")],
    ["Ended at its limit", textAt(row, "limit")],
    ["No score", textAt(row, "unscored")],
  ].filter(([, text]) => text !== null);
  return (
    <>
      {told.map(([title, text]) => (
        <p key={title}>
          <strong className="outcome tone-doubt">{title}</strong>: <Inline text={text!} />
        </p>
      ))}
      {log.scorers.length > 0 && (
        <>
          <h4>Scores of the log</h4>
          <dl className="criteria">
            {givenBy(log, row).map((one) => <Scored key={one.scorer.column} given={one} passed={one.scorer.name === log.headline ? row["passed"] : null} />)}
          </dl>
        </>
      )}
      {own !== null && (
        <details>
          <summary>Metadata of the log</summary>
          <ModelText text={metadataText(own)} label="Metadata of the log" />
        </details>
      )}
    </>
  );
}

function Scored({ given, passed }: { given: Given; passed: unknown }) {
  const { scorer, value, said, compared, why } = given;
  const tone = passed === true ? "good" : passed === false ? "bad" : "none";
  const scale = scaleWords(scorer);
  return (
    <div>
      <dt>
        <Inline text={scorer.name} />
        {scorer.judge !== null && <span className="small quiet"> judged by <Inline text={scorer.judge} /></span>}
      </dt>
      <dd>
        <p>
          {value === null ? <span className="outcome tone-doubt">{isSilent(given) ? "says nothing of it" : "no value"}</span> : <span className={`outcome tone-${tone}`}>{plain(value)}</span>}
          {said !== null && <> said <strong><Inline text={said} /></strong></>}
          {value !== null && scale !== "" && <span className="small quiet"> {scale}</span>}
        </p>
        {compared !== null && <p className="small">Compared: <Inline text={compared} /></p>}
        {why !== null && <ModelText text={why} label={`Reason of ${scorer.name}`} />}
      </dd>
    </div>
  );
}

/** Where the scores of a run come from: the tool, its task, and who scored. */
export function LogIdentity({ log }: { log: ImportedLog }) {
  return (
    <>
      <dt>Log of</dt>
      <dd>
        <Inline text={[log.tool, log.tool_version].filter((one) => one !== null).join(" ")} /> <span className="quiet"><Inline text={log.form} /></span>
      </dd>
      <dt>Task</dt>
      <dd>
        <Inline text={log.task} />
      </dd>
      <dt>Scored by</dt>
      <dd>
        {log.headline === null ? "no scorer of the log" : <Inline text={log.headline} />}
        {log.scorers.filter((one) => one.name !== log.headline).map((one) => (
          <span key={one.column} className="quiet">, <Inline text={one.name} /></span>
        ))}
      </dd>
    </>
  );
}
