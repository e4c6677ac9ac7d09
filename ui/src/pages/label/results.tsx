import { address } from "../../api/client";
import type { Book } from "../../api/types";
import { useResource } from "../../api/use-resource";
import { words } from "../../format";
import { count } from "../../numbers";
import { Link } from "../../parts/link";
import { Failed, Loading } from "../../parts/states";
import { ReportTableView } from "../../parts/report-table";
import { Inline } from "../../text/model-text";
import { CalibrationView } from "./calibration";
import { disputedIn, settleAddress } from "./places";

const ORIGINS: Record<string, string> = {
  single: "One person's word",
  agreed: "Two people agree",
  disputed: "Two people differ",
  adjudicated: "Settled by a third look",
  none: "Not labelled",
};

/** How far people agree, and the judge with them: shown once the labels are given, never before. */
export function Results({ labels, labeller = null }: { labels: string; labeller?: string | null }) {
  const book = useResource(address("/labels/{book}", { book: labels }));
  const calibration = useResource(address("/labels/{book}/calibration", { book: labels }));
  if (book.error !== null) return <Failed error={book.error} again={book.again} what="set of labels" />;
  if (book.data === null) return <Loading what="the labels" />;
  const found = calibration.data;
  if (found === null && calibration.error === null) {
    return (
      <div className="coming">
        <Loading what="how far people and judge agree" />
      </div>
    );
  }
  return (
    <>
      {calibration.error !== null && <Failed error={calibration.error} again={calibration.again} what="calibration" />}
      {found !== null && found.words !== null && <CalibrationView words={found.words} run={found.run_id} labels={labels} />}
      {found !== null && found.words === null && (
        <div className="notice tone-none">
          <h2>The run can't be held against these labels</h2>
          <p><Inline text={found.reason ?? "Nothing says why."} /></p>
        </div>
      )}
      <People book={book.data} labeller={labeller} />
      {found !== null && found.words === null && <ReportTableView table={found.between_people_table} />}
    </>
  );
}

function People({ book, labeller }: { book: Book; labeller: string | null }) {
  const origins = [...new Set(Object.values(book.by_field).flatMap((counts) => Object.keys(counts)))];
  const disputed = disputedIn(book);
  return (
    <section className="part" aria-labelledby="people">
      <h2 id="people">What people say</h2>
      <div className="table" tabIndex={0} role="region" aria-label="Table of what people say">
        <table>
          <caption>Samples, of {count(book.n_samples)} drawn from run <Inline text={book.run_id} /></caption>
          <thead>
            <tr>
              <th scope="col">Criterion</th>
              {origins.map((origin) => <th scope="col" className="number" key={origin}>{ORIGINS[origin] ?? words(origin)}</th>)}
            </tr>
          </thead>
          <tbody>
            {Object.entries(book.by_field).map(([field, counts]) => (
              <tr key={field}>
                <th scope="row"><Inline text={book.titles[field] ?? field} /></th>
                {origins.map((origin) => <td className="number" key={origin}>{count(counts[origin] ?? 0)}</td>)}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {disputed > 0 && (
        <p className="small">
          What is in dispute counts as not labelled, and hard samples that are left out make a judge look better than it is.{" "}
          {labeller !== null && <Link to={settleAddress(book.book, labeller)}>Settle what two people scored differently</Link>}
        </p>
      )}
    </section>
  );
}
