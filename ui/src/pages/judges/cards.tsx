import type { Analysis, ProtocolOfRun } from "../../api/types";
import { Bars } from "../../charts/histogram";
import { sentence, show } from "../../numbers";
import { Inline } from "../../text/model-text";
import { LOCATED } from "../../words";
import { Value } from "./measured";

/** What is known of each judge. */
export function Cards({ judges, protocol }: { judges: Analysis["judges"]; protocol: ProtocolOfRun }) {
  return (
    <section className="part" aria-labelledby="cards">
      <h2 id="cards">Each judge</h2>
      <div className="cards wide">
        {judges.map((judge) => (
          <div className="card judge" key={judge.judge_model}>
            <h3><Inline text={judge.judge_model} /></h3>
            <dl className="facts">
              <dt>Valid</dt>
              <dd><Value found={judge.cross_judge.valid_share} kind="rate" /></dd>
              <dt>Quotes found</dt>
              <dd><Value found={judge.cross_judge.found_share} kind="rate" /></dd>
              <dt>Severity</dt>
              <dd><Value found={judge.severity} kind="grade" sign /></dd>
              <dt>Agreement</dt>
              <dd>{judge.agreement === null ? <span className="quiet">{show("ratio", null, { unknown: "no other judge on enough of the same outputs" })}</span> : <>{show("ratio", judge.agreement)} <span className="small quiet">AC2 with {judge.n_agreement_judges} others</span></>}</dd>
              <dt>Probes</dt>
              <dd>{judge.n_probes_passed} passed, {judge.n_probes_failed} failed, {judge.n_probes_open} open</dd>
            </dl>
            <h4>Where quotes were found</h4>
            <Bars label="Where quotes were found" bars={Object.entries(judge.cross_judge.evidence).map(([name, n]) => ({ name: sentence(LOCATED, name), n }))} />
          </div>
        ))}
      </div>
      <p className="small quiet">Severity: points of {protocol.span} above or below the other judges on the same outputs; below 0 is harsher.</p>
    </section>
  );
}
