import { useState } from "react";
import { address, errorOf, get, send, type ApiError } from "../../api/client";
import type { LatestSample, RunProgress, RunRow } from "../../api/types";
import { useEvery } from "../../api/use-every";
import { useMe } from "../../api/use-me";
import { useAnswer } from "../../api/use-resource";
import { aggregate, counted } from "../../format";
import { count, NOTHING, show } from "../../numbers";
import { Wrong } from "../../parts/states";
import { Time } from "../../parts/time";
import { Inline } from "../../text/model-text";

const LOOK_MS = 2_000;

/** A run that goes on, or was stopped: how far it is, what it says so far, and what can be done. Nothing of it is final. */
export function GoingOn({ row, onChanged }: { row: RunRow; onChanged: () => void }) {
  // Asked again once it stands otherwise: what can be done is another thing then.
  const found = useAnswer<RunProgress>(`${row.run_id} ${row.state}`, (signal) => get(address("/runs/{run_id}/progress", { run_id: row.run_id }), signal));
  const runs = row.state === "running";
  const progress = found.data;
  const look = () => {
    found.again();
    onChanged(); // its last sign of life, and whether it still goes on
  };
  // A record is said to be stopped a moment before its process has ended, and to go on a moment after one has begun.
  useEvery(LOOK_MS, look, runs || progress?.is_read === false || progress?.may_cancel === true);
  return (
    <section className="going-on" aria-label="Progress">
      {!runs && <p>Its process ended before its plan did. What was recorded is whole, and the run can be resumed.</p>}
      {found.error !== null && <Wrong error={found.error} />}
      {progress === null ? <p className="quiet">Reading its journal …</p> : <Progress found={progress} />}
      {progress !== null && <Acts found={progress} onDone={look} />}
      {progress !== null && progress.failed.length > 0 && <FailedCalls found={progress} />}
      {progress !== null && progress.latest.length > 0 && <Latest samples={progress.latest} />}
    </section>
  );
}

function Progress({ found }: { found: RunProgress }) {
  const [label, kind] = aggregate(found.score_name ?? "primary_score");
  return (
    <>
      <div className="how-far">
        <progress max={Math.max(found.n_planned, 1)} value={found.n_done} aria-label="Samples done" />
        <span>{found.words}</span>
        {!found.is_read && <span className="quiet">its journal is being read: {count(found.n_facts)} facts so far</span>}
      </div>
      <dl className="facts so-far">
        <dt>{label}, so far</dt>
        <dd>
          <strong>{show(kind, found.score)}</strong> <span className="quiet">{found.score === null ? "comes at the end" : `n = ${count(found.n_scored)} so far; not final`}</span>
        </dd>
        <dt>Cost so far</dt>
        <dd>{found.cost_usd === null ? <span className="quiet">{NOTHING} (no price is set)</span> : show("usd", found.cost_usd)}</dd>
        <dt>Pace</dt>
        <dd>{found.pace ?? <span className="quiet">{NOTHING}</span>}</dd>
        <dt>Last fact</dt>
        <dd><Time utc={found.last_fact_utc} /></dd>
      </dl>
    </>
  );
}

/** To cancel or to go on: here where the server started the run, else by the command that does it. */
function Acts({ found, onDone }: { found: RunProgress; onDone: () => void }) {
  const may = useMe().data?.scopes.includes("write") === true;
  const [asked, setAsked] = useState(false);
  const [wrong, setWrong] = useState<ApiError | null>(null);
  const act = (what: "POST /runs/{run_id}/cancel" | "POST /runs/{run_id}/resume") => {
    setAsked(true);
    setWrong(null);
    send(what, { run_id: found.run_id })
      .then(onDone, (error: unknown) => setWrong(errorOf(error)))
      .finally(() => setAsked(false));
  };
  return (
    <div className="actions" role="status">
      {found.may_cancel && may && <button type="button" disabled={asked} onClick={() => act("POST /runs/{run_id}/cancel")}>Cancel this run</button>}
      {found.may_resume && may && <button type="button" className="primary" disabled={asked} onClick={() => act("POST /runs/{run_id}/resume")}>Resume this run</button>}
      {found.state === "interrupted" && !found.may_cancel && !(found.may_resume && may) && <p className="small">Go on with it where its record lies: <code><Inline text={found.resume_with} /></code></p>}
      {found.may_cancel && may && <span className="small quiet">What is under way is finished; the record can be resumed.</span>}
      {wrong !== null && <Wrong error={wrong} />}
    </div>
  );
}

function FailedCalls({ found }: { found: RunProgress }) {
  return (
    <details className="part-details" open={found.n_done === 0}>
      <summary>{counted(found.n_failed, "call")} failed <span className="quiet">most are asked again</span></summary>
      <ul className="failed-calls">
        {found.failed.map((one) => (
          <li key={one.cause}>
            <strong><Inline text={one.cause.replaceAll("_", " ")} /></strong> × {count(one.n)}{one.detail !== "" && <>: <Inline text={one.detail} /></>}
          </li>
        ))}
      </ul>
    </details>
  );
}

function Latest({ samples }: { samples: readonly LatestSample[] }) {
  return (
    <div className="table latest" tabIndex={0} role="region" aria-label="Latest samples">
      <table>
        <caption>The samples that were done last</caption>
        <thead>
          <tr><th scope="col">Item</th><th scope="col" className="number">Score</th><th scope="col">Answer begins</th></tr>
        </thead>
        <tbody>
          {samples.map((one) => (
            <tr key={one.sample}>
              <th scope="row"><Inline text={one.item_id ?? `sample ${one.sample}`} /></th>
              <td className="number">{show("score", one.score)}</td>
              <td className="answer"><Inline text={one.text ?? NOTHING} /></td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
