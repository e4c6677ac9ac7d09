import type { Aggregates } from "../../api/client";
import type { AggregatesFile } from "../../api/types";
import { Bars } from "../../charts/histogram";
import { aggregate, reasonWords, words } from "../../format";
import { count, interval, reported, show } from "../../numbers";

/** How scores and reasons are spread, and every aggregate with its interval. */
export function Distributions({ aggregates }: { aggregates: Aggregates | null }) {
  if (aggregates === null) return null;
  const found = countsOf(aggregates).filter(([, counts]) => Object.keys(counts).length > 0);
  if (found.length === 0 && !("aggregates" in aggregates)) return null;
  return (
    <section className="part" aria-labelledby="distributions">
      <h2 id="distributions">Distributions</h2>
      <div className="cards">
        {found.map(([title, counts]) => (
          <figure className="card" key={title}>
            <figcaption><h3>{title}</h3></figcaption>
            <Bars label={title} bars={Object.entries(counts).map(([name, n]) => ({ name: /^-?\d/.test(name) ? name : reasonWords(name), n }))} />
          </figure>
        ))}
      </div>
      {"aggregates" in aggregates && <AllNumbers file={aggregates} />}
    </section>
  );
}

function countsOf(found: Aggregates): readonly (readonly [string, Readonly<Record<string, number>>])[] {
  if ("misses" in found) return [["Why items missed", found.misses]];
  if (!("aggregates" in found)) return [];
  return [...scoresOf(found), ["Why samples did not pass", found.fail_reasons]];
}

/** How often each score was given, by criterion: a rubric of one's own has others than rubric@v1, `NAME_counts` each. */
function scoresOf(file: AggregatesFile): [string, Readonly<Record<string, number>>][] {
  return Object.entries<unknown>({ ...file })
    .filter((entry): entry is [string, Record<string, number>] => entry[0].endsWith("_counts") && typeof entry[1] === "object" && entry[1] !== null)
    .map(([name, counts]) => [`${words(name.slice(0, -"_counts".length))} scores`, counts]);
}

function AllNumbers({ file }: { file: AggregatesFile }) {
  return (
    <details className="part-details">
      <summary>All aggregates</summary>
      <div className="table" tabIndex={0} role="region" aria-label="Aggregates">
        <table>
          <thead>
            <tr><th scope="col">Aggregate</th><th scope="col" className="number">Value</th><th scope="col">Interval</th><th scope="col" className="number">n</th></tr>
          </thead>
          <tbody>
            {Object.entries<number | null>({ ...file.aggregates }).map(([name, found]) => {
              const [label, kind] = aggregate(name);
              const span = file.intervals[name];
              return (
                <tr key={name}>
                  <th scope="row">{label}</th>
                  <td className="number">{show(kind, reported(kind, found), { unknown: kind === "tokens" ? "not reported" : "nothing was counted" })}</td>
                  <td>{span === undefined ? "" : interval(kind, span)}</td>
                  <td className="number">{span === undefined ? "" : count(span.n)}</td>
                </tr>
              );
            })}
          </tbody>
        </table>
      </div>
    </details>
  );
}
