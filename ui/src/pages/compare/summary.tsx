import { address } from "../../api/client";
import type { Difference, MetricOption, Pair } from "../../api/types";
import { useResource } from "../../api/use-resource";
import { counted, words } from "../../format";
import { count, pValue, show, signed, signedInterval } from "../../numbers";
import { Notice } from "../../parts/states";
import { Inline } from "../../text/model-text";
import { adjustment } from "../../verdicts";
import { VERDICT_WORDS, type Kind } from "../../words";
import { DifferenceCard } from "./difference";
import { ForPeople } from "./for-people";
import { leafText } from "./leaves";
import { isOfPair, measuresOf, SCORE } from "./metrics";
import { CLASSES, className } from "./state";

export const measuredWord = (name: string): string => (name === "spec" ? "Evaluator" : words(name));

/** What was measured differs: said before any number. */
export function MeasuredNotice({ pair, a, b }: { pair: Pair; a: string; b: string }) {
  if (pair.measured_differences.length === 0 && pair.unknown_in_both.length === 0) return null;
  return (
    <Notice tone="doubt" title={pair.measured_differences.length > 0 ? "What was measured differs" : "Nobody can tell whether the same was measured"}>
      <ul>
        {pair.measured_differences.map((one) => (
          <li key={one.name}>
            <strong>{measuredWord(one.name)}</strong>
            {one.leaves.slice(0, 3).map((leaf) => (
              <span key={leaf.path}>
                {" "}
                <Inline text={leaf.path} className="mono" />: {a} <Inline text={leafText(leaf.a, leaf.in_a, 60)} />, {b} <Inline text={leafText(leaf.b, leaf.in_b, 60)} />;
              </span>
            ))}
            {one.leaves.length > 3 && ` and ${one.leaves.length - 3} more, under “Metadata”`}
          </li>
        ))}
        {pair.unknown_in_both.length > 0 && <li>Neither run knows its {pair.unknown_in_both.map((name) => measuredWord(name).toLowerCase()).join(", ")}.</li>}
      </ul>
    </Notice>
  );
}

interface ScoresProps {
  pair: Pair;
  metric: MetricOption;
  options: readonly MetricOption[];
  a: string;
  b: string;
  onMetric: (name: string) => void;
}

/** One run against the baseline: the chosen metric first, then the score and all that stands beside it. */
export function Scores({ pair, metric, options, a, b, onMetric }: ScoresProps) {
  const measures = measuresOf(pair);
  const known = new Map(options.map((one) => [one.name, one]));
  const carded = measures.filter((one) => one.name === metric.name || CARDED.has(one.name));
  const cards = carded.toSorted((one, other) => Number(other.name === metric.name) - Number(one.name === metric.name));
  const of = isOfPair(pair, metric.name) ? metric : (known.get(SCORE) ?? metric);
  return (
    <section className="part" aria-labelledby="scores">
      <h2 id="scores">
        {b} against {a}
      </h2>
      <p className="quiet">
        {counted(pair.n_compared, "item")} compared
        {pair.n_left_out > 0 && `, ${count(pair.n_left_out)} left out: in one run only, with another expected answer, or without a score or an answer`}.
        {!metric.by_items && ` “${metric.title}” is a number of each run as a whole, and no test of two runs is known for it: cards and slices are by the score.`}
        {metric.by_items && of !== metric && ` Not both of these runs have “${metric.title}”: cards and slices are by the score.`}
      </p>
      <div className="cards">
        {cards.map(({ name, difference }) => (
          <DifferenceCard key={name} title={known.get(name)?.title ?? name} kind={known.get(name)?.kind ?? "score"} found={difference} a={a} b={b} />
        ))}
        <Classes classes={pair.classes} />
      </div>
      <ForPeople pair={pair} letters={[a, b]} />
      {pair.metrics.length > 0 && <Metrics pair={pair} chosen={metric.name} a={a} b={b} onMetric={onMetric} />}
      <SlicesBy pair={pair} metric={of} a={a} b={b} />
    </section>
  );
}

const CARDED: ReadonlySet<string> = new Set([SCORE, "passing", "contained"]);

