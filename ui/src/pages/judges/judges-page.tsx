import { useEffect } from "react";
import { address } from "../../api/client";
import type { JudgesAnswer } from "../../api/types";
import { useResource } from "../../api/use-resource";
import { SpansLegend, SpansView } from "../../charts/spans";
import { counted, words } from "../../format";
import { count } from "../../numbers";
import { Choice } from "../../parts/fields";
import { Lead } from "../../parts/lead";
import { Link } from "../../parts/link";
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
  const judges = useResource(run === null ? null : address("/judges/{run_id}", { run_id: run }));

  if (runs.error !== null) return <Failed error={runs.error} again={runs.again} what="list of experiments" />;
  if (runs.data === null) return <Loading what="experiments" />;
  if (run === null && runs.data.experiments.length === 0) return <NoExperiments />;
  return (
    <>
      <div className="page-head">
        <h1>Judges</h1>
        <ToAudits />
      </div>
      <div className="filters">
        <Choice label="Experiment" value={run ?? ""} options={runs.data.experiments.map((one) => ({ value: one.run_id, text: `${one.run_id} · ${one.spec}, ${counted(one.n_evaluations, "evaluation")}` }))} onChange={(found) => change(Object.fromEntries([...query.keys()].map((name) => [name, name === "run" ? found : null])))} />
      </div>
      {judges.error !== null && <Failed error={judges.error} again={judges.again} what="analysis" />}
      {judges.data === null && judges.error === null && (
        <div className="coming">
          <Loading what="the analysis" />
        </div>
      )}
      {judges.data !== null && <Analysed found={judges.data} onOpen={(target, variant) => change({ target, variant, at: null, evaluation: null })} />}
      {run !== null && (judges.data !== null || judges.error !== null) && <Evaluations run={run} judges={judges.data} />}
    </>
  );
}

function Analysed({ found, onOpen }: { found: JudgesAnswer; onOpen: (target: string, variant: string) => void }) {
  const { analysis, protocol, words: said } = found;
  const warned = (found.n_warnings_first ?? 0) > 0; // of what stands before any number
  return (
    <>
      {warned && <Warnings found={found.warnings} />}
      <Lead sentences={said.sentences} />
      {!warned && <Warnings found={found.warnings} />}
      <p className="quiet">
        {analysis.methods.map((one) => `${words(one.method)}: ${counted(one.n, "evaluation")}, ${count(one.n_valid)} valid`).join("; ")}.
        {analysis.n_gaps > 0 && ` ${counted(analysis.n_gaps, "cell")} without an evaluation.`} An invalid evaluation enters no score; it is counted.
      </p>
      <Grid targets={analysis.targets} protocol={protocol} onOpen={onOpen} />
      <League league={said.league} />
      <section className="part" aria-labelledby="judges">
        <h2 id="judges">Judges side by side</h2>
        <div className="pictures">{said.pictures.map((one) => <SpansView key={one.title} of={one} />)}</div>
        <SpansLegend zone mark="limit, or no difference" />
        <Cards judges={analysis.judges} />
      </section>
    </>
  );
}

function ToAudits() {
  return SITE ? null : (
    <div className="actions">
      <Link to="/audits" className="button">Audits of judges</Link>
      <Link to="/pairs" className="button">Runs in pairs</Link>
    </div>
  );
}

function NoExperiments() {
  return (
    <>
      <div className="page-head">
        <h1>Judges</h1>
        <ToAudits />
      </div>
      <Empty title="No experiment with judges yet">
        <p>
          Have judges evaluate a set of outputs under <code>judge_protocol@v1</code>, or by a protocol of your own: <code>benchbook judge run</code>; or bring in what was judged elsewhere: <code>benchbook judge import</code>.
        </p>
      </Empty>
    </>
  );
}
