import type { Aggregates } from "../../api/types";
import { Bars } from "../../charts/histogram";
import { span, value, kindOf, words } from "../../format";

const COUNTS: readonly [keyof Aggregates, string][] = [
  ["accuracy_counts", "Accuracy scores"],
  ["faithfulness_counts", "Faithfulness scores"],
  ["fail_reasons", "Why samples did not pass"],
  ["misses", "Why items missed"],
];

/** How scores and reasons are spread, and every aggregate with its interval. */
export function Distributions({ aggregates }: { aggregates: Aggregates | null }) {
  if (aggregates === null) return null;
  const found = COUNTS.map(([name, title]) => ({ title, counts: (aggregates[name] ?? {}) as Record<string, number> })).filter(({ counts }) => Object.keys(counts).length > 0);
  if (found.length === 0 && aggregates.aggregates === undefined) return null;
  return (
    <section className="part" aria-labelledby="distributions">
      <h2 id="distributions">Distributions</h2>
      <div className="cards">
        {found.map(({ title, counts }) => (
          <figure className="card" key={title}>
            <figcaption><h3>{title}</h3></figcaption>
            <Bars label={title} bars={Object.entries(counts).map(([name, n]) => ({ name: /^\d/.test(name) ? name : words(name), n }))} />
          </figure>
        ))}
      </div>
      {aggregates.aggregates !== undefined && <AllNumbers aggregates={aggregates.aggregates} intervals={aggregates.intervals ?? {}} />}
    </section>
  );
}

function AllNumbers({ aggregates, intervals }: { aggregates: Record<string, number | null>; intervals: NonNullable<Aggregates["intervals"]> }) {
  return (
    <details className="part-details">
      <summary>All aggregates</summary>
      <div className="table" tabIndex={0} role="region" aria-label="Aggregates">
        <table>
          <thead>
            <tr><th scope="col">Aggregate</th><th scope="col" className="number">Value</th><th scope="col">95 % interval</th><th scope="col" className="number">n</th></tr>
          </thead>
          <tbody>
            {Object.entries(aggregates).map(([name, found]) => {
              const interval = intervals[name];
              return (
                <tr key={name}>
                  <th scope="row">{words(name)}</th>
                  <td className="number">{value(found, kindOf(name))}</td>
                  <td>{interval === undefined ? "" : span(interval.low, interval.high, (x) => value(x, kindOf(name)))}</td>
                  <td className="number">{interval?.n.toLocaleString("en") ?? ""}</td>
                </tr>
              );
            })}
          </tbody>
        </table>
      </div>
    </details>
  );
}