/** How many items of each class, as a bar and as a list. */
function Classes({ classes }: { classes: Pair["classes"] }) {
  const found = CLASSES.map((one) => ({ ...one, n: classes[one.name] ?? 0 }));
  const all = Math.max(found.reduce((sum, one) => sum + one.n, 0), 1);
  const before = (place: number) => found.slice(0, place).reduce((sum, one) => sum + one.n, 0);
  return (
    <div className="card classes">
      <h3>Items</h3>
      <svg viewBox="0 0 240 22" className="classes-bar" aria-hidden="true" preserveAspectRatio="none">
        {found.map((one, place) => one.n > 0 && (
          <rect key={one.name} className={className(one.name)} x={(240 * before(place)) / all} width={Math.max((240 * one.n) / all, 1)} height={22} />
        ))}
      </svg>
      <ul>
        {found.filter((one) => one.n > 0).map((one) => (
          <li key={one.name}>
            <span className={`swatch ${className(one.name)}`} aria-hidden="true" />
            {one.text}
            <span className="number">{count(one.n)}</span>
          </li>
        ))}
      </ul>
    </div>
  );
}

/** The columns of a difference between two runs, in a table's head. */
function DifferenceHeads({ a, b }: { a: string; b: string }) {
  return (
    <>
      <th scope="col" className="number">n</th>
      <th scope="col" className="number">{a}</th>
      <th scope="col" className="number">{b}</th>
      <th scope="col" className="number">{b} − {a}</th>
      <th scope="col">95 % interval</th>
      <th scope="col" className="number">p</th>
      <th scope="col">{b} is</th>
    </>
  );
}

function DifferenceCells({ difference, kind }: { difference: Difference; kind: Kind }) {
  return (
    <>
      <td className="number">{count(difference.n)}</td>
      <td className="number">{show(kind, difference.mean_a)}</td>
      <td className="number">{show(kind, difference.mean_b)}</td>
      <td className="number">{signed(difference.difference, kind)}</td>
      <td>{signedInterval(difference, kind)}</td>
      <td className="number">{pValue(difference.p_adjusted)}</td>
      <td>{VERDICT_WORDS[difference.verdict]}</td>
    </>
  );
}

/** What else both runs measured: criteria, checks, latency and tokens. A name makes the page be by it. */
function Metrics({ pair, chosen, a, b, onMetric }: { pair: Pair; chosen: string; a: string; b: string; onMetric: (name: string) => void }) {
  return (
    <div className="table beside-score" tabIndex={0} role="region" aria-label="Differences beside the score">
      <table>
        <caption>Beside the score; p {adjustment(pair.metrics[0]!.difference)}</caption>
        <thead>
          <tr>
            <th scope="col">Measured</th>
            <DifferenceHeads a={a} b={b} />
          </tr>
        </thead>
        <tbody>
          {pair.metrics.map(({ name, title, kind, difference }) => (
            <tr key={name} className={name === chosen ? "chosen" : undefined}>
              <th scope="row">
                <button type="button" className="plain" aria-pressed={name === chosen} onClick={() => onMetric(name === chosen ? SCORE : name)}>
                  <Inline text={title} />
                </button>
              </th>
              <DifferenceCells difference={difference} kind={kind} />
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** The slices by the chosen metric: those of the score came with the pair. */
function SlicesBy({ pair, metric, a, b }: { pair: Pair; metric: MetricOption; a: string; b: string }) {
  const own = metric.name === pair.metric;
  const asked = useResource(own ? null : address("/comparisons", { run: [pair.a, pair.b], metric: metric.name }));
  const slices = own ? pair.slices : (asked.data?.slices ?? []);
  return slices.length > 0 ? <Slices slices={slices} metric={metric} a={a} b={b} /> : null;
}

function Slices({ slices, metric, a, b }: { slices: Pair["slices"]; metric: MetricOption; a: string; b: string }) {
  return (
    <details className="slices">
      <summary>
        {metric.title} by section, category and difficulty <span className="quiet">({counted(slices.length, "slice")}; p {adjustment(slices[0]!.difference)})</span>
      </summary>
      <div className="table" tabIndex={0} role="region" aria-label="Differences by slice">
        <table>
          <thead>
            <tr>
              <th scope="col">Slice</th>
              <DifferenceHeads a={a} b={b} />
            </tr>
          </thead>
          <tbody>
            {slices.map(({ field, value: name, difference }) => (
              <tr key={`${field}/${name}`}>
                <th scope="row">
                  <span className="quiet">{field}</span> <Inline text={name} />
                </th>
                <DifferenceCells difference={difference} kind={metric.kind} />
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </details>
  );
}
