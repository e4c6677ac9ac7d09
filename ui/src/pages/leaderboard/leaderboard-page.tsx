import { useEffect } from "react";
import { address } from "../../api/client";
import type { EvalSetSummary, Leaderboard } from "../../api/types";
import { useResource } from "../../api/use-resource";
import { counted, modelName } from "../../format";
import { count, limit, pEquals, sentence, show } from "../../numbers";
import { Choice } from "../../parts/fields";
import { Link } from "../../parts/link";
import { Empty, Failed, Loading, Notice } from "../../parts/states";
import { compareAddress, runAddress, useQuery } from "../../router";
import { Inline } from "../../text/model-text";
import { WARNINGS } from "../../words";
import { Checkpoints } from "./checkpoints";
import { RankBar } from "./rank-bar";

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
  const board = useResource(evalSet === null || spec === null ? null : address("/leaderboards", { dataset: evalSet, spec, spec_sha256: sha256 }));
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
          change({ eval_set: dataset!, spec: name!, spec_sha256: hash! });
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
          {runs.data !== null && <Checkpoints runs={runs.data.runs} />}
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

function Board({ board }: { board: Leaderboard }) {
  const n = board.places.length;
  const best = board.places.filter((place) => place.among_best);
  return (
    <section aria-label="Ranks">
      <p className="quiet">
        {counted(board.n_items, "item")} that every run has a score for{board.n_left_out > 0 && `, ${counted(board.n_left_out, "other")} left out`}.{" "}
        {best.length === 1 ? "One run is the best." : `${best.length} runs can't be told from the best.`} {limit("rate", board.confidence)} rank intervals.
      </p>
      {best.length > 1 && best.length <= 8 && <p className="actions"><Link to={compareAddress(best.map((place) => place.run))} className="button">Compare these {best.length}</Link></p>}
      <div className="table board" tabIndex={0} role="region" aria-label="Leaderboard">
        <table>
          <thead>
            <tr>
              <th scope="col" className="number">Rank</th>
              <th scope="col">Run</th>
              <th scope="col" className="number">Score</th>
              <th scope="col">Rank interval</th>
              <th scope="col">Against the best</th>
            </tr>
          </thead>
          <tbody>
            {board.places.map((place) => (
              <tr key={place.run} className={place.among_best ? "among-best" : undefined}>
                <td className="number rank">{place.rank}</td>
                <th scope="row">
                  <Link to={runAddress(place.run)}><Inline text={modelName(place.model)} /></Link>
                  <div className="small quiet"><Inline text={place.run} /></div>
                </th>
                <td className="number">{show("score", place.score)}<div className="small quiet">n = {count(board.n_items)}</div></td>
                <td><RankBar place={place} n={n} /></td>
                <td>{place.p_against_best === null ? (place.rank === 1 ? "best" : "–") : <>{place.among_best ? "can't be told apart" : "worse"} <span className="small quiet">{pEquals(place.p_against_best)} (Holm)</span></>}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

function NoRuns() {
  return (
    <Empty title="Nothing to rank yet">
      <p>A leaderboard ranks complete runs over the same eval set. Score a second model on one that you have: <code>benchbook score</code>.</p>
    </Empty>
  );
}
