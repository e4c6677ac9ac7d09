import { useLayoutEffect, useMemo, useState, type ReactNode } from "react";
import { address, ApiError, get } from "../../api/client";
import type { MetricCurve, RunRow } from "../../api/types";
import { counted } from "../../format";
import { Choice } from "../../parts/fields";
import { loaded } from "../../parts/loaded";
import { Loading } from "../../parts/states";
import { useQuery } from "../../router";
import { Inline } from "../../text/model-text";
import { LETTERS } from "./state";

const LossChart = loaded("the chart", () => import("../../charts/loss-chart").then((found) => found.LossChart));
const MOST_POINTS = 4_000; // no screen shows more
const AXES = [
  { value: "step", text: "step" },
  { value: "tokens", text: "tokens" },
  { value: "time", text: "time" },
] as const;

/** The runs' rows, by id. */
type Known = Readonly<Record<string, RunRow>>;

const MANY = 3; // curves from which on noise hides one behind another

/** What is drawn above the loss along the same axis: `places` are where it stands, in steps. */
export interface Beside {
  title: string;
  places: readonly number[];
  chart: (across: readonly [number, number] | null) => ReactNode;
}

interface Props {
  runs: readonly string[];
  known: Known;
  strong?: readonly number[]; // places of the runs whose curves stand out; by default all
  beside?: Beside | undefined;
}

/** The runs' loss curves over one another; a run without one is named. */
export function Loss({ runs, known, strong, beside }: Props) {
  const [query, change] = useQuery();
  const found = useMetrics(runs, known);
  const axis = AXES.find((one) => one.value === query.get("axis"))?.value ?? "step";
  const unasked = runs.length >= MANY ? 0.9 : 0;
  const smoothing = Math.min(Math.max(Number(query.get("smooth") ?? unasked) || 0, 0), 0.99);
  const range = useMemo(() => rangeOf(query.get("zoom")), [query]);

  const { curves, missing } = useMemo(() => {
    const drawnCurves = [];
    const said = [];
    for (const [place, run] of runs.entries()) {
      const metric = found?.[run];
      if (metric === undefined) continue;
      const curve = metric === null ? null : onAxis(metric, axis);
      if (curve === null || curve.x.length === 0) said.push({ run, place, why: metric === null ? "logged no loss" : `logged its loss without ${axis === "time" ? "times" : "token counts"}` });
      else drawnCurves.push({ ...curve, name: LETTERS[place]!, series: place, isStrong: strong?.includes(place) ?? true });
    }
    return { curves: drawnCurves, missing: said };
  }, [runs, found, axis, strong]);
  const across = useMemo(() => range ?? acrossAll(curves, axis === "step" ? (beside?.places ?? []) : []), [range, curves, axis, beside]);

  const thinned = runs.map((run) => found?.[run]).filter((metric) => metric && metric.steps.length < metric.n_points);
  const longest = Math.max(0, ...thinned.map((metric) => metric!.n_points));
  const gaps = runs.map((run) => ({ run, n: found?.[run]?.values.filter((one) => one === null).length ?? 0, again: found?.[run]?.n_replaced ?? 0 }));
  return (
    <section className="part" aria-labelledby="loss">
      <h2 id="loss">{beside?.title ?? "Training loss"}</h2>
      {beside?.chart(axis === "step" ? across : null)}
      {beside !== undefined && curves.length > 0 && <p className="small"><strong>Training loss</strong></p>}
      {found === null && <Loading what="loss curves" />}
      {found !== null && curves.length === 0 && <p className="quiet">{runs.length === 1 ? "This run has no loss curve" : "None of these runs has a loss curve"}{axis === "step" ? "" : ` by ${axis}`}. A curve comes with training metrics: <code>benchbook score … --training-metrics FILE</code>.</p>}
      {(curves.length > 0 || axis !== "step") && (
        <div className="filters">
          <Choice label="Along" value={axis} options={AXES} onChange={(by) => change({ axis: by === "step" ? null : by, zoom: null }, { replace: true })} />
          <div className="field">
            <label htmlFor="smooth">Smoothing {smoothing.toFixed(2)}</label>
            <input id="smooth" type="range" min={0} max={0.99} step={0.01} value={smoothing} onChange={(event) => change({ smooth: Number(event.target.value) === unasked ? null : event.target.value }, { replace: true })} />
          </div>
          <ZoomButtons curves={curves} range={range} onRange={(wanted) => change({ zoom: zoomText(wanted) }, { replace: true })} />
        </div>
      )}
      {curves.length > 0 && (
        <LossChart curves={curves} smoothing={smoothing} axis={axis} range={range} across={across} onRange={(wanted) => change({ zoom: zoomText(wanted) }, { replace: true })}
          label={`Loss by ${axis} of ${curves.map((curve) => curve.name).join(", ")}; ${curves.map((curve) => `${curve.name} ends at ${lastOf(curve.y)}`).join(", ")}`} />
      )}
      {found !== null && (curves.length > 0 || axis !== "step") && (
        <ul className="small quiet said">
          {longest > 0 && <li>Drawn with fewer points than the {counted(longest, "point")} that were logged: of each short stretch the lowest, the highest and a gap, so every spike is there.</li>}
          {missing.map(({ run, place, why }) => (
            <li key={run}>
              <strong>{LETTERS[place]}</strong> <Inline text={run} /> {why}: it has no curve here.
            </li>
          ))}
          {gaps.map(({ run, n, again }, place) => (
            (n > 0 || again > 0) && (
              <li key={run}>
                <strong>{LETTERS[place]}</strong> {n > 0 && `${counted(n, "step")} without a finite value: a gap. `}
                {again > 0 && `${counted(again, "point")} of an earlier start, trained again later, left out.`}
              </li>
            )
          ))}
        </ul>
      )}
    </section>
  );
}

