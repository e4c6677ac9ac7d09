import { useEffect } from "react";
import { address } from "../../api/client";
import { useResource } from "../../api/use-resource";
import { counted, words } from "../../format";
import { count } from "../../numbers";
import { Choice } from "../../parts/fields";
import { Empty, Failed, Loading } from "../../parts/states";
import { Warnings } from "../../parts/warnings";
import { useQuery } from "../../router";
import { Cards } from "./cards";
import { Evaluations } from "./evaluations";
import { Grid } from "./grid";
import { League } from "./league";

/** An experiment with judges: who judged what how, which judges can be used, and the evidence they gave. */
export default function JudgesPage() {
  const [query, change] = useQuery();
  const runs = useResource(address("/judges"));
  const run = query.get("run");
  const first = runs.data?.experiments[0]?.run_id;
  useEffect(() => {
    if (run === null && first !== undefined) change({ run: first }, { replace: true });
  }, [run, first, change]);
  const aggregates = useResource(run === null ? null : address("/judges/{run_id}", { run_id: run }));

  const analysis = aggregates.data?.analysis ?? null;

  if (runs.error !== null) return <Failed error={runs.error} again={runs.again} what="list of experiments" />;
  if (runs.data === null) return <Loading what="experiments" />;
  if (run === null && runs.data.experiments.length === 0) return <NoExperiments />;
  return (
    <>
      <div className="page-head">
        <h1>Judges</h1>
      </div>
      <div className="filters">
        <Choice label="Experiment" value={run ?? ""} options={runs.data.experiments.map((one) => ({ value: one.run_id, text: `${one.run_id} · ${counted(one.n_evaluations, "evaluation")}` }))} onChange={(found) => change(Object.fromEntries([...query.keys()].map((name) => [name, name === "run" ? found : null])))} />
      </div>
      {aggregates.error !== null && <Failed error={aggregates.error} again={aggregates.again} what="analysis" />}
      {analysis === null && aggregates.error === null && <Loading what="the analysis" />}
      {analysis !== null && (
        <>
          <Warnings found={aggregates.data?.warnings ?? []} />
          <p className="quiet">
            {analysis.methods.map((one) => `${words(one.method)}: ${counted(one.n, "evaluation")}, ${count(one.n_valid)} valid`).join("; ")}.
            {analysis.n_gaps > 0 && ` ${counted(analysis.n_gaps, "cell")} without an evaluation.`} An invalid evaluation enters no score; it is counted.
          </p>
          <Grid targets={analysis.targets} onOpen={(target, variant) => change({ target, variant, at: null, evaluation: null })} />
          <League league={analysis.league} />
          <Cards judges={analysis.judges} />
        </>
      )}
      {run !== null && runs.data !== null && <Evaluations run={run} analysis={analysis} />}
    </>
  );
}

function NoExperiments() {
  return (
    <>
      <h1>Judges</h1>
      <Empty title="No experiment with judges yet">
        <p>
          Have judges evaluate a set of outputs under <code>judge_protocol@v1</code>: <code>benchbook judge run</code>, or bring in what was judged elsewhere: <code>benchbook judge import</code>.
        </p>
      </Empty>
    </>
  );
}
