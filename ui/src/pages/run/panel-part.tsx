import { address } from "../../api/client";
import type { CriterionOfRun, PanelOfRun, Split } from "../../api/types";
import { useResource } from "../../api/use-resource";
import { count, NOTHING } from "../../numbers";
import { Link } from "../../parts/link";
import { ReportTableView } from "../../parts/report-table";
import { Failed, Loading } from "../../parts/states";
import { runAddress } from "../../router";
import { Inline } from "../../text/model-text";
import { criterionTitle, scoreWords } from "./criteria";

const ENDING = "_scores"; // of what the judges gave, criterion by criterion

/** Several judges: each alone, how they agree, and the samples that a person should look at first. */
export function PanelPart({ id, criteria }: { id: string; criteria: readonly CriterionOfRun[] }) {
  const { data, error, again } = useResource(address("/runs/{run_id}/panel", { run_id: id }));
  return (
    <section className="part panel-part" aria-labelledby="panel">
      <h2 id="panel">Panel of judges</h2>
      {error !== null && <Failed error={error} again={again} what="panel" />}
      {data === null && error === null && <Loading what="the panel" />}
      {data !== null && (
        <>
          {data.lines.map((line) => <p key={line}><Inline text={line} /></p>)}
          <ReportTableView table={data.judges_table} />
          <ReportTableView table={data.agreement_table} />
          {data.notices.map((line) => <p key={line} className="small quiet"><Inline text={line} /></p>)}
          <Splits id={id} found={data} criteria={criteria} />
        </>
      )}
    </section>
  );
}

function Splits({ id, found, criteria }: { id: string; found: PanelOfRun; criteria: readonly CriterionOfRun[] }) {
  const { panel, n_splits } = found;
  if (panel.splits.length === 0) return null;
  const judges = panel.judges.map((judge) => judge.name).join(", ");
  const names = Object.keys(panel.splits[0]!).filter((name) => name.endsWith(ENDING)).map((name) => name.slice(0, -ENDING.length));
  return (
    <div className="table report" tabIndex={0} role="region" aria-label="What to look at first">
      <table>
        <caption>
          What to look at first: samples that the judges (<Inline text={judges} />) split on
          {n_splits > panel.splits.length && `, ${panel.splits.length} of ${count(n_splits)}`}
        </caption>
        <thead>
          <tr><th scope="col">Sample</th><th scope="col">Pass or fail</th>{names.map((name) => <th key={name} scope="col">{criterionTitle(criteria, name)}, judge by judge</th>)}</tr>
        </thead>
        <tbody>
          {panel.splits.map((split) => <Row key={split.sample} id={id} split={split} names={names} criteria={criteria} />)}
        </tbody>
      </table>
    </div>
  );
}

function Row({ id, split, names, criteria }: { id: string; split: Split; names: readonly string[]; criteria: readonly CriterionOfRun[] }) {
  const own = new Map(Object.entries(split)); // a rubric of one's own has others than rubric@v1
  return (
    <tr>
      <th scope="row"><Link to={runAddress(id, { sample: String(split.sample) })}><Inline text={split.item_id} />{split.repeat > 0 && `, repeat ${split.repeat + 1}`}</Link></th>
      <td>{split.verdicts_differ ? "differs" : "same"}</td>
      {names.map((name) => <td key={name}><Inline text={scores(own.get(`${name}${ENDING}`), (score) => scoreWords(criteria, name, score))} /></td>)}
    </tr>
  );
}

function scores(found: unknown, said: (score: number) => string): string {
  return Array.isArray(found) ? found.map((score: number | null) => (score === null ? NOTHING : said(score))).join(" ") : "";
}
