import { value as written, type Kind } from "../format";
import { ticks } from "./scale";

interface Props {
  value: number | null;
  low: number | null;
  high: number | null;
  open?: boolean; // the interval has a lower end alone, and reaches as far as the scale
  worst?: number | null;
  best?: number | null;
  limit: number;
  atLeast: boolean;
  kind: Kind;
  label: string;
}

/** A gate on a scale: where the limit is, which side holds, the value with its interval, and worst to best case. */
export function GateScale({ value, low, high, open = false, worst = null, best = null, limit, atLeast, kind, label }: Props) {
  const most = Math.max(limit, value ?? 0, high ?? 0, worst ?? 0);
  const end = kind === "ms" ? 1.25 * most : Math.max(most, 1);
  const share = (one: number) => (100 * Math.min(Math.max(one, 0), end)) / end;
  const at = (one: number) => `${share(one).toFixed(3)}%`;
  const wide = (from: number, to: number) => `${Math.max(share(to) - share(from), 0.3).toFixed(3)}%`;
  const until = high ?? (open && low !== null ? end : null);
  const [zoneFrom, zoneTo] = atLeast ? [limit, end] : [0, limit];
  const mark = `${atLeast ? "≥" : "≤"} ${kind === "score" ? limit.toFixed(2) : kind === "rate" ? `${Number((100 * limit).toFixed(2))} %` : written(limit, kind)}`;
  const side = (one: number) => (share(one) > 88 ? "end" : share(one) < 8 ? "" : "middle");
  return (
    <svg className="gate-scale" height={58} role="img" aria-label={label}>
      <rect className="track" x="0" y={20} width="100%" height={14} />
      <rect className="zone" x={at(zoneFrom)} y={20} width={wide(zoneFrom, zoneTo)} height={14} />
      {low !== null && until !== null && <rect className="interval" x={at(low)} y={23} width={wide(low, until)} height={8} rx={2} />}
      {worst !== null && best !== null && worst !== best && (
        <>
          <line className="range" x1={at(worst)} x2={at(best)} y1={39} y2={39} />
          <line className="range" x1={at(worst)} x2={at(worst)} y1={36} y2={42} />
          <line className="range" x1={at(best)} x2={at(best)} y1={36} y2={42} />
        </>
      )}
      <line className="limit" x1={at(limit)} x2={at(limit)} y1={14} y2={36} />
      <text className={`limit-label ${side(limit)}`} x={at(limit)} y={10}>
        {mark}
      </text>
      {value !== null && <circle className="value" cx={at(value)} cy={27} r={6.5} />}
      {ticks(0, end, 4).map((one) => (
        <text key={one} x={at(one)} y={55} className={side(one)}>
          {kind === "score" ? one.toFixed(2) : kind === "rate" ? `${Math.round(100 * one)} %` : written(one, kind).replace(" ms", "")}
        </text>
      ))}
    </svg>
  );
}