/** The ends of the axis: of all curves, and of what is drawn above them. */
function acrossAll(curves: readonly { x: readonly number[] }[], places: readonly number[]): [number, number] | null {
  const ends = [...curves.flatMap((curve) => [curve.x[0]!, curve.x.at(-1)!]), ...places];
  return ends.length === 0 ? null : [Math.min(...ends), Math.max(...ends)];
}

function ZoomButtons({ curves, range, onRange }: { curves: readonly { x: readonly number[] }[]; range: [number, number] | null; onRange: (range: [number, number] | null) => void }) {
  const low = Math.min(...curves.map((curve) => curve.x[0] ?? 0));
  const high = Math.max(...curves.map((curve) => curve.x.at(-1) ?? 1));
  const [from, to] = range ?? [low, high];
  const width = to - from;
  const shift = (by: number) => onRange([Math.max(from + by * width, low), Math.min(to + by * width, high)]);
  return (
    <div className="actions zoom" role="group" aria-label="Zoom">
      <button type="button" aria-label="Zoom in" onClick={() => onRange([from + width / 4, to - width / 4])}>+</button>
      <button type="button" aria-label="Zoom out" disabled={range === null} onClick={() => onRange(from - width / 2 <= low && to + width / 2 >= high ? null : [Math.max(from - width / 2, low), Math.min(to + width / 2, high)])}>−</button>
      <button type="button" aria-label="Earlier" disabled={range === null || from <= low} onClick={() => shift(-0.5)}>←</button>
      <button type="button" aria-label="Later" disabled={range === null || to >= high} onClick={() => shift(0.5)}>→</button>
      {range !== null && <button type="button" className="plain" onClick={() => onRange(null)}>All</button>}
    </div>
  );
}

const zoomText = (range: readonly [number, number] | null): string | null => (range === null ? null : range.map((one) => Number(one.toPrecision(8))).join("~"));

function rangeOf(text: string | null): [number, number] | null {
  const ends = (text ?? "").split("~").map(Number);
  return ends.length === 2 && ends.every(Number.isFinite) && ends[0]! < ends[1]! ? [ends[0]!, ends[1]!] : null;
}

function lastOf(values: readonly (number | null)[]): string {
  return values.findLast((one) => one !== null)?.toPrecision(4) ?? "no value";
}

/** A metric's points along an axis; those that don't know their place there are left out. */
function onAxis(metric: MetricCurve, axis: "step" | "tokens" | "time"): { x: number[]; y: (number | null)[] } {
  const places: readonly (number | null)[] = axis === "step" ? metric.steps : axis === "tokens" ? metric.tokens : metric.times;
  const keep = places.map((place, i) => (place === null ? -1 : i)).filter((i) => i >= 0);
  const start = axis === "time" ? (places[keep[0] ?? 0] ?? 0) : 0;
  return { x: keep.map((i) => places[i]! - start), y: keep.map((i) => metric.values[i]!) };
}

/** Each run's loss; null for a run that has none. The whole is null until all have answered. */
function useMetrics(runs: readonly string[], known: Known): Record<string, MetricCurve | null> | null {
  const [found, setFound] = useState<Record<string, MetricCurve | null> | null>(null);
  const all = runs.every((run) => known[run] !== undefined);
  const key = all ? runs.map((run) => `${known[run]!.loss === null ? "-" : "+"}${run}`).join("\n") : null;
  useLayoutEffect(() => {
    if (key === null) return;
    if (key.includes("+")) LossChart.preload().catch(() => undefined); // it comes along with the curves; shown, it says what failed
    const abort = new AbortController();
    const asked = key.split("\n").map(async (one) => [one.slice(1), one.startsWith("-") ? null : await lossOf(one.slice(1), abort.signal)] as const);
    Promise.all(asked).then(
      (metrics) => !abort.signal.aborted && setFound(Object.fromEntries(metrics)),
      () => undefined,
    );
    return () => abort.abort();
  }, [key]);
  return found;
}

async function lossOf(run: string, signal: AbortSignal): Promise<MetricCurve | null> {
  try {
    const found = await get(address("/runs/{run_id}/training-metrics", { run_id: run, name: "loss", max_points: MOST_POINTS }), signal);
    return found.curves.find((curve) => curve.name === "loss" && curve.steps.length > 0) ?? null;
  } catch (error) {
    if (error instanceof ApiError) return null;
    throw error;
  }
}
