import { show } from "../numbers";
import type { Kind } from "../words";
import { ticks } from "./scale";

type Span = readonly [low: number, high: number];

const share = (one: number, [low, high]: Span): string => `${((100 * (Math.min(Math.max(one, low), high) - low)) / (high - low || 1)).toFixed(3)}%`;

interface Props {
  value: number | null;
  low: number | null;
  high: number | null;
  span: Span;
  reference: number | null; // the baseline's value, or 0 for differences: a line through every row
  label: string;
}

/** One row of a forest plot, as wide as there is room: an interval with its value as a stroke that hides nothing of it. */
export function ForestRow({ value, low, high, span, reference, label }: Props) {
  const [from, to] = [low ?? span[0], high ?? span[1]]; // an open interval reaches as far as the scale
  return (
    <svg className="forest-row" height={22} role="img" aria-label={label}>
      <line className="rail" x1="0" x2="100%" y1={11} y2={11} />
      {reference !== null && <line className="reference" x1={share(reference, span)} x2={share(reference, span)} y1={0} y2={22} />}
      {(low !== null || high !== null) && <line className="reach" x1={share(from, span)} x2={share(to, span)} y1={11} y2={11} />}
      {value !== null && <line className="at" x1={share(value, span)} x2={share(value, span)} y1={3} y2={19} />}
    </svg>
  );
}

/** The numbers along the rows of a forest plot. */
export function ForestAxis({ span, kind }: { span: Span; kind: Kind }) {
  const found = ticks(span[0], span[1], 4);
  return (
    <svg className="forest-axis" height={16} aria-hidden="true">
      {found.map((one, place) => (
        <text key={one} x={share(one, span)} y={12} className={place === 0 ? "" : place === found.length - 1 ? "end" : "middle"}>
          {tick(kind, one)}
        </text>
      ))}
    </svg>
  );
}

/** A round number is written without the decimals that say nothing. */
export const tick = (kind: Kind, value: number): string => (kind === "rate" || kind === "usd" ? show(kind, value) : Number(value.toPrecision(4)).toLocaleString("en"));
