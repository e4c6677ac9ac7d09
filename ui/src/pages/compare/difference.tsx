import type { Difference } from "../../api/types";
import { IntervalBar } from "../../charts/interval";
import type { Kind } from "../../words";
import { letterClass } from "./state";
import { counted } from "../../format";
import type { Tone } from "../../parts/states";
import { count, limit, show, signed, signedInterval } from "../../numbers";
import { pSentence, verdictSentence } from "../../verdicts";

interface Props {
  title: string;
  kind?: Kind;
  found: Difference;
  a: string;
  b: string;
}

/** A score in both runs and the paired difference, with its interval, its n and its p. */
export function DifferenceCard({ title, kind = "score", found, a, b }: Props) {
  const tone = toneOf(found.verdict);
  const reach = Math.max(Math.abs(found.low ?? 0), Math.abs(found.high ?? 0), Math.abs(found.difference ?? 0), kind === "score" ? 0.02 : 1e-9) * 1.15;
  return (
    <div className="card difference">
      <h3>{title}</h3>
      <dl className="means">
        <div>
          <dt>
            <span className={letterClass(a)}>{a}</span>
          </dt>
          <dd>{show(kind, found.mean_a)}</dd>
        </div>
        <div>
          <dt>
            <span className={letterClass(b)}>{b}</span>
          </dt>
          <dd>{show(kind, found.mean_b)}</dd>
        </div>
      </dl>
      <p className={`big tone-${tone}`}>
        {signed(found.difference, kind)} <span className="small quiet">{b} − {a}</span>
      </p>
      <IntervalBar value={found.difference} low={found.low} high={found.high} from={-reach} to={reach} width={240} zero label={`Difference ${signed(found.difference, kind)}`} />
      <p className="small quiet">
        {signedInterval(found, kind)}{found.low !== null && found.high !== null && ` (${limit("rate", found.confidence)} interval)`}
        <br />
        n = {counted(found.n, "item")}: {count(found.n_lost)} lost, {count(found.n_won)} won
        <br />
        {pSentence(found)}
      </p>
      <p className="small verdict">{verdictSentence(found, b)}</p>
    </div>
  );
}

/** The colour of a verdict; the word beside it says the same. */
export const toneOf = (found: Difference["verdict"] | null): Tone => (found === "better" ? "good" : found === "worse" ? "bad" : "none");
