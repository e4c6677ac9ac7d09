import { address } from "../../api/client";
import type { ImportedLog, RunRow } from "../../api/types";
import { useLive } from "../../api/use-live";
import { useResource } from "../../api/use-resource";
import { DecisionChip, isDecision, StateChip } from "../../parts/chips";
import { isExperiment } from "../../parts/experiment";
import { Link } from "../../parts/link";
import { Failed, Loading, Notice } from "../../parts/states";
import { RunMarks } from "../../parts/run-marks";
import { Time } from "../../parts/time";
import { Warnings, warningsOf } from "../../parts/warnings";
import { compareAddress } from "../../router";
import { Inline } from "../../text/model-text";
import { counted } from "../../format";
import { Loss } from "../compare/loss";
import { DrawLink } from "../label/draw";
import { drawAddress } from "../label/places";
import { Distributions } from "./distributions";
import { DecidedByPeople, TurnedDecision } from "./for-people";
import { Gates } from "./gates";
import { GoingOn } from "./going-on";
import { Headline } from "./headline";
import { JudgeCard } from "./judge-card";
import { logOf, unscoredOptions } from "./imported";
import { LogIdentity } from "./log-words";
import { PanelPart } from "./panel-part";
import { Slices } from "./slices";
import { Samples } from "./samples";
import { Proof } from "../../site/proof";
import { Verify } from "./verify";

/** One run: the decision and why, where it is good and bad, and every sample. */
export default function RunPage({ id }: { id: string }) {
  const run = useResource(address("/runs/{run_id}", { run_id: id }));
  const row = run.data;
  const done = row !== null && row.manifest_sha256 !== null; // its numbers are there
  const goesOn = row !== null && (row.state === "running" || row.state === "interrupted");
  useLive(run.again, goesOn);
  const aggregates = useResource(done ? address("/runs/{run_id}/aggregates", { run_id: id }) : null);
  const decision = useResource(done && row.spec !== null && !isExperiment(row) ? address("/runs/{run_id}/decision", { run_id: id }) : null);
  const manifest = useResource(done ? address("/runs/{run_id}/manifest", { run_id: id }) : null);
  const scored = useResource(done && !isExperiment(row) ? address("/runs/{run_id}/criteria", { run_id: id }) : null);
  const people = useResource(!SITE && done && !isExperiment(row) ? address("/runs/{run_id}/people", { run_id: id }) : null);
  const criteria = scored.data?.criteria ?? [];
  const asked = row !== null && isExperiment(row) ? [aggregates, manifest] : [aggregates, manifest, scored, ...(SITE ? [] : [people]), ...(row?.spec ? [decision] : [])];
  const coming = done && asked.some((one) => one.data === null && one.error === null);
  const log = logOf(manifest.data);
  const runs = [id];

  if (run.error !== null) return <Failed error={run.error} again={run.again} what="run" />;
  if (row === null) return <Loading what="the run" />;
  const protocol = isExperiment(row);
  return (
    <article className={`run${coming ? " coming-at-once" : ""}`}>
      <div className="page-head">
        <h1>
          <Inline text={row.name === "" ? row.run_id : row.name} />
          {row.name !== "" && <small className="quiet own-id"><Inline text={row.run_id} /></small>}
        </h1>
        <StateChip run={row} />
        {isDecision(row.decision) && <DecisionChip decision={row.decision} />}
        <div className="actions">
          {!protocol && (
            <Link to={`/?pick=${encodeURIComponent(id)}`} className="button">
              Compare with …
            </Link>
          )}
          {!SITE && done && !protocol && <DrawLink to={drawAddress(id)} />}
          {!SITE && <Verify id={id} state={row.manifest_sha256 ?? row.journal_sha256} />}
        </div>
      </div>
      {SITE && <Proof row={row} />}
      {row.error !== null && (
        <Notice tone="bad" title={row.state === "damaged" ? "This record is damaged" : "This record stands under another name"}>
          <p>
            <Inline text={row.error} />
          </p>
        </Notice>
      )}
      <TurnedDecision found={people.data} />
      <Warnings found={warningsOf(aggregates.data)} />
      {goesOn && done && <GoingOn row={row} onChanged={run.again} />}
      <div className="run-top">
        {goesOn && !done ? <GoingOn row={row} onChanged={run.again} /> : <Headline row={row} decision={decision.data} aggregates={aggregates.data} />}
        <Identity row={row} log={log} onChanged={run.again} />
      </div>
      {protocol && (
        <p>
          <Link to={`/judges?run=${encodeURIComponent(id)}`} className="button primary">
            Judges of this experiment
          </Link>
        </p>
      )}
      <DecidedByPeople found={people.data} />
      <Gates decision={decision.data} />
      {!SITE && done && !protocol && row.evaluator_model_id !== null && <JudgeCard id={id} />}
      {manifest.data !== null && "panel" in manifest.data && <PanelPart id={id} criteria={criteria} />}
      <Distributions aggregates={aggregates.data} criteria={criteria} />
      {!protocol && done && <Slices id={id} />}
      {row.loss !== null && <Loss runs={runs} known={{ [id]: row }} />}
      {!protocol && done && <Samples id={id} judged={row.evaluator_model_id !== null} log={log} whys={unscoredOptions(aggregates.data)} />}
      {manifest.data !== null && (
        <details className="part-details">
          <summary>Manifest</summary>
          <pre className="model-text mono" tabIndex={0} aria-label="Manifest" role="group">
            <Inline text={JSON.stringify(manifest.data, null, 2)} />
          </pre>
        </details>
      )}
      {done && !protocol && (
        <p className="small quiet">
          Other runs of this eval set: <Link to={`/leaderboard?eval_set=${encodeURIComponent(row.dataset_sha256 ?? "")}&spec=${encodeURIComponent(row.spec ?? "")}`}>leaderboard</Link>, or <Link to={compareAddress([id])}>compare</Link>.
        </p>
      )}
    </article>
  );
}

function Identity({ row, log, onChanged }: { row: RunRow; log: ImportedLog | null; onChanged: () => void }) {
  return (
    <dl className="facts identity">
      {!isExperiment(row) && (
        <>
          <dt>Model</dt>
          <dd>
            <Inline text={row.model_id ?? "–"} />
          </dd>
        </>
      )}
      {row.judges.length > 0 && (
        <>
          <dt>{row.judges.length > 1 ? "Judges" : "Judge"}</dt>
          <dd>
            <Inline text={row.judges.join(", ")} />
          </dd>
        </>
      )}
      <dt>Eval set</dt>
      <dd>
        <Inline text={row.dataset_name ?? "–"} /> <span className="quiet">{row.n_items !== null && counted(row.n_items, isExperiment(row) ? "output" : "item")}</span>
      </dd>
      <dt>Evaluator</dt>
      <dd>{row.spec ?? "–"}</dd>
      {log !== null && <LogIdentity log={log} />}
      <dt>Started</dt>
      <dd>
        <Time utc={row.started_utc} />
      </dd>
      <dt>Ended</dt>
      <dd>
        <Time utc={row.ended_utc} />
      </dd>
      <dt>Record</dt>
      <dd className="mono">{row.journal_sha256?.slice(0, 16) ?? "–"}…</dd>
      <RunMarks row={row} onChanged={onChanged} />
    </dl>
  );
}
