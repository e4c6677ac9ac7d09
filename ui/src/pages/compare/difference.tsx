import type { Difference } from "../../api/types";
import { IntervalBar } from "../../charts/interval";
import { letterClass } from "./state";
import { counted } from "../../format";
import { count, limit, show, signed, signedInterval } from "../../numbers";
import { pSentence, verdictSentence } from "../../verdicts";

interface Props {
  title: string;
  found: Difference;
  a: string;
  b: string;
}

/** A score in both runs and the paired difference, with its interval, its n and its p. */
export function DifferenceCard({ title, found, a, b }: Props) {
  const tone = found.verdict === "better" ? "good" : found.verdict === "worse" ? "bad" : "none";
  const reach = Math.max(Math.abs(found.low ?? 0), Math.abs(found.high ?? 0), Math.abs(found.difference ?? 0), 0.02) * 1.15;
  return (
    <div className="card difference">
      <h3>{title}</h3>
      <dl className="means">
        <div>
          <dt>
            <span className={letterClass(a)}>{a}</span>
          </dt>
          <dd>{show("score", found.mean_a)}</dd>
        </div>
        <div>
          <dt>
            <span className={letterClass(b)}>{b}</span>
          </dt>
          <dd>{show("score", found.mean_b)}</dd>
        </div>
      </dl>
      <p className={`big tone-${tone}`}>
        {signed(found.difference)} <span className="small quiet">{b} − {a}</span>
      </p>
      <IntervalBar value={found.difference} low={found.low} high={found.high} from={-reach} to={reach} width={240} zero label={`Difference ${signed(found.difference)}`} />
      <p className="small quiet">
        {signedInterval(found)}{found.low !== null && found.high !== null && ` (${limit("rate", found.confidence)} interval)`}
        <br />
        n = {counted(found.n, "item")}: {count(found.n_lost)} lost, {count(found.n_won)} won
        <br />
        {pSentence(found)}
      </p>
      <p className="small verdict">{verdictSentence(found, b)}</p>
    </div>
  );
}
