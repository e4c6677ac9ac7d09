import { useMemo } from "react";
import type { ComparedSet, MetricOption } from "../../api/types";
import type { Contender } from "./contenders";
import { Loss, type Beside } from "./loss";
import { OverTraining } from "./over-training";

interface Props {
  runs: readonly string[];
  contenders: readonly Contender[];
  held: string;
  found: ComparedSet | null;
  option: MetricOption | null;
}

/** Loss curves, and of three runs or more the metrics over the same steps. */
export function Checkpoints({ runs, contenders, held, found, option }: Props) {
  const known = useMemo(() => Object.fromEntries(contenders.map((one) => [one.run, one.row])), [contenders]);
  const steps = contenders.map((one) => one.step);
  const isStepped = steps.every((one) => one !== null) && new Set(steps).size > 1;
  const places = useMemo(() => new Map(contenders.map((one, place) => [one.run, isStepped ? one.step! : place + 1])), [contenders, isStepped]);
  const beside: Beside | undefined = contenders.length < 3 || found === null || option === null ? undefined : {
    title: isStepped ? "Over training" : "One after the other",
    places: isStepped ? [...places.values()] : [],
    chart: (across) => {
      const ends = [...places.values()];
      const own = isStepped && across !== null ? across : ([Math.min(...ends), Math.max(...ends)] as const);
      return (
        <>
          {!isStepped && <p className="small quiet">Not every run tells its training step: they stand in the order of their letters.</p>}
          <OverTraining contenders={contenders} metric={option} options={found.metrics} rows={found.rows} order={found.runs} across={own} places={places} />
        </>
      );
    },
  };
  return <Loss runs={runs} known={known} strong={[0, runs.indexOf(held)]} beside={beside} />;
}
