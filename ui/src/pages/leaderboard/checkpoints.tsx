import type { RunRow } from "../../api/types";
import { scale, ticks } from "../../charts/scale";
import { distinctNames, localTime, modelName, rowInterval } from "../../format";
import { NOTHING, show } from "../../numbers";
import { visible } from "../../text/visible";

const WIDTH = 900;
const HEIGHT = 260;
const LEFT = 52;

/** The runs' scores with their intervals, in the order they were started: a curve over checkpoints. */
export function Checkpoints({ runs, more }: { runs: readonly RunRow[]; more: boolean }) {
  const found = runs.filter((run) => run.primary !== null);
  if (found.length < 2) return null;
  const models = found.map((run) => modelName(run.model_id));
  const names = distinctNames(new Set(models).size === found.length ? models : found.map((run) => run.run_id));
  const lowest = Math.min(...found.map((run) => run.primary_low ?? run.primary!));
  const highest = Math.max(...found.map((run) => run.primary_high ?? run.primary!));
  const pad = Math.max((highest - lowest) * 0.08, 0.01);
  const y = scale(Math.max(lowest - pad, 0), Math.min(highest + pad, 1), HEIGHT - 60);
  const atY = (one: number) => HEIGHT - 45 - y.px(one);
  const x = scale(0, found.length - 1, WIDTH - LEFT - 60);
  const atX = (place: number) => LEFT + 30 + x.px(place);
  const every = Math.ceil(found.length / 8);
  return (
    <section className="part" aria-labelledby="checkpoints">
      <h2 id="checkpoints">Over checkpoints</h2>
      <p className="small quiet">In the order in which the runs were started; each with its own 95 % interval.{more && ` The first ${runs.length} of them; the table above has all.`}</p>
      <div className="chart-scroll" tabIndex={0} role="region" aria-label="Curve over checkpoints">
        <svg className="checkpoints" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={found.map((run, place) => `${visible(names[place]!)} ${show("score", run.primary)}`).join(", ")}>
          {ticks(y.low, y.high, 4).map((one) => (
            <g key={one}>
              <line className="grid" x1={LEFT} x2={WIDTH} y1={atY(one)} y2={atY(one)} />
              <text className="end" x={LEFT - 8} y={atY(one) + 4}>{Number(one.toFixed(4))}</text>
            </g>
          ))}
          <path className="line" d={found.map((run, place) => `${place === 0 ? "M" : "L"}${atX(place)} ${atY(run.primary!)}`).join("")} />
          {found.map((run, place) => (
            <g key={run.run_id}>
              <title>{`${visible(run.run_id)}: ${show("score", run.primary)}, ${rowInterval(run)}, n = ${run.n_scored ?? NOTHING}; ${localTime(run.started_utc)?.text ?? ""}`}</title>
              {run.primary_low !== null && run.primary_high !== null && <line className="whisker" x1={atX(place)} x2={atX(place)} y1={atY(run.primary_low)} y2={atY(run.primary_high)} />}
              <circle className="value" cx={atX(place)} cy={atY(run.primary!)} r={5} />
              {place % every === 0 && <text className={place === found.length - 1 ? "end" : place === 0 ? "" : "middle"} x={place === found.length - 1 ? WIDTH : place === 0 ? LEFT : atX(place)} y={HEIGHT - 14 - (found.length > 4 && (place / every) % 2 === 1 ? 14 : 0)}>{visible(names[place]!).slice(0, 22)}</text>}
            </g>
          ))}
        </svg>
      </div>
    </section>
  );
}
