import type { JudgePlace } from "../../api/types";
import { counted } from "../../format";
import { MARKS } from "../../parts/states";
import { Inline } from "../../text/model-text";

/** Which judges can be used, and what each rule found. */
export function League({ league }: { league: readonly JudgePlace[] }) {
  return (
    <section className="part" aria-labelledby="league">
      <h2 id="league">Who can be used</h2>
      <ol className="league">
        {league.map((entry) => (
          <li key={entry.judge} className={`card tone-${entry.tone}`}>
            <h3><Inline text={entry.judge} /></h3>
            <p>
              <span className="chip"><span className="mark" aria-hidden="true">{MARKS[entry.tone]}</span>{entry.standing}</span>{" "}
              <span className="small quiet">{counted(entry.n, "evaluation")} of others' outputs</span>
            </p>
            <ul className="rules small">
              {entry.rules.map((rule) => (
                <li key={rule.text} className={rule.tone === "bad" ? "tone-bad broken" : ""}>
                  <span aria-hidden="true">{rule.tone === "none" ? "?" : MARKS[rule.tone]}</span> {rule.text}
                  <span className="unseen">{rule.tone === "none" ? ", not known" : rule.tone === "good" ? ", holds" : ", does not hold"}</span>
                </li>
              ))}
            </ul>
          </li>
        ))}
      </ol>
    </section>
  );
}
