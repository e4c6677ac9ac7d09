import type { RunRow } from "../../api/types";
import { IntervalBar } from "../../charts/interval";
import { aggregate, counted, rowInterval } from "../../format";
import { count, show } from "../../numbers";

/** The number the spec ranks runs by, its interval and its n; for a run that goes on, how far it is. */
export function Score({ run }: { run: RunRow }) {
  if (run.primary === null || run.primary_name === null) return <HowFar run={run} />;
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

/** What a run without such a number has done. Of judges, evaluations are counted, as their own page counts them. */
function HowFar({ run }: { run: RunRow }) {
  if (run.n_evaluations !== null) return <span className="small quiet">{counted(run.n_evaluations, "evaluation")}</span>;
  if (run.n_planned === null) return <span className="quiet">–</span>;
  const done = run.n_attempted ?? 0;
  return (
    <>
      {run.state === "running" && <progress max={Math.max(run.n_planned, 1)} value={done} aria-label="Samples done" />}
      <div className="small quiet">{run.state === "complete" ? counted(done, "sample") : `${count(done)} of ${counted(run.n_planned, "sample")}`}</div>
    </>
  );
}
