import type { Difference, Pair } from "../../api/types";
import { counted, words } from "../../format";
import { count, pValue, show, signed, signedInterval } from "../../numbers";
import { Notice } from "../../parts/states";
import { Inline } from "../../text/model-text";
import { adjustment } from "../../verdicts";
import { VERDICT_WORDS, type Kind } from "../../words";
import { DifferenceCard } from "./difference";
import { leafText } from "./leaves";
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

export function Scores({ pair, a, b, title }: { pair: Pair; a: string; b: string; title: string }) {
  return (
    <section className="part" aria-labelledby="scores">
      <h2 id="scores">Score</h2>
      <p className="quiet">
        {counted(pair.n_compared, "item")} compared
        {pair.n_left_out > 0 && `, ${count(pair.n_left_out)} left out: in one run only, with another expected answer, or without a score or an answer`}.
      </p>
      <div className="cards">
        <DifferenceCard title={title} found={pair.score} a={a} b={b} />
        {pair.passing !== null && <DifferenceCard title="Pass rate" found={pair.passing} a={a} b={b} />}
        {pair.containment !== null && (
          <DifferenceCard title="Expected answer stands in the text (diagnosis)" found={pair.containment.difference} a={a} b={b} />
        )}
        <Classes classes={pair.classes} />
      </div>
      {pair.metrics.length > 0 && <Metrics pair={pair} a={a} b={b} />}
      {pair.slices.length > 0 && <Slices pair={pair} a={a} b={b} />}
    </section>
  );
}

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

/** What else both runs measured: criteria, checks, latency and tokens. */
function Metrics({ pair, a, b }: { pair: Pair; a: string; b: string }) {
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
            <tr key={name}>
              <th scope="row"><Inline text={title} /></th>
              <DifferenceCells difference={difference} kind={kind} />
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Slices({ pair, a, b }: { pair: Pair; a: string; b: string }) {
  return (
    <details className="slices">
      <summary>
        By section, category and difficulty <span className="quiet">({counted(pair.slices.length, "slice")}; p {adjustment(pair.slices[0]!.difference)})</span>
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
            {pair.slices.map(({ field, value: name, difference }) => (
              <tr key={`${field}/${name}`}>
                <th scope="row">
                  <span className="quiet">{field}</span> <Inline text={name} />
                </th>
                <DifferenceCells difference={difference} kind="score" />
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </details>
  );
}
