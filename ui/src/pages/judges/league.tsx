import type { LeagueEntry } from "../../api/types";
import { words } from "../../format";
import type { Tone } from "../../parts/states";
import { Inline } from "../../text/model-text";

const STANDINGS: Record<string, { text: string; tone: Tone; mark: string }> = {
  usable: { text: "Usable", tone: "good", mark: "✓" },
  not_usable: { text: "Not usable", tone: "bad", mark: "✕" },
  too_few: { text: "Too few to say", tone: "doubt", mark: "?" },
};

/** Which judges can be used, and by which rules not. */
export function League({ league }: { league: readonly LeagueEntry[] }) {
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
              const standing = STANDINGS[entry.standing] ?? { text: words(entry.standing), tone: "none", mark: "–" };
              return (
                <tr key={entry.judge_model}>
                  <th scope="row"><Inline text={entry.judge_model} /></th>
                  <td><span className={`chip tone-${standing.tone}`}><span className="mark" aria-hidden="true">{standing.mark}</span>{standing.text}</span></td>
                  <td className="number">{entry.n.toLocaleString("en")}</td>
                  <td>
                    <ul className="rules small">
                      {entry.outcomes.map((one) => (
                        <li key={one.rule} className={one.holds === false ? "tone-bad broken" : ""}>
                          <span aria-hidden="true">{one.holds === null ? "?" : one.holds ? "✓" : "✕"}</span> {words(one.rule)} {one.limit}: {one.found === null ? "not known" : Number(one.found.toFixed(3))}
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
