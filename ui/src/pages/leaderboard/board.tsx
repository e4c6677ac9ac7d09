import { MOST_RUNS } from "../compare/state";
import { useMemo, useRef } from "react";
import type { Apart, CorrectedScore, Place, RankedRuns, RankMetric } from "../../api/types";
import { counted, modelName, rankInterval } from "../../format";
import { count, interval, limit, NOTHING, pValue, sentence, show } from "../../numbers";
import { Choice, SearchField } from "../../parts/fields";
import { Link } from "../../parts/link";
import { useKeys } from "../../parts/use-keys";
import { useMedia } from "../../parts/use-media";
import { VirtualRows } from "../../parts/virtual-rows";
import { compareAddress, navigate, placeOf, runAddress, useQuery } from "../../router";
import { Inline } from "../../text/model-text";
import { rankWords } from "../../verdicts";
import { BEST, REASONS } from "../../words";
import { listed, ORDERS, type Entry } from "./entries";
import { RankBar } from "./rank-bar";

const narrowColumns = (mean: string) => [{ name: "Pick" }, { name: "Rank", className: "number" }, { name: "Run" }, { name: mean, className: "number" }];
const wideColumns = (mean: string, people: boolean) => [...narrowColumns(mean), ...(people ? [{ name: "For people", className: "number" }] : []), { name: "Rank interval" }, { name: "p (Holm)", className: "number" }, { name: "Is" }];
const ignore = () => undefined; // all rows are at hand

/** All runs of a leaderboard: searched, put in order, and chosen to be compared. */
export function Board({ board }: { board: RankedRuns }) {
  const [query, change] = useQuery();
  const search = useRef<HTMLInputElement>(null);
  const narrow = useMedia("(max-width: 46rem)");
  const text = query.get("text") ?? "";
  const order = ORDERS.some((one) => one.value === query.get("order")) ? query.get("order")! : "";
  const found = useMemo(() => listed(board, text, order), [board, text, order]);
  const chosen = query.getAll("pick");
  const people = board.as_people_would_judge?.scores ?? [];
  const metric = board.metrics.find((one) => one.name === board.metric);
  const mean = board.metric === "score" ? "Score" : "Mean";
  const pick = (run: string, picked: boolean) => change({ pick: picked ? [...chosen, run].slice(0, MOST_RUNS) : chosen.filter((one) => one !== run) }, { replace: true });
  const selected = placeOf(query.get("at"));
  const at = selected === null ? undefined : found[selected]?.run;
  useKeys({ "/": () => search.current?.focus(), x: () => at !== undefined && (chosen.includes(at) || chosen.length < MOST_RUNS) && pick(at, !chosen.includes(at)) });
  return (
    <section className={`board${people.length > 0 ? " for-people" : ""}`} aria-label="Ranks">
      <Best board={board} />
      <p className="small quiet">
        {counted(board.places.length, "run")} ranked over {counted(board.n_items, "item")} that each of them has a score for{board.n_left_out > 0 && `, ${counted(board.n_left_out, "other")} left out`}
        {board.apart.length > 0 && `; ${counted(board.apart.length, "run")} not ranked`}. Rank intervals hold all at once with {limit("rate", board.confidence)} confidence; p is against the best, adjusted for all {count(board.n_pairs)} pairs of runs.
      </p>
      {board.as_people_would_judge?.notes.map((note) => <p key={note} className="small quiet"><Inline text={note} /></p>)}
      <form className="filters" role="search" aria-label="Leaderboard" onSubmit={(event) => event.preventDefault()}>
        <SearchField label="Search (press /)" inputRef={search} value={text} placeholder="run, model" onChange={(wanted) => change({ text: wanted, at: null }, { replace: true })} />
        {board.metrics.length > 1 && <Choice label="Ranked by" value={board.metric} options={board.metrics.map((one) => ({ value: one.name, text: one.title }))} onChange={(name) => change({ metric: name === "score" ? null : name, at: null })} />}
        <Choice label="Order" value={order} options={ORDERS} onChange={(by) => change({ order: by, at: null })} />
        <Chosen chosen={chosen} best={board.places.filter((place) => place.among_best)} onClear={() => change({ pick: null }, { replace: true })} />
      </form>
      <p className="small quiet keys"><kbd>j</kbd> <kbd>k</kbd> move, <kbd>x</kbd> picks, <kbd>Enter</kbd> opens, <kbd>/</kbd> searches</p>
      <p className="small quiet" role="status">{found.length < board.places.length + board.apart.length ? `${count(found.length)} fit` : ""}</p>
      {found.length === 0 ? (
        <p className="nothing">No run fits. Search for less.</p>
      ) : (
        <VirtualRows
          key={`${text} ${order}`}
          label="Leaderboard"
          columns={narrow ? narrowColumns(mean) : wideColumns(mean, people.length > 0)}
          count={found.length}
          rowPx={narrow ? 84 : 56}
          selected={selected}
          onSelect={(row) => change({ at: String(row) }, { replace: true })}
          onOpen={(row) => navigate(runAddress(found[row]!.run))}
          onShown={ignore}
          row={(row) => <Cells found={found[row]!} kind={metric?.kind ?? "score"} n={board.places.length} people={people.length > 0 ? (people.find((one) => one.run === found[row]!.run) ?? null) : undefined} narrow={narrow} chosen={chosen} onPick={pick} />}
        />
      )}
    </section>
  );
}

