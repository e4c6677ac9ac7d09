import type { MouseEvent } from "react";
import type { MetricOption, Pair, RunByMetric } from "../../api/types";
import { ForestAxis, ForestRow } from "../../charts/forest";
import { rankInterval } from "../../format";
import { count, interval, NOTHING, pValue, show, signed, signedInterval } from "../../numbers";
import { DecisionChip, isDecision } from "../../parts/chips";
import { Link } from "../../parts/link";
import { MARKS } from "../../parts/states";
import { runAddress } from "../../router";
import { Inline } from "../../text/model-text";
import { visible } from "../../text/visible";
import type { Contender } from "./contenders";
import { spanOf } from "./metrics";
import { VERDICT_WORDS } from "../../words";
import { letterClass } from "./state";
import { measuredWord } from "./summary";
import { toneOf } from "./difference";

interface Props {
  rows: readonly RunByMetric[];
  contenders: readonly Contender[];
  pairs: readonly Pair[];
  metric: MetricOption;
  a: string;
  b: string;
  why: string; // the baseline is the baseline
  onB: (run: string) => void;
  onBaseline: (run: string) => void;
  onRemove: (run: string) => void;
}

/** Every run by one metric: its own number, how it differs from the baseline's, and its rank. A row is held against it. */
export function ForestTable(props: Props) {
  const { rows, contenders, pairs, metric, a } = props;
  const known = new Map(contenders.map((one) => [one.run, one]));
  const differing = new Map(pairs.map((pair) => [pair.b, pair.measured_differences.map((one) => measuredWord(one.name).toLowerCase())]));
  const differences = rows.flatMap((row) => (row.difference === null ? [] : [{ value: row.difference.difference, low: row.difference.low, high: row.difference.high }]));
  const spans = { value: spanOf(rows, metric.kind === "score"), difference: spanOf([...differences, { value: 0, low: null, high: null }]) };
  const reference = rows.find((row) => row.run === a)?.value ?? null;
  return (
    <div className="forest" role="table" aria-label={`Runs by ${metric.title}`} aria-rowcount={rows.length + 1}>
      <div role="rowgroup">
        <div role="row" className="forest-head">
          <span role="columnheader">Run</span>
          <span role="columnheader">
            {metric.title}, 95 % interval, n
            <ForestAxis span={spans.value} kind={metric.kind} />
          </span>
          <span role="columnheader">
            Difference from A
            {differences.length > 0 && <ForestAxis span={spans.difference} kind={metric.kind} />}
          </span>
          <span role="columnheader">Adjusted p</span>
          <span role="columnheader">It is</span>
          <span role="columnheader">Rank</span>
          <span role="columnheader">Baseline</span>
          <span role="columnheader"><span className="unseen">Take away</span></span>
        </div>
      </div>
      <div role="rowgroup">
        {rows.map((row) => {
          const one = known.get(row.run);
          return one !== undefined && <ForestLine key={row.run} {...props} row={row} one={one} spans={spans} reference={reference} differing={differing.get(row.run) ?? []} canGo={rows.length > 2} />;
        })}
      </div>
    </div>
  );
}

interface LineProps extends Props {
  row: RunByMetric;
  one: Contender;
  spans: { value: readonly [number, number]; difference: readonly [number, number] };
  reference: number | null;
  differing: readonly string[];
  canGo: boolean;
}

