import { useMemo } from "react";
import { address } from "../../api/client";
import type { MetricOption, RunRow } from "../../api/types";
import { useResource } from "../../api/use-resource";
import { Download } from "../../parts/download";
import { Empty, Failed, Loading } from "../../parts/states";
import { Warnings } from "../../parts/warnings";
import { useQuery } from "../../router";
import { Inline } from "../../text/model-text";
import { visible } from "../../text/visible";
import { BASELINE_RULES } from "../../words";
import { AddRuns } from "./add-runs";
import { Checkpoints } from "./checkpoints";
import { contenders } from "./contenders";
import { Turned } from "./for-people";
import { History } from "./history";
import { Items } from "./items";
import { Metadata } from "./leaves";
import { isOfPair, SCORE } from "./metrics";
import { RunsTogether } from "./runs-together";
import { comparedRuns, heldRuns, LETTERS, MOST_SIDE_BY_SIDE } from "./state";
import { MeasuredNotice, Scores } from "./summary";

/** Two to twenty runs: all of them by one metric, then one against the baseline, in numbers and in items. */
export default function ComparePage() {
  const [query, change] = useQuery();
  // With another filter these are the same runs still: nothing is asked again.
  const key = new URLSearchParams([...query].filter(([name]) => ["run", "baseline", "b"].includes(name))).toString();
  const chosen = useMemo(() => comparedRuns(new URLSearchParams(key)), [key]);
  const metric = query.get("metric") ?? SCORE;
  const info = useResource(chosen.runs.length > 0 ? address("/comparisons/runs", { run: chosen.runs }) : null);
  // What came for other runs is not of these.
  const known = info.data !== null && info.data.runs.length === chosen.runs.length && info.data.runs.every(({ run }) => chosen.runs.includes(run.run_id)) ? info.data : null;
  const { runs, b } = useMemo(() => (known === null || known.runs.length < 2 ? { runs: [], b: "" } : heldRuns(known.runs.map((one) => one.run.run_id), chosen)), [known, chosen]);
  // In their order, whichever is the baseline: so one address has one answer.
  const order = known?.runs.map((one) => one.run.run_id) ?? [];
  const set = useResource(runs.length > 1 ? address("/comparisons/set", { run: order, baseline: runs[0]!, metric }) : null);
  const found = set.data !== null && set.data.baseline === runs[0] && set.data.runs.join("\n") === order.join("\n") ? set.data : null;
  const all = useMemo(() => contenders(runs, known?.runs ?? []), [runs, known]);
  const toRuns = (next: readonly string[], changes = {}) => change({ run: next, b: null, at: null, item: null, ...changes });

  if (chosen.runs.length < 2) return <Choose runs={chosen.runs} rows={known?.runs.map((one) => one.run) ?? []} onRuns={toRuns} />;
  const a = runs[0] ?? "";
  const letters = [LETTERS[0]!, LETTERS[Math.max(runs.indexOf(b), 1)]!] as const;
  const pair = found?.pairs.find((one) => one.b === b) ?? null;
  const option: MetricOption | null = found?.metrics.find((one) => one.name === found.metric) ?? null;
  const hold = (run: string) => change({ baseline: a, b: String(chosen.runs.indexOf(run)), at: null, item: null });
  const onMetric = (name: string) => change({ metric: name === SCORE ? null : name }, { replace: true });
  return (
    <>
      <div className="page-head">
        <h1>Compare</h1>
        <div className="actions">
          {runs.length > 1 && (
            <Download url={address("/comparisons/report.html", { run: runs, baseline: a, metric })} name="Report" />
          )}
        </div>
      </div>
      {info.error !== null && <Failed error={info.error} again={info.again} what="comparison" />}
      {set.error !== null && (
        <>
          <Failed error={set.error} again={set.again} what="comparison" />
          {metric !== SCORE && <button type="button" onClick={() => onMetric(SCORE)}>Show the score</button>}
          <ChosenRuns runs={chosen.runs} onRuns={toRuns} />
        </>
      )}
      {found === null && info.error === null && set.error === null && (
        <div className="waits">
          <Loading what="the comparison" />
        </div>
      )}
      {found !== null && <Turned pairs={found.pairs} lettersOf={(one) => [letters[0], LETTERS[Math.max(runs.indexOf(one.b), 1)]!]} />}
      {pair !== null && (
        <>
          <MeasuredNotice pair={pair} a={letters[0]} b={letters[1]} />
          <Warnings found={pair.notices} />
        </>
      )}
      {found !== null && option !== null && known !== null && (
        <RunsTogether
          found={found}
          option={option}
          contenders={all}
          b={b}
          why={chosen.baseline === null ? BASELINE_RULES[known.baseline_rule] : "chosen"}
          onMetric={onMetric}
          onB={hold}
          onBaseline={(run) => change({ baseline: run, b: run === b ? String(chosen.runs.indexOf(a)) : String(chosen.runs.indexOf(b)), at: null, item: null })}
          onRemove={(run) => toRuns(chosen.runs.filter((one) => one !== run), { baseline: run === a ? null : query.get("baseline") })}
        />
      )}
      {known !== null && (found !== null || set.error !== null) && <AddRuns chosen={known.runs.map((one) => one.run)} runs={chosen.runs} onRuns={(next) => change({ run: next })} />}
      {pair !== null && found !== null && option !== null && (
        <>
          <Scores pair={pair} metric={option} options={found.metrics} a={letters[0]} b={letters[1]} onMetric={onMetric} />
          <Metadata leaves={pair.metadata} a={letters[0]} b={letters[1]} />
        </>
      )}
      {known !== null && runs.length > 1 && <Checkpoints runs={runs} contenders={all} held={b} found={found} option={option} />}
      {runs.length > 1 && set.error === null && (metric === SCORE || option !== null) && <Items runs={runs} a={a} b={b} letters={letters} pair={pair} metric={metric === SCORE || pair === null || !isOfPair(pair, metric) ? "" : metric} />}
      {runs.length > 2 && (runs.length <= MOST_SIDE_BY_SIDE ? <History runs={runs} /> : <p className="part quiet">The way of each item is shown over three to {MOST_SIDE_BY_SIDE} runs, which still have a column each: take some away to see it.</p>)}
    </>
  );
}

/** The runs of a comparison that can't be made: one may be taken away. */
function ChosenRuns({ runs, onRuns }: { runs: readonly string[]; onRuns: (runs: readonly string[]) => void }) {
  return (
    <ul aria-label="Chosen runs">
      {runs.map((run) => (
        <li key={run}>
          <button type="button" className="plain" aria-label={`Take ${visible(run)} away`} onClick={() => onRuns(runs.filter((one) => one !== run))}>
            ×
          </button>{" "}
          <Inline text={run} />
        </li>
      ))}
    </ul>
  );
}

interface ChooseProps {
  runs: readonly string[];
  rows: readonly RunRow[];
  onRuns: (runs: readonly string[]) => void;
}

/** Fewer than two runs can't be compared: which are meant is chosen here. */
function Choose({ runs, rows, onRuns }: ChooseProps) {
  return (
    <>
      <div className="page-head">
        <h1>Compare</h1>
      </div>
      <Empty title="Choose runs to compare">
        <p>{runs.length === 1 ? "One is chosen; choose another." : "Choose two or more, here or in the list of runs."}</p>
      </Empty>
      <AddRuns chosen={rows} runs={runs} onRuns={onRuns} />
    </>
  );
}
