import type { LeagueEntry, ProtocolOfRun } from "../../api/types";
import { count, ruleOutcome, sentence } from "../../numbers";
import { MARKS, type Tone } from "../../parts/states";
import { Inline } from "../../text/model-text";
import { STANDINGS } from "../../words";

const TONES: Readonly<Record<string, Tone>> = { usable: "good", not_usable: "bad", too_few: "doubt" };

/** Which judges can be used, and by which rules not. */
export function League({ league, protocol }: { league: readonly LeagueEntry[]; protocol: ProtocolOfRun }) {
  return (
    <section className="part" aria-labelledby="league">
      <h2 id="league">League</h2>
      <div className="table" tabIndex={0} role="region" aria-label="League of judges">
        <table>
          <thead>
            <tr><th scope="col">Judge</th><th scope="col">Standing</th><th scope="col" className="number">n</th><th scope="col">Rules</th></tr>
          </thead>
          <tbody>
            {league.map((entry) => {
              const tone = TONES[entry.standing] ?? "none";
              return (
                <tr key={entry.judge_model}>
                  <th scope="row"><Inline text={entry.judge_model} /></th>
                  <td><span className={`chip tone-${tone}`}><span className="mark" aria-hidden="true">{MARKS[tone]}</span>{sentence(STANDINGS, entry.standing)}</span></td>
                  <td className="number">{count(entry.n)}</td>
                  <td>
                    <ul className="rules small">
                      {entry.outcomes.map((one) => (
                        <li key={one.rule} className={one.holds === false ? "tone-bad broken" : ""}>
                          <span aria-hidden="true">{one.holds === null ? "?" : one.holds ? "✓" : "✕"}</span> {ruleOutcome(one, protocol.span)}
                          <span className="unseen">{one.holds === null ? " not known" : one.holds ? " holds" : " does not hold"}</span>
                        </li>
                      ))}
                    </ul>
                  </td>
                </tr>
              );
            })}
          </tbody>
        </table>
      </div>
    </section>
  );
}
