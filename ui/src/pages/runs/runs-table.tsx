import type { RunRow } from "../../api/types";
import { IntervalBar } from "../../charts/interval";
import { Sparkline } from "../../charts/sparkline";
import { aggregate, counted, rowInterval } from "../../format";
import { count, show } from "../../numbers";
import { DecisionChip, isDecision, JudgedBy, ModelName, StateChip, Tag } from "../../parts/chips";
import { isExperiment } from "../../parts/experiment";
import { Link } from "../../parts/link";
import { Time } from "../../parts/time";
import { runAddress } from "../../router";
import { Inline } from "../../text/model-text";
import { isImported } from "../run/imported";
import { visible } from "../../text/visible";

interface Props {
  runs: readonly RunRow[];
  chosen: readonly string[];
  most: number;
  onPick: (runId: string, picked: boolean) => void;
  sort: string;
  order: string;
  onSort: (by: string, order: string) => void;
}

const COLUMNS: readonly { name: string; sort?: string; className?: string }[] = [
  { name: "Run", sort: "run" },
  { name: "Model", sort: "model", className: "col-wide" },
  { name: "Eval set", sort: "eval_set", className: "col-wide" },
  { name: "Decision", className: "col-wide" },
  { name: "Score, 95 % interval, n", sort: "score" },
  { name: "Loss", className: "col-wide" },
  { name: "Started", sort: "started", className: "col-wide" },
];

export function RunsTable({ runs, chosen, most, onPick, sort, order, onSort }: Props) {
  return (
    <div className="table runs" tabIndex={0} role="region" aria-label="Table of runs">
      <table>
        <caption className="unseen">Runs; check two to eight to compare them</caption>
        <thead>
          <tr>
            <th scope="col">
              <span className="unseen">Choose</span>
            </th>
            {COLUMNS.map((column) => (
              <th key={column.name} scope="col" className={column.className} aria-sort={column.sort === sort ? (order === "asc" ? "ascending" : "descending") : undefined}>
                {column.sort === undefined ? (
                  column.name
                ) : (
                  <button type="button" className="sort" onClick={() => onSort(column.sort!, column.sort === sort && order === "desc" ? "asc" : "desc")}>
                    {column.name}
                    <span aria-hidden="true">{column.sort === sort ? (order === "asc" ? "▲" : "▼") : ""}</span>
                  </button>
                )}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {runs.map((run) => {
            const picked = chosen.includes(run.run_id);
            return (
              <tr key={run.run_id} className={picked ? "chosen" : undefined}>
                <td>
                  <input
                    type="checkbox"
                    checked={picked}
                    disabled={!picked && chosen.length >= most}
                    aria-label={`Compare ${visible(run.run_id)}`}
                    onChange={(event) => onPick(run.run_id, event.target.checked)}
                  />
                </td>
                <RunCells run={run} />
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}

function RunCells({ run }: { run: RunRow }) {
  return (
    <>
      <th scope="row" className="run-name">
        <Link to={runAddress(run.run_id)}>
          <Inline text={run.run_id} />
        </Link>{" "}
        <StateChip state={run.state} />
        {isImported(run.spec) && <span className="chip tone-none">imported</span>}
        <div className="small quiet phone-only">
          <ModelName id={run.model_id} /> · <Inline text={run.dataset_name ?? "–"} /> {isDecision(run.decision) && <DecisionChip decision={run.decision} />}
        </div>
        <div className="tags">
          {run.tags.map((tag) => (
            <Link key={tag} to={`/?tag=${encodeURIComponent(tag)}`} label={`Runs with tag ${visible(tag)}`}>
              <Tag name={tag} />
            </Link>
          ))}
        </div>
        {run.error !== null && (
          <div className="small quiet">
            <Inline text={run.error} />
          </div>
        )}
      </th>
      <td className="col-wide">
        <ModelName id={run.model_id} />
        <JudgedBy judges={run.judges} />
      </td>
      <td className="col-wide">
        <Inline text={run.dataset_name ?? "–"} />
        <div className="small quiet">{run.spec}</div>
      </td>
      <td className="col-wide">{isDecision(run.decision) ? <DecisionChip decision={run.decision} /> : <span className="quiet">–</span>}</td>
      <td className="score">
        <Score run={run} />
      </td>
      <td className="col-wide">{run.loss === null ? <span className="quiet">–</span> : <Sparkline values={run.loss} label={`Loss of ${visible(run.run_id)}`} />}</td>
      <td className="small col-wide">
        <Time utc={run.started_utc} />
      </td>
    </>
  );
}

/** The number the spec ranks runs by, its interval and its n; for a run that goes on, how far it is. */
function Score({ run }: { run: RunRow }) {
  if (run.primary === null || run.primary_name === null) {
    if (run.n_planned === null) return <span className="quiet">–</span>;
    const done = run.n_attempted ?? 0;
    const one = isExperiment(run) ? "evaluation" : "sample";
    return (
      <>
        {run.state === "running" && <progress max={Math.max(run.n_planned, 1)} value={done} aria-label="Samples done" />}
        <div className="small quiet">
          {run.state === "complete" ? counted(done, one) : `${count(done)} of ${counted(run.n_planned, one)}`}
        </div>
      </>
    );
  }
  const [label, kind] = aggregate(run.primary_name);
  return (
    <>
      <div className="score-line">
        <strong>{show(kind, run.primary)}</strong>
        <IntervalBar value={run.primary} low={run.primary_low} high={run.primary_high} width={96} label={`${label} between 0 and 1`} />
      </div>
      <div className="small quiet">
        {rowInterval(run, kind)}, n = {count(run.n_scored)}
        {run.n_unscored !== null && run.n_unscored > 0 && `, ${count(run.n_unscored)} unscored`}
      </div>
    </>
  );
}
