import type { Gate } from "../api/types";
import { aggregate } from "../format";
import { limit as written } from "../numbers";
import { ticks } from "./scale";

/** A gate on a scale: where the limit is, which side holds, the value with its interval, and worst to best case. */
export function GateScale({ gate, label }: { gate: Gate; label: string }) {
  const { value, worst, best, limit } = gate;
  const low = gate.interval?.low ?? null;
  const high = gate.interval?.high ?? null;
  const [, kind] = aggregate(gate.aggregate);
  const most = Math.max(limit, value ?? 0, high ?? 0, worst ?? 0);
  const end = kind === "ms" ? 1.25 * most : Math.max(most, 1);
  const share = (one: number) => (100 * Math.min(Math.max(one, 0), end)) / end;
  const at = (one: number) => `${share(one).toFixed(3)}%`;
  const wide = (from: number, to: number) => `${Math.max(share(to) - share(from), 0.3).toFixed(3)}%`;
  const [from, until] = [low ?? 0, high ?? end]; // an interval that is open reaches as far as the scale
  const [zoneFrom, zoneTo] = gate.direction === "at_least" ? [limit, end] : [0, limit];
  const side = (one: number) => (share(one) > 88 ? "end" : share(one) < 8 ? "" : "middle");
  return (
    <svg className="gate-scale" height={58} role="img" aria-label={label}>
      <rect className="track" x="0" y={20} width="100%" height={14} />
      <rect className="zone" x={at(zoneFrom)} y={20} width={wide(zoneFrom, zoneTo)} height={14} />
      {(low !== null || high !== null) && <rect className="interval" x={at(from)} y={23} width={wide(from, until)} height={8} rx={2} />}
      {worst !== null && best !== null && worst !== best && (
        <>
          <line className="range" x1={at(worst)} x2={at(best)} y1={39} y2={39} />
          <line className="range" x1={at(worst)} x2={at(worst)} y1={36} y2={42} />
          <line className="range" x1={at(best)} x2={at(best)} y1={36} y2={42} />
        </>
      )}
      <line className="limit" x1={at(limit)} x2={at(limit)} y1={14} y2={36} />
      <text className={`limit-label ${side(limit)}`} x={at(limit)} y={10}>
        {gate.direction === "at_least" ? "≥" : "≤"} {written(kind, limit)}
      </text>
      {value !== null && <circle className="value" cx={at(value)} cy={27} r={6.5} />}
      {ticks(0, end, 4).map((one) => (
        <text key={one} x={at(one)} y={55} className={side(one)}>
          {written(kind === "ms" ? "count" : kind, one)}
        </text>
      ))}
    </svg>
  );
}
