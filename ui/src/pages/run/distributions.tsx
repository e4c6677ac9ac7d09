import type { Aggregates } from "../../api/client";
import type { AggregatesFile, CriterionOfRun } from "../../api/types";
import { Bars, type Bar } from "../../charts/histogram";
import { aggregate, reasonWords } from "../../format";
import { count, interval, reported, show } from "../../numbers";
import { criterionTitle, scoreWords } from "./criteria";

/** How scores and reasons are spread, and every aggregate with its interval. */
export function Distributions({ aggregates, criteria }: { aggregates: Aggregates | null; criteria: readonly CriterionOfRun[] }) {
  if (aggregates === null) return null;
  const found = barsOf(aggregates, criteria).filter(([, bars]) => bars.length > 0);
  if (found.length === 0 && !("aggregates" in aggregates)) return null;
  return (
    <section className="part" aria-labelledby="distributions">
      <h2 id="distributions">Distributions</h2>
      <div className="cards">
        {found.map(([title, bars]) => (
          <figure className="card" key={title}>
            <figcaption><h3>{title}</h3></figcaption>
            <Bars label={title} bars={bars} />
          </figure>
        ))}
      </div>
      {"aggregates" in aggregates && <AllNumbers file={aggregates} />}
    </section>
  );
}

type Counts = Readonly<Record<string, number>>;
type Figure = readonly [title: string, bars: readonly Bar[]];

function barsOf(found: Aggregates, criteria: readonly CriterionOfRun[]): readonly Figure[] {
  if ("misses" in found) return [["Why items missed", reasonBars(found.misses)]];
  if (!("aggregates" in found)) return [];
  return [...scoreBars(found, criteria), ["Why samples did not pass", reasonBars(found.fail_reasons)]];
}

const reasonBars = (counts: Counts): Bar[] => Object.entries(counts).map(([name, n]) => ({ name: reasonWords(name), n }));

/** How often each score was given, by criterion: a rubric of one's own has others than rubric@v1, `NAME_counts` each. */
function scoreBars(file: AggregatesFile, criteria: readonly CriterionOfRun[]): Figure[] {
  return Object.entries<unknown>({ ...file })
    .filter((entry): entry is [string, Counts] => entry[0].endsWith("_counts") && typeof entry[1] === "object" && entry[1] !== null)
    .map(([key, counts]) => {
      const name = key.slice(0, -"_counts".length);
      return [`${criterionTitle(criteria, name)} scores`, Object.entries(counts).map(([score, n]) => ({ name: scoreWords(criteria, name, Number(score)), n }))];
    });
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
