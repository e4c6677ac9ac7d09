import { useEffect } from "react";
import { address } from "../../api/client";
import type { EvalSetSummary } from "../../api/types";
import { useResource } from "../../api/use-resource";
import { counted } from "../../format";
import { sentence } from "../../numbers";
import { Choice } from "../../parts/fields";
import { Empty, Failed, Loading, Notice } from "../../parts/states";
import { useQuery } from "../../router";
import { Inline } from "../../text/model-text";
import { WARNINGS } from "../../words";
import { Board } from "./board";
import { Checkpoints } from "./checkpoints";

/** Runs over one eval set, and which of them can't be told from the best. */
export default function LeaderboardPage() {
  const [query, change] = useQuery();
  const sets = useResource(address("/evalsets"));
  const evalSet = query.get("eval_set");
  const spec = query.get("spec");
  const sha256 = query.get("spec_sha256");
  const first = sets.data?.evalsets.reduce((most, one) => (one.n_runs > most.n_runs ? one : most), sets.data.evalsets[0]!);
  useEffect(() => {
    if (evalSet === null && first !== undefined) change({ eval_set: first.dataset_sha256, spec: first.spec, spec_sha256: first.spec_sha256 }, { replace: true });
  }, [evalSet, first, change]);
  const board = useResource(evalSet === null || spec === null ? null : address("/leaderboards", { dataset: evalSet, spec, spec_sha256: sha256, metric: query.get("metric") }));
  const runs = useResource(evalSet === null || spec === null ? null : address("/runs", { eval_set: evalSet, spec, spec_sha256: sha256, sort: "started", order: "asc", limit: 200 }));

  if (sets.error !== null) return <Failed error={sets.error} again={sets.again} what="list of eval sets" />;
  if (sets.data === null) return <Loading what="eval sets" />;
  if (sets.data.evalsets.length === 0) return <NoRuns />;
  const options = sets.data.evalsets.map((one) => ({
    value: `${one.dataset_sha256} ${one.spec} ${one.spec_sha256 ?? ""}`,
    text: `${one.dataset_name} · ${called(one, sets.data!.evalsets)} · ${counted(one.n_runs, "run")}`,
  }));
  const chosen = `${evalSet ?? ""} ${spec ?? ""} ${sha256 ?? ""}`;
  return (
    <>
      <div className="page-head">
        <h1>Leaderboard</h1>
      </div>
      <div className="filters">
        <Choice label="Eval set and evaluator" value={options.find((one) => one.value.startsWith(chosen))?.value ?? chosen} options={options} onChange={(found) => {
          const [dataset, name, hash] = found.split(" ");
          change({ eval_set: dataset!, spec: name!, spec_sha256: hash!, metric: null, at: null, pick: null });
        }} />
      </div>
      {board.error !== null && <Failed error={board.error} again={board.again} what="leaderboard" />}
      {board.data === null && board.error === null && <Loading what="the leaderboard" />}
      {board.data !== null && (
        <>
          {board.data.warnings.length > 0 && (
            <Notice tone="doubt" title="Read this first">
              <ul>{board.data.warnings.map((warning) => <li key={warning}><Inline text={sentence(WARNINGS, warning)} /></li>)}</ul>
            </Notice>
          )}
          <Board board={board.data} />
          {runs.data !== null && <Checkpoints runs={runs.data.runs} more={runs.data.next_cursor !== null} />}
        </>
      )}
    </>
  );
}

/** The evaluator by its name; with its hash where another of that name, whose files differ, has runs too. */
function called(one: EvalSetSummary, sets: readonly EvalSetSummary[]): string {
  const hashes = new Set(sets.filter((other) => other.spec === one.spec).map((other) => other.spec_sha256));
  return hashes.size === 1 ? one.spec : `${one.spec} (${(one.spec_sha256 ?? "no hash").slice(0, 8)})`;
}

function NoRuns() {
  return (
    <Empty title="Nothing to rank yet">
      <p>A leaderboard ranks complete runs over the same eval set. Score a second model on one that you have: <code>benchbook score</code>.</p>
    </Empty>
  );
}
