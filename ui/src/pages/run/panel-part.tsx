import { address } from "../../api/client";
import type { CriterionOfRun, PanelOfRun } from "../../api/types";
import { useResource } from "../../api/use-resource";
import { HeatGrid } from "../../charts/heat-grid";
import { SpansLegend, SpansView } from "../../charts/spans";
import { count, show } from "../../numbers";
import { Lead } from "../../parts/lead";
import { ReportTableView } from "../../parts/report-table";
import { Failed, Loading } from "../../parts/states";
import { Inline } from "../../text/model-text";
import { letterOf, pairOf } from "./panel-letters";
import { Splits } from "./splits";

/** Several judges: what they come to in sentences, each beside the others, how they agree, and the samples that a person should look at first. */
export function PanelPart({ id, criteria }: { id: string; criteria: readonly CriterionOfRun[] }) {
  const { data, error, again } = useResource(address("/runs/{run_id}/panel", { run_id: id }));
  return (
    <section className="part panel-part" aria-labelledby="panel">
      <h2 id="panel">Panel of judges</h2>
      {error !== null && <Failed error={error} again={again} what="panel" />}
      {data === null && error === null && (
        <div className="coming whole-screen">
          <Loading what="the panel" />
        </div>
      )}
      {data !== null && <Told id={id} found={data} criteria={criteria} />}
    </section>
  );
}

function Told({ id, found, criteria }: { id: string; found: PanelOfRun; criteria: readonly CriterionOfRun[] }) {
  const gated = found.pictures.some((one) => one.mark !== null);
  return (
    <>
      <Lead sentences={found.lines} />
      <div className="pictures panel-pictures">
        {found.pictures.map((one) => <SpansView key={one.title} of={one} />)}
      </div>
      <SpansLegend zone={gated} mark={gated ? "limit of the gate" : null} />
      <Alike found={found} />
      <Splits id={id} judges={found.panel.judges} n={found.n_splits} criteria={criteria} />
      <details className="part-details">
        <summary>The judges and how they agree, as tables</summary>
        <ReportTableView table={found.judges_table} />
        <ReportTableView table={found.agreement_table} />
        {found.notices.map((line) => <p key={line} className="small quiet"><Inline text={line} /></p>)}
      </details>
    </>
  );
}

/** Every two judges: the share of the samples both scored that have the same scores of both. */
function Alike({ found }: { found: PanelOfRun }) {
  const { judges, pairs } = found.panel;
  return (
    <figure className="alike">
      <figcaption>
        <h3>The same scores</h3>
        <p className="small quiet">Of the samples that two judges scored, those that both gave the same scores; the stronger the colour, the more.</p>
      </figcaption>
      <HeatGrid
        label="How often two judges give the same scores"
        corner=""
        rows={judges.map((judge, place) => <><span className="letter">{letterOf(place)}</span> <Inline text={judge.name} /></>)}
        columns={judges.map((judge, place) => <span key={judge.judge} className="letter">{letterOf(place)}</span>)}
        cell={(row, column) => {
          const pair = row === column ? null : pairOf(pairs, judges[row]!.name, judges[column]!.name);
          if (pair === null) return null;
          return { share: pair.same_scores, text: <>{show("rate", pair.same_scores)}<br /><span className="small">n = {count(pair.n)}</span></> };
        }}
      />
    </figure>
  );
}
