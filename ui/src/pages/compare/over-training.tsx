import { address } from "../../api/client";
import type { MetricOption, RunByMetric } from "../../api/types";
import { useResource } from "../../api/use-resource";
import { StepChart, type StepPoint } from "../../charts/steps";
import { count, interval, show } from "../../numbers";
import { useQuery } from "../../router";
import { visible } from "../../text/visible";
import type { Contender } from "./contenders";
import { spanOf } from "./metrics";

const MOST = 6;

interface Props {
  contenders: readonly Contender[];
  metric: MetricOption;
  options: readonly MetricOption[];
  rows: readonly RunByMetric[];
  order: readonly string[]; // of the runs, as they are asked for
  across: readonly [number, number];
  places: ReadonlyMap<string, number>; // where each run stands along the axis
}

/** The chosen metrics over checkpoints, one chart each, along the axis of the loss. */
export function OverTraining({ contenders, metric, options, rows, order, across, places }: Props) {
  const [query, change] = useQuery();
  const others = options.filter((one) => one.name !== metric.name && query.getAll("over").includes(one.name)).slice(0, MOST - 1);
  const toggle = (name: string, on: boolean) => change({ over: on ? [...others.map((one) => one.name), name] : others.map((one) => one.name).filter((one) => one !== name) }, { replace: true });
  return (
    <>
      <details className="over-choice">
        <summary>
          Metrics over training <span className="quiet">({[metric, ...others].map((one) => one.title).join(", ")})</span>
        </summary>
        <div className="class-buttons" role="group" aria-label="Metrics over training">
          {options.filter((one) => one.name !== metric.name).map((one) => {
            const on = others.some((other) => other.name === one.name);
            return (
              <button key={one.name} type="button" aria-pressed={on} disabled={!on && others.length >= MOST - 1} onClick={() => toggle(one.name, !on)}>
                {one.title}
              </button>
            );
          })}
        </div>
      </details>
      <Chart option={metric} rows={rows} contenders={contenders} across={across} places={places} />
      {others.map((one) => (
        <Asked key={one.name} option={one} order={order} contenders={contenders} across={across} places={places} />
      ))}
    </>
  );
}

type ChartProps = Pick<Props, "contenders" | "across" | "places"> & { option: MetricOption; rows: readonly RunByMetric[] | null };

/** Another metric than the one that the page is by. */
function Asked(props: Omit<ChartProps, "rows"> & { order: readonly string[] }) {
  const { data } = useResource(address("/comparisons/set", { run: props.order, baseline: props.contenders[0]!.run, metric: props.option.name }));
  return <Chart {...props} rows={data?.rows ?? null} />;
}

function Chart({ option, rows, contenders, across, places }: ChartProps) {
  const known = new Map(rows?.map((row) => [row.run, row]));
  const points: StepPoint[] = contenders.flatMap(({ run, letter, place, name }) => {
    const row = known.get(run);
    const x = places.get(run);
    if (row === undefined || row.value === null || x === undefined) return [];
    const { value, low, high } = row;
    const label = `${letter} ${visible(name)}, ${count(x)}: ${show(option.kind, value)}, ${interval(option.kind, { low, high, confidence: 0, reason: row.reason }, true)}`;
    return [{ x, value, low, high, letter, place, label }];
  });
  const sorted = points.toSorted((one, other) => one.x - other.x);
  return (
    <figure className="over-training">
      <figcaption className="small">
        <strong>{option.title}</strong>
        {option.higher_is_better === false && <span className="quiet"> · lower is better</span>}
      </figcaption>
      <StepChart points={sorted} across={across} span={spanOf(points, option.kind === "score")} kind={option.kind} label={`${option.title}: ${sorted.map((one) => `${one.letter} ${show(option.kind, one.value)}`).join(", ")}`} />
    </figure>
  );
}