function ForestLine({ row, one, metric, a, b, why, spans, reference, differing, canGo, onB, onBaseline, onRemove }: LineProps) {
  const isBaseline = row.run === a;
  const hold = (event: MouseEvent) => {
    if (event.target instanceof Element && event.target.closest("a, button, input, label") !== null) return;
    if (!isBaseline) onB(row.run);
  };
  return (
    // oxlint-disable-next-line jsx-a11y/click-events-have-key-events -- its letter is a button that does the same
    <div role="row" className={`forest-line series-${one.place}${isBaseline ? " baseline" : row.run === b ? " held" : ""}`} onClick={hold}>
      <div role="rowheader" className="forest-name">
        {isBaseline ? <span className={letterClass(one.letter)}>{one.letter}</span> : (
          <button type="button" className={letterClass(one.letter)} aria-pressed={row.run === b} aria-label={`Hold ${one.letter} against A`} onClick={() => onB(row.run)}>
            {one.letter}
          </button>
        )}
        <div className="forest-names">
          <Link to={runAddress(row.run)} className="strong">
            <Inline text={one.name} />
          </Link>
          <span className="small quiet cut" title={visible(row.run)}>
            {one.step !== null && !one.name.includes(String(one.step)) && <>step {count(one.step)} · </>}
            {one.name !== row.run && <Inline text={tail(row.run)} />}
          </span>
          {isDecision(one.row.decision) && <DecisionChip decision={one.row.decision} />}
          {(row.note !== null || differing.length > 0) && (
            <span className="small forest-note">
              {row.note !== null && <Inline text={row.note} />}
              {row.note !== null && differing.length > 0 && "; "}
              {differing.length > 0 && `measured differently: ${differing.join(", ")}`}
            </span>
          )}
        </div>
      </div>
      <div role="cell" className="forest-value">
        <ForestRow value={row.value} low={row.low} high={row.high} span={spans.value} reference={reference} label={`${one.letter} ${show(metric.kind, row.value)}`} />
        <span className="small">
          <strong>{show(metric.kind, row.value)}</strong> {row.value !== null && <span className="quiet">{interval(metric.kind, { low: row.low, high: row.high, confidence: 0, reason: row.reason }, true)}{row.n !== null && `, n ${count(row.n)}`}</span>}
        </span>
      </div>
      <Difference row={row} one={one} metric={metric} span={spans.difference} why={isBaseline ? why : null} />
      <div role="cell" className="forest-p"><span className="narrow-label">adjusted p </span>{isBaseline ? "" : pValue(row.p_holm)}</div>
      <div role="cell" className={`forest-is tone-${toneOf(row.verdict)}`}>{row.verdict !== null && <>{MARKS[toneOf(row.verdict)]} {VERDICT_WORDS[row.verdict]}</>}</div>
      <div role="cell" className="forest-rank"><span className="narrow-label">rank </span>{rank(row)}</div>
      <div role="cell" className="forest-baseline">
        <input type="radio" name="baseline" checked={isBaseline} aria-label={`${visible(one.name)} is the baseline`} onChange={() => onBaseline(row.run)} />
      </div>
      <div role="cell" className="forest-away">
        {canGo && (
          <button type="button" className="plain" aria-label={`Take ${one.letter} away`} onClick={() => onRemove(row.run)}>
            ×
          </button>
        )}
      </div>
    </div>
  );
}

function Difference({ row, one, metric, span, why }: { row: RunByMetric; one: Contender; metric: MetricOption; span: readonly [number, number]; why: string | null }) {
  const found = row.difference;
  if (found === null) return <div role="cell" className="forest-difference small quiet">{why === null ? "not tested" : `the baseline: ${why}`}</div>;
  return (
    <div role="cell" className="forest-difference">
      <ForestRow value={found.difference} low={found.low} high={found.high} span={span} reference={0} label={`${one.letter} − A: ${signed(found.difference, metric.kind)}`} />
      <span className="small">
        <strong>{signed(found.difference, metric.kind)}</strong> <span className="quiet">{signedInterval(found, metric.kind)}{found.n !== row.n && `, n ${count(found.n)}`}</span>
      </span>
    </div>
  );
}

const TAIL = 28;

/** The end of an id that is too long for its place: its beginning is mostly what all runs have. */
const tail = (id: string): string => (id.length > TAIL ? `…${id.slice(-TAIL)}` : id);

/** `2 (1 to 3)`: the rank, and the ranks that are not ruled out. */
function rank(row: RunByMetric): string {
  if (row.rank === null) return NOTHING;
  return row.rank_low === null ? count(row.rank) : `${count(row.rank)} (${rankInterval(row)})`;
}
