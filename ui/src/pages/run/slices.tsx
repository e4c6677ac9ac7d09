import type { Aggregates } from "../../api/client";
import { IntervalBar } from "../../charts/interval";
import { words } from "../../format";
import { count, show } from "../../numbers";
import { Inline } from "../../text/model-text";

interface SliceLine {
  field: string;
  name: string | null; // of the items that name none
  n: number;
  score: number | null;
  passRate?: number | null; // of a judged run
  predicted?: number; // of a run of predictions: how many items have one
}

/** How the run did by section, category and difficulty. */
export function Slices({ aggregates }: { aggregates: Aggregates | null }) {
  const lines = slicesOf(aggregates);
  if (lines.length === 0) return null;
  const graded = lines.some((line) => line.passRate !== undefined);
  return (
    <section className="part" aria-labelledby="slices">
      <h2 id="slices">Slices</h2>
      <div className="table" tabIndex={0} role="region" aria-label="Scores by slice">
        <table>
          <thead>
            <tr>
              <th scope="col">Slice</th>
              <th scope="col" className="number">n</th>
              <th scope="col" className="number">Mean score</th>
              <th scope="col"><span className="unseen">Mean score, drawn</span></th>
              <th scope="col" className="number">{graded ? "Pass rate" : "With a prediction"}</th>
            </tr>
          </thead>
          <tbody>
            {lines.map((line) => (
              <tr key={`${line.field}/${line.name ?? ""}`}>
                <th scope="row"><span className="quiet">{words(line.field)}</span> {line.name === null ? <span className="quiet">– (none named)</span> : <Inline text={line.name} />}</th>
                <td className="number">{count(line.n)}</td>
                <td className="number">{show("score", line.score)}</td>
                <td><IntervalBar value={line.score} low={null} high={null} label={`${show("score", line.score)} of 1`} /></td>
                <td className="number">{graded ? show("rate", line.passRate) : count(line.predicted)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

/** A slice for each value. Where no item names one, there is nothing to tell apart. */
export function slicesOf(found: Aggregates | null): SliceLine[] {
  if (found === null) return [];
  if ("slices" in found) return found.slices.map((one) => ({ field: one.field, name: one.value, n: one.n_scored, score: one.aggregate_score, passRate: one.pass_rate }));
  if (!("misses" in found)) return [];
  return (["section", "category", "difficulty"] as const)
    .filter((field) => found[field].some((one) => one.value !== null))
    .flatMap((field) => found[field].map((one) => ({ field, name: one.value, n: one.n_items, score: one.mean, predicted: one.n_scored })));
}
