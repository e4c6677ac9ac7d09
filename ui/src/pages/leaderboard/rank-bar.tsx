import type { Place } from "../../api/types";
import { rankInterval } from "../../format";

const WIDTH = 130;

/** A rank and the ranks it could be, among `n`. */
export function RankBar({ place, n }: { place: Place; n: number }) {
  const at = (rank: number) => 6 + (n > 1 ? ((rank - 1) * (WIDTH - 12)) / (n - 1) : (WIDTH - 12) / 2);
  return (
    <span className="rank-bar">
      <svg width={WIDTH} height={16} viewBox={`0 0 ${WIDTH} 16`} aria-hidden="true">
        <rect className="track" x={0} y={5} width={WIDTH} height={6} rx={3} />
        {place.rank_low !== null && place.rank_high !== null && <rect className="interval" x={at(place.rank_low) - 2} y={5} width={at(place.rank_high) - at(place.rank_low) + 4} height={6} rx={3} />}
        <circle className="value" cx={at(place.rank)} cy={8} r={4} />
      </svg>
      <span className="small">{rankInterval(place)}</span>
    </span>
  );
}
