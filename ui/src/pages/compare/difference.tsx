import type { Difference } from "../../api/types";
import { IntervalBar } from "../../charts/interval";
import { letterClass } from "./state";
import { counted, pValue, signed, value, words, type Kind } from "../../format";

interface Props {
  title: string;
  found: Difference;
  pHolm?: number | null; // adjusted for the other pairs
  kind?: Kind;
  a: string;
  b: string;
}

/** A score in both runs and the paired difference, with its interval, its n and its p. */
export function DifferenceCard({ title, found, pHolm = null, kind = "score", a, b }: Props) {
  const tone = found.low !== null && found.low > 0 ? "good" : found.high !== null && found.high < 0 ? "bad" : "none";
  const reach = Math.max(Math.abs(found.low ?? 0), Math.abs(found.high ?? 0), Math.abs(found.difference ?? 0), 0.02) * 1.15;
  const share = (x: number | null) => (kind === "rate" ? (x === null ? "–" : `${signed(100 * x, 1)} points`) : signed(x));
  return (
    <div className="card difference">
      <h3>{title}</h3>
      <dl className="means">
        <div>
          <dt>
            <span className={letterClass(a)}>{a}</span>
          </dt>
          <dd>{value(found.mean_a, kind)}</dd>
        </div>
        <div>
          <dt>
            <span className={letterClass(b)}>{b}</span>
          </dt>
          <dd>{value(found.mean_b, kind)}</dd>
        </div>
      </dl>
      <p className={`big tone-${tone}`}>
        {share(found.difference)} <span className="small quiet">{b} − {a}</span>
      </p>
      <IntervalBar value={found.difference} low={found.low} high={found.high} from={-reach} to={reach} width={240} zero label={`Difference ${share(found.difference)}`} />
      <p className="small quiet">
        {found.low === null || found.high === null
          ? `no interval${found.reason ? `: ${words(found.reason).toLowerCase()}` : ""}`
          : `${share(found.low)} to ${share(found.high)} (${Math.round(100 * found.confidence)} % interval)`}
        <br />
        n = {counted(found.n, "item")}: {found.n_won.toLocaleString("en")} up, {found.n_lost.toLocaleString("en")} down
        <br />
        {pValue(found.p)} <span>({words(found.test).toLowerCase()})</span>
        {pHolm !== null && pHolm !== found.p && <>, Holm {pValue(pHolm)}</>}
      </p>
      <p className="small verdict">{verdict(found, a, b)}</p>
    </div>
  );
}

/** What the interval allows to be said, in a sentence. */
export function verdict(found: Difference, a: string, b: string): string {
  if (found.n > 0 && found.n_won === 0 && found.n_lost === 0) return "No item differs in this.";
  if (found.low === null || found.high === null) return "Too little was compared to say.";
  if (found.low > 0) return `${b} is better than ${a} on these items.`;
  if (found.high < 0) return `${b} is worse than ${a} on these items.`;
  return "The difference can't be told from chance.";
}
