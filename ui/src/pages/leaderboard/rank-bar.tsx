import type { Place } from "../../api/types";

/** A rank and the ranks it could be, among `n`. */
export function RankBar({ place, n }: { place: Place; n: number }) {
  const width = 160;
  const at = (rank: number) => 8 + (n > 1 ? ((rank - 1) * (width - 16)) / (n - 1) : (width - 16) / 2);
  const text = place.rank_low === null || place.rank_high === null ? "no interval" : place.rank_low === place.rank_high ? `${place.rank_low}` : `${place.rank_low} to ${place.rank_high}`;
  return (
    <span className="rank-bar">
      <svg width={width} height={16} viewBox={`0 0 ${width} 16`} aria-hidden="true">
        <rect className="track" x={0} y={5} width={width} height={6} rx={3} />
        {place.rank_low !== null && place.rank_high !== null && <rect className="interval" x={at(place.rank_low) - 3} y={5} width={at(place.rank_high) - at(place.rank_low) + 6} height={6} rx={3} />}
        <circle className="value" cx={at(place.rank)} cy={8} r={4.5} />
      </svg>
      <span className="small">{text}</span>
    </span>
  );
}
