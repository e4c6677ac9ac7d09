import { address } from "../../api/client";
import type { AuditAnswer, AuditList, ListedAudit } from "../../api/types";
import { useResource } from "../../api/use-resource";
import { SpansLegend, SpansView } from "../../charts/spans";
import { count } from "../../numbers";
import { Lead } from "../../parts/lead";
import { Link } from "../../parts/link";
import { ReportTableView } from "../../parts/report-table";
import { Empty, Failed, Loading, MARKS } from "../../parts/states";
import { Time } from "../../parts/time";
import { runAddress, useQuery } from "../../router";
import { Inline } from "../../text/model-text";
import { auditAddress } from "./places";

/** What judges may be used for: the audits that there are, or one of them, as `benchbook judge card` has it. */
export default function AuditsPage() {
  const [query] = useQuery();
  const audit = query.get("audit");
  return audit === null ? <All /> : <One audit={audit} />;
}

function All() {
  const found = useResource(address("/audits"));
  return (
    <>
      <div className="page-head">
        <h1>Audits of judges</h1>
      </div>
      {found.error !== null && <Failed error={found.error} again={found.again} what="list of audits" />}
      {found.data === null && found.error === null && <Loading what="audits" />}
      {found.data !== null && <Listed list={found.data} />}
    </>
  );
}

function Listed({ list }: { list: AuditList }) {
  return (
    <>
      {list.audits.length === 0 && (
        <Empty title="No judge was audited yet">
          <p>
            <code>benchbook judge audit RUN</code> hands a judge the same answers again, changed by rule in what should not matter and in what it must notice.
          </p>
        </Empty>
      )}
      {list.audits.length > 0 && (
        <div className="table" tabIndex={0} role="region" aria-label="Table of audits">
          <table>
            <thead>
              <tr>
                <th scope="col">Audit</th>
                <th scope="col">Judge</th>
                <th scope="col">It comes to</th>
                <th scope="col">Answers of</th>
                <th scope="col" className="number">Answers</th>
                <th scope="col">Ended</th>
              </tr>
            </thead>
            <tbody>{list.audits.map((one) => <Row key={one.audit} one={one} />)}</tbody>
          </table>
        </div>
      )}
      {list.not_complete.length > 0 && (
        <p className="small quiet">
          Not complete, and without a card: <Inline text={list.not_complete.join(", ")} />. <code>benchbook judge audit --resume AUDIT</code> goes on with one.
        </p>
      )}
    </>
  );
}

function Row({ one }: { one: ListedAudit }) {
  return (
    <tr>
      <th scope="row"><Link to={auditAddress(one.audit)}><Inline text={one.audit} /></Link></th>
      <td><Inline text={one.judge} /></td>
      <td className={`tone-${one.tone}`}><span aria-hidden="true">{MARKS[one.tone]}</span> {one.headline}</td>
      <td><Inline text={one.model} />, <Inline text={one.evalset} /></td>
      <td className="number">{count(one.n_answers)}</td>
      <td><Time utc={one.ended_utc} /></td>
    </tr>
  );
}

function One({ audit }: { audit: string }) {
  const found = useResource(address("/audits/{audit}", { audit }));
  return (
    <>
      <div className="page-head">
        <h1>Audit of a judge</h1>
        <span className="quiet"><Inline text={audit} /></span>
        <div className="actions">
          <Link to="/audits" className="button">All audits</Link>
        </div>
      </div>
      {found.error !== null && <Failed error={found.error} again={found.again} what="audit" />}
      {found.data === null && found.error === null && (
        <div className="coming">
          <Loading what="the audit" />
        </div>
      )}
      {found.data !== null && <Card found={found.data} />}
    </>
  );
}

/** The card: what it comes to, then the pictures, then its tables. */
function Card({ found }: { found: AuditAnswer }) {
  const { card, words } = found;
  return (
    <>
      <section className={`card decided tone-${words.tone}`} aria-label="What it comes to">
        <p className="big"><span aria-hidden="true">{MARKS[words.tone]}</span> {words.headline}</p>
        <p className="small">
          <Inline text={card.judge.judge} /> under {card.judge.spec}, on {count(card.n_answers)} of {count(card.n_eligible)} answers of <Inline text={card.model} /> to <Inline text={card.judge.evalset} />
        </p>
      </section>
      <Lead sentences={words.sentences} />
      <div className="notice tone-none">
        <h2>Read this first</h2>
        <ul>{words.notices.map((one) => <li key={one}><Inline text={one} /></li>)}</ul>
      </div>
      <div className="pictures">{words.pictures.map((one) => <SpansView key={one.title} of={one} />)}</div>
      <SpansLegend zone mark="no change, or the least to notice" />
      {words.sections.map((one) => (
        <section key={one.title} className="part">
          <h2>{one.title}</h2>
          {one.tables.map((table) => <ReportTableView key={table.caption} table={table} of={one.title} />)}
        </section>
      ))}
      <p className="small quiet">
        Run <Link to={runAddress(card.run_id)}><Inline text={card.run_id} /></Link>. The same as a page of its own: <code>benchbook judge card <Inline text={found.audit} /> --html card.html</code>
      </p>
    </>
  );
}
