import type { SpanLine, Spans } from "../api/types";
import { limit } from "../numbers";
import { MARKS } from "../parts/states";
import { Inline } from "../text/model-text";
import { ticks } from "./scale";
import { partOf, placeOn } from "./span-places";

const percent = (place: number): string => `${place.toFixed(3)}%`;

/** Values with their intervals below each other on one axis. Each has its words beside it, so that nothing is in the picture alone. */
export function SpansView({ of, level: Heading = "h3" }: { of: Spans; level?: "h3" | "h4" }) {
  return (
    <figure className="spans">
      <figcaption>
        <Heading><Inline text={of.title} /></Heading>
        {of.about !== "" && <p className="small quiet">{of.about}</p>}
      </figcaption>
      <ul>
        {of.lines.map((line, place) => <Line key={place} line={line} of={of} />)}
      </ul>
      <Axis of={of} />
    </figure>
  );
}

function Line({ line, of }: { line: SpanLine; of: Spans }) {
  const good = partOf(of, of.good_from, of.good_to);
  const span = partOf(of, line.low, line.high);
  return (
    <li>
      <span className="span-name"><Inline text={line.name} /></span>
      <svg height={20} aria-hidden="true">
        <rect className="track" x="0" y={4} width="100%" height={12} />
        {good !== null && <rect className="zone" x={percent(good.from)} y={4} width={percent(good.wide)} height={12} />}
        {span !== null && <rect className="interval" x={percent(span.from)} y={6.5} width={percent(span.wide)} height={7} rx={2} />}
        {of.mark !== null && <line className="limit" x1={percent(placeOn(of, of.mark))} x2={percent(placeOn(of, of.mark))} y1={1} y2={19} />}
        {line.value !== null && <rect className="value" x={percent(placeOn(of, line.value))} y={2} width={5} height={16} rx={2.5} transform="translate(-2.5 0)" />}
      </svg>
      <span className="span-words small">
        {line.words}
        {line.state !== "" && (
          <span className={`span-state tone-${line.tone}`}>
            <span aria-hidden="true">{MARKS[line.tone]}</span> {line.state}
          </span>
        )}
      </span>
    </li>
  );
}

/** The numbers along the axis; they only say where on it one is, and are read beside each line. */
function Axis({ of }: { of: Spans }) {
  return (
    <div className="span-axis" aria-hidden="true">
      <svg height={16}>
        {ticks(of.lowest, of.highest, 2).map((one) => {
          const place = placeOn(of, one);
          return <text key={one} x={percent(place)} y={12} className={place > 94 ? "end" : place < 6 ? "" : "middle"}>{tick(of, one)}</text>;
        })}
      </svg>
    </div>
  );
}

function tick({ kind, signed }: Spans, value: number): string {
  const size = limit(kind === "ms" ? "count" : kind, Math.abs(value));
  return value < 0 ? `−${size}` : signed && value > 0 ? `+${size}` : size;
}

/** What the marks of these pictures are. */
export function SpansLegend({ zone = false, mark = null }: { zone?: boolean; mark?: string | null }) {
  return (
    <p className="legend small quiet">
      <span><span className="swatch s-value" /> value</span> <span><span className="swatch s-interval" /> its interval</span>{" "}
      {zone && <span><span className="swatch s-zone" /> as asked</span>} {mark !== null && <span><span className="swatch s-mark" /> {mark}</span>}
    </p>
  );
}
