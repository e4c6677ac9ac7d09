import { useEffect, useEffectEvent, useLayoutEffect, useMemo, useRef, useState } from "react";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { short } from "../format";
import { aligned, smoothed, thinned, type Line } from "./smooth";

export interface Curve extends Line {
  name: string;
  series: number; // which of the colours and dashes
  isStrong: boolean; // stands out from the others; smoothed, it has what was logged behind it
}

interface Props {
  curves: readonly Curve[];
  smoothing: number;
  axis: "step" | "tokens" | "time";
  label: string;
  range: readonly [number, number] | null;
  across: readonly [number, number] | null; // the ends of the axis
  onRange: (range: [number, number] | null) => void;
}

const DASHES: readonly number[][] = [[], [8, 4], [2, 3], [10, 3, 2, 3], [5, 5], [14, 4], [2, 6], [6, 2]];
const COLOURS = 8;
const DASHED = 3; // more curves are told apart by letters at their ends: dashes of noise are all alike
const BUCKETS = 1_500; // no screen shows more, and 8 x 100,000 points are drawn in a moment

const AXES = { step: "step", tokens: "tokens", time: "seconds since the first point" };

/** Loss curves over one another; dragging over a stretch looks at it more closely. */
export function LossChart({ curves, smoothing, axis, label, range, across, onRange }: Props) {
  const place = useRef<HTMLDivElement>(null);
  const [scheme, setScheme] = useState(0);
  const ranged = useEffectEvent(onRange);

  const logged = useMemo(() => (smoothing > 0 ? curves.filter((curve) => curve.isStrong) : []), [curves, smoothing]);
  const data = useMemo(() => {
    const lines = [...logged, ...curves.map((curve) => ({ x: curve.x, y: smoothed(curve.y, smoothing) }))];
    return aligned(lines.map((line) => thinned(within(line, range), BUCKETS)));
  }, [curves, logged, smoothing, range]);

  useEffect(() => {
    const dark = window.matchMedia("(prefers-color-scheme: dark)");
    const changed = () => setScheme((n) => n + 1);
    dark.addEventListener("change", changed);
    return () => dark.removeEventListener("change", changed);
  }, []);

  useLayoutEffect(() => {
    const element = place.current;
    if (element === null) return;
    const style = getComputedStyle(element);
    const colour = (name: string) => style.getPropertyValue(name).trim();
    const line = { stroke: colour("--quiet"), grid: { stroke: colour("--rule"), width: 1 }, ticks: { stroke: colour("--rule"), width: 1 }, font: `12px ${style.fontFamily}` };
    const plot = new uPlot(
      {
        width: element.clientWidth || 600,
        height: 280,
        legend: { show: true, live: true },
        cursor: { drag: { x: true, y: false }, points: { size: 7 } },
        padding: [8, 16, 0, 0], // the charts above end where this one ends
        scales: { x: { time: false, range: (_, low, high) => (across === null ? [low, high] : [...across]) } },
        axes: [
          { ...line, label: AXES[axis], labelFont: `12px ${style.fontFamily}`, labelSize: 20, values: (_, found) => found.map(short) },
          { ...line, size: 58, values: (_, found) => found.map((one) => Number(one.toPrecision(4)).toString()) },
        ],
        series: [
          { label: axis, value: (_, found) => (found === null ? "–" : found.toLocaleString("en")) },
          ...logged.map((curve) => ({
            label: `${curve.name} as logged`,
            class: "as-logged",
            stroke: `${colour(`--series-${curve.series % COLOURS}`)}40`,
            width: 1,
            spanGaps: false,
            points: { show: false },
          })),
          ...curves.map((curve) => ({
            label: curve.name,
            stroke: `${colour(`--series-${curve.series % COLOURS}`)}${curve.isStrong ? "" : "a0"}`,
            width: curve.isStrong ? 2.25 : 1.25,
            dash: curves.length > DASHED ? [] : DASHES[curve.series % DASHES.length]!,
            spanGaps: false,
            points: { show: curve.x.length < 40 },
            value: (_: uPlot, found: number | null) => (found === null || found === undefined ? "–" : found.toPrecision(5)),
          })),
        ],
        hooks: {
          draw: [(self) => curves.length > DASHED && lettersAtEnds(self, curves, logged.length, style)],
          setSelect: [
            (self) => {
              if (self.select.width < 4) return;
              const ends = [self.select.left, self.select.left + self.select.width].map((px) => self.posToVal(px, "x"));
              self.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
              ranged([ends[0]!, ends[1]!]);
            },
          ],
        },
      },
      data,
      element,
    );
    plot.over.addEventListener("dblclick", () => ranged(null));
    const observer = new ResizeObserver(() => plot.setSize({ width: element.clientWidth, height: 280 }));
    observer.observe(element);
    return () => {
      observer.disconnect();
      plot.destroy();
    };
  }, [data, curves, logged, across, axis, scheme]);

  return <div ref={place} className="plot" role="img" aria-label={label} />;
}

/** Each curve's letter where it ends; `before` series stand before those of the curves. */
function lettersAtEnds(plot: uPlot, curves: readonly Curve[], before: number, style: CSSStyleDeclaration): void {
  const { ctx, data } = plot;
  ctx.save();
  ctx.font = `bold ${12 * devicePixelRatio}px ${style.fontFamily}`;
  ctx.textAlign = "right";
  curves.forEach((curve, place) => {
    const values = data[1 + before + place] ?? [];
    const last = values.findLastIndex((one) => one !== null && one !== undefined);
    if (last < 0) return;
    ctx.fillStyle = style.getPropertyValue(`--series-${curve.series % COLOURS}`).trim();
    ctx.fillText(curve.name, plot.valToPos(data[0][last]!, "x", true), plot.valToPos(values[last]!, "y", true) - 8 * devicePixelRatio);
  });
  ctx.restore();
}

function within(line: Line, range: readonly [number, number] | null): Line {
  if (range === null) return line;
  const keep = line.x.map((x, i) => (x >= range[0] && x <= range[1] ? i : -1)).filter((i) => i >= 0);
  return { x: keep.map((i) => line.x[i]!), y: keep.map((i) => line.y[i] ?? null) };
}
