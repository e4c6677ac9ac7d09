import { scale } from "./scale";

interface Props {
  value: number | null;
  low: number | null;
  high: number | null;
  from?: number;
  to?: number;
  width?: number;
  label: string;
  zero?: boolean; // a line at 0, for differences
}

/** A number and its interval on a line: a stroke that hides nothing of the interval, however short that is. */
export function IntervalBar({ value, low, high, from = 0, to = 1, width = 120, label, zero = false }: Props) {
  const x = scale(from, to, width - 10);
  const at = (one: number) => x.px(one) + 5;
  return (
    <svg className="interval-bar" viewBox={`0 0 ${width} 16`} width={width} height={16} role="img" aria-label={label}>
      <rect className="track" x={0} y={5} width={width} height={6} rx={3} />
      {low !== null && high !== null && <rect className="interval" x={at(low)} y={5} width={Math.max(at(high) - at(low), 1.5)} height={6} />}
      {zero && from < 0 && to > 0 && <line className="limit" x1={at(0)} x2={at(0)} y1={1} y2={15} />}
      {value !== null && <line className="at" x1={at(value)} x2={at(value)} y1={1} y2={15} />}
    </svg>
  );
}
