import { address } from "../../api/client";
import type { Interval, RunSlice } from "../../api/types";
import { useResource } from "../../api/use-resource";
import { IntervalBar } from "../../charts/interval";
import { words } from "../../format";
import { count, interval, limit, show } from "../../numbers";
import { Failed } from "../../parts/states";
import { Inline } from "../../text/model-text";

/** How the run did by section, category and difficulty, each with its n and its interval. */
export function Slices({ id }: { id: string }) {
  const found = useResource(address("/runs/{run_id}/slices", { run_id: id }));
  if (found.error !== null) return <Failed error={found.error} again={found.again} what="slices" />;
  if (found.data === null || found.data.slices.length === 0) return null;
  const { slices, is_graded: graded, confidence } = found.data;
  const lacking = slices.some((one) => one.n_unanswered > 0);
  return (
    <section className="part" aria-labelledby="slices">
      <h2 id="slices">Slices</h2>
      <p className="small quiet">Each with its own {limit("rate", confidence)} interval; n are the samples that a number is of.</p>
      <div className="table" tabIndex={0} role="region" aria-label="Scores by slice">
        <table className="slices">
          <thead>
            <tr>
              <th scope="col">Slice</th>
              <th scope="col" className="number">{graded ? "Mean score" : "Score"}</th>
              <th scope="col" className="number">n</th>
              <th scope="col">Its interval</th>
              {graded && <th scope="col" className="number">Pass</th>}
              {graded && <th scope="col">Interval of the pass rate</th>}
              {lacking && <th scope="col" className="number">Not answered</th>}
            </tr>
          </thead>
          <tbody>
            {slices.map((one) => (
              <tr key={`${one.field}/${one.value ?? ""}`}>
                <th scope="row"><span className="quiet">{words(one.field)}</span> {one.value === null ? <span className="quiet">– (none named)</span> : <Inline text={one.value} />}</th>
                <td className="number">{show("score", one.score)}</td>
                <td className="number">{count(one.n_scored)}</td>
                <td><Drawn value={one.score} found={one.score_interval} kind="score" /></td>
                {graded && <td className="number">{passes(one)}</td>}
                {graded && <td><Drawn value={one.pass_rate} found={one.pass_interval} kind="rate" /></td>}
                {lacking && <td className="number">{count(one.n_unanswered)}</td>}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

/** `33.3 %, 2 of 6`: a share with what it is a share of. */
export const passes = ({ pass_rate: rate, n_passed: k, n_samples: n }: Pick<RunSlice, "pass_rate" | "n_passed" | "n_samples">): string => (rate === null ? show("rate", rate) : `${show("rate", rate)}, ${count(k)} of ${count(n)}`);

function Drawn({ value, found, kind }: { value: number | null; found: Interval | null; kind: "score" | "rate" }) {
  return (
    <span className="drawn">
      <IntervalBar value={value} low={found?.low ?? null} high={found?.high ?? null} label={`${show(kind, value)} of ${show(kind, 1)}`} />
      <span className="small">{interval(kind, found, true)}</span>
    </span>
  );
}