/** Which run is the best, or how many may be: the first three by name. */
function Best({ board }: { board: RankedRuns }) {
  if (board.best === null) return null;
  const best = board.places.filter((place) => place.among_best);
  const [before = "", after = ""] = BEST[board.best].replace("{reason}", () => sentence(REASONS, board.reason ?? "")).split("{runs}");
  return (
    <p className="strong">
      {before}
      {BEST[board.best].includes("{runs}") && best.slice(0, 3).map((place, at) => (
        <span key={place.run}>{at > 0 && ", "}<Inline text={place.run} /></span>
      ))}
      {BEST[board.best].includes("{runs}") && best.length > 3 && ` and ${count(best.length - 3)} more`}
      {after}
    </p>
  );
}

function Chosen({ chosen, best, onClear }: { chosen: readonly string[]; best: readonly Place[]; onClear: () => void }) {
  if (chosen.length === 0 && best.length >= 2 && best.length <= MOST_RUNS) {
    return <div className="actions"><Link to={compareAddress(best.map((place) => place.run))} className="button">Compare those that may be the best</Link></div>;
  }
  return (
    <div className="actions">
      <span className="quiet" role="status">{chosen.length === 0 ? "Choose two or more to compare." : `${chosen.length} chosen`}</span>
      {chosen.length > 0 && <button type="button" className="plain" onClick={onClear}>Clear</button>}
      {chosen.length >= 2 && <Link to={compareAddress(chosen)} className="button primary">{`Compare ${chosen.length} runs`}</Link>}
    </div>
  );
}

interface CellsProps {
  found: Entry;
  kind: RankMetric["kind"];
  n: number;
  people: CorrectedScore | null | undefined; // null: none of its answers is labelled; undefined: none of any run's
  narrow: boolean;
  chosen: readonly string[];
  onPick: (run: string, picked: boolean) => void;
}

function Cells({ found, kind, n, people, narrow, chosen, onPick }: CellsProps) {
  const picked = chosen.includes(found.run);
  const ranked = "rank" in found ? found : null;
  return (
    <>
      <div role="gridcell">
        <input type="checkbox" aria-label={`Compare ${found.run}`} checked={picked} disabled={!picked && chosen.length >= MOST_RUNS} onChange={(event) => onPick(found.run, event.target.checked)} />
      </div>
      <div role="gridcell" className="number rank">{ranked === null ? NOTHING : count(ranked.rank)}</div>
      <div role="gridcell">
        <Link to={runAddress(found.run)} className="name"><Inline text={modelName(found.model)} /></Link>
        <span className="small quiet name"><Inline text={found.run} /></span>
        {narrow && <Is found={found} />}
      </div>
      <div role="gridcell" className="number">
        {show(kind, found.score)}
        {narrow && people && <div className="small">people {show(kind, people.value)}</div>}
        {narrow && <div className="small quiet">{ranked !== null && rankInterval(ranked)}</div>}
      </div>
      {!narrow && people !== undefined && (
        <div role="gridcell" className="number">
          {people === null ? <span className="quiet">{NOTHING}</span> : show(kind, people.value)}
          {people !== null && <div className="small quiet">{interval(kind, people, true)}</div>}
        </div>
      )}
      {!narrow && (
        <>
          <div role="gridcell">{ranked === null ? <span className="small quiet">{NOTHING}</span> : <RankBar place={ranked} n={n} />}</div>
          <div role="gridcell" className="number">{pValue(ranked?.p_against_best ?? null)}</div>
          <div role="gridcell"><Is found={found} /></div>
        </>
      )}
    </>
  );
}

function Is({ found }: { found: Place | Apart }) {
  return <span className="small col-is"><Inline text={rankWords(found)} /></span>;
}
