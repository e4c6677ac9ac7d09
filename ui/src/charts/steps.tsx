import type { Kind } from "../words";
import { tick } from "./forest";
import { scale, ticks } from "./scale";

export interface StepPoint {
  x: number;
  value: number;
  low: number | null;
  high: number | null;
  letter: string;
  place: number; // its colour
  label: string;
}

interface Props {
  points: readonly StepPoint[]; // from the first on
  across: readonly [number, number];
  span: readonly [number, number];
  kind: Kind;
  label: string;
}

const HEIGHT = 130;
const TOP = 18;

/** A metric over checkpoints, each with its interval, drawn to the edges of the loss chart below it. */
export function StepChart({ points, across, span, kind, label }: Props) {
  const y = scale(span[0], span[1], HEIGHT - TOP - 10);
  const atY = (one: number) => HEIGHT - 10 - y.px(one);
  const x = scale(across[0], across[1], 1000);
  const atX = (one: number) => `${(x.px(one) / 10).toFixed(3)}%`;
  const inside = points.filter((one) => one.x >= across[0] && one.x <= across[1]);
  const path = inside.map((one, place) => `${place === 0 ? "M" : "L"}${x.px(one.x).toFixed(1)} ${atY(one.value).toFixed(1)}`).join("");
  return (
    <div className="step-chart">
      <svg height={HEIGHT} role="img" aria-label={label}>
        {ticks(y.low, y.high, 4).map((one) => (
          <g key={one}>
            <line className="grid" x1="0" x2="100%" y1={atY(one)} y2={atY(one)} />
            <text className="end" x={-8} y={atY(one) + 4}>{tick(kind, one)}</text>
          </g>
        ))}
        <svg viewBox={`0 0 1000 ${HEIGHT}`} preserveAspectRatio="none" width="100%" height={HEIGHT}>
          <path className="line" d={path} vectorEffect="non-scaling-stroke" />
        </svg>
        {inside.map((one) => (
          <g key={one.letter} className={`series-${one.place}`}>
            <title>{one.label}</title>
            {one.low !== null && one.high !== null && <line className="whisker" x1={atX(one.x)} x2={atX(one.x)} y1={atY(one.low)} y2={atY(one.high)} />}
            <circle className="dot" cx={atX(one.x)} cy={atY(one.value)} r={4} />
            <text className="middle" x={atX(one.x)} y={11}>{one.letter}</text>
          </g>
        ))}
      </svg>
    </div>
  );
}
