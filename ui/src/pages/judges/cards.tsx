import type { Analysis } from "../../api/types";
import { Bars } from "../../charts/histogram";
import { sentence } from "../../numbers";
import { Inline } from "../../text/model-text";
import { LOCATED } from "../../words";

/** Where each judge's quotes were found, and how its probes came out. */
export function Cards({ judges }: { judges: Analysis["judges"] }) {
  return (
    <details className="part-details">
      <summary>Where each judge's quotes were found, and its probes</summary>
      <div className="cards wide">
        {judges.map((judge) => (
          <div className="card judge" key={judge.judge_model}>
            <h3><Inline text={judge.judge_model} /></h3>
            <p className="small">Probes: {judge.n_probes_passed} passed, {judge.n_probes_failed} failed, {judge.n_probes_open} tell nothing</p>
            <Bars label="Where quotes were found" bars={Object.entries(judge.cross_judge.evidence).map(([name, n]) => ({ name: sentence(LOCATED, name), n }))} />
          </div>
        ))}
      </div>
    </details>
  );
}
