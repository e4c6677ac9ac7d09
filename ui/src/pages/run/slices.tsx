import type { Aggregates } from "../../api/types";
import { IntervalBar } from "../../charts/interval";
import { value, words } from "../../format";
import { Inline } from "../../text/model-text";

interface SliceLine {
  field: string;
  name: string;
  n: number;
  score: number | null;
  passRate: number | null;
}

/** How the run did by section, category and difficulty. */
export function Slices({ aggregates }: { aggregates: Aggregates | null }) {
  const lines = slicesOf(aggregates);
  if (lines.length === 0) return null;
  const graded = lines.some((line) => line.passRate !== null);
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
              {graded && <th scope="col" className="number">Pass rate</th>}
            </tr>
          </thead>
          <tbody>
            {lines.map((line) => (
              <tr key={`${line.field}/${line.name}`}>
                <th scope="row"><span className="quiet">{words(line.field)}</span> <Inline text={line.name} /></th>
                <td className="number">{line.n.toLocaleString("en")}</td>
                <td className="number">{value(line.score)}</td>
                <td><IntervalBar value={line.score} low={null} high={null} label={`${value(line.score)} of 1`} /></td>
                {graded && <td className="number">{value(line.passRate, "rate")}</td>}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

function slicesOf(found: Aggregates | null): SliceLine[] {
  if (found === null) return [];
  if (found.slices !== undefined) return found.slices.map((one) => ({ field: one.field, name: one.value, n: one.n_scored, score: one.aggregate_score, passRate: one.pass_rate }));
  return (["section", "category", "difficulty"] as const).flatMap((field) => (found[field] ?? []).map((one) => ({ field, name: one.value, n: one.n_scored, score: one.mean, passRate: null })));
}
