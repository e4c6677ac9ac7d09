import { address, segment } from "../../api/client";
import type { Book } from "../../api/types";
import { useResource } from "../../api/use-resource";
import { words } from "../../format";
import { Failed, Loading } from "../../parts/states";
import { Inline } from "../../text/model-text";

const ORIGINS: Record<string, string> = {
  single: "One person's word",
  agreed: "Two people agree",
  disputed: "Two people differ",
  adjudicated: "Settled by a third look",
  none: "Not labelled",
};

/** How far people agree: shown once the labels are given, never before. */
export function Agreement({ book }: { book: string }) {
  const { data, error, again } = useResource<Book>(address(`/labels/${segment(book)}`));
  if (error !== null) return <Failed error={error} again={again} what="agreement" />;
  if (data === null) return <Loading what="the agreement" />;
  const origins = [...new Set(Object.values(data.by_field).flatMap((counts) => Object.keys(counts)))];
  return (
    <section className="part" aria-labelledby="agreement">
      <h2 id="agreement">What people say</h2>
      <div className="table" tabIndex={0} role="region" aria-label="What people say">
        <table>
          <caption>Samples, of {data.n_samples.toLocaleString("en")} drawn from run <Inline text={data.run_id} /></caption>
          <thead>
            <tr>
              <th scope="col">Field</th>
              {origins.map((origin) => <th scope="col" className="number" key={origin}>{ORIGINS[origin] ?? words(origin)}</th>)}
            </tr>
          </thead>
          <tbody>
            {Object.entries(data.by_field).map(([field, counts]) => (
              <tr key={field}>
                <th scope="row">{words(field)}</th>
                {origins.map((origin) => <td className="number" key={origin}>{(counts[origin] ?? 0).toLocaleString("en")}</td>)}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <p className="small quiet">
        How far the judge agrees with people, and what follows for the decision: <code>benchbook calibrate RUN LABELS</code>
      </p>
    </section>
  );
}
