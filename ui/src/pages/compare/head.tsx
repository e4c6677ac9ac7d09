import { distinctNames, modelName } from "../../format";
import { Link } from "../../parts/link";
import { compareAddress, runAddress } from "../../router";
import { Inline } from "../../text/model-text";
import type { Known } from "./use-run-rows";
import { LETTERS } from "./state";
import { DecisionChip, isDecision } from "../../parts/chips";

interface Props {
  runs: readonly string[];
  known: Known;
  b: number;
  onB: (place: number) => void;
  onRuns: (runs: readonly string[], b: number) => void;
}

/** Which runs are compared, by letter; which of them is held against the first. */
export function CompareHead({ runs, known, b, onB, onRuns }: Props) {
  const names = distinctNames(runs);
  const without = (place: number) => {
    const left = runs.filter((_, i) => i !== place);
    onRuns(left, 1);
  };
  return (
    <ul className="compared" aria-label="Compared runs">
      {runs.map((run, place) => (
        <li key={run} className={`compared-run series-${place}${place === 0 || place === b ? " held" : ""}`}>
          <span className={`letter series-${place}`}>{LETTERS[place]}</span>
          <div className="compared-name">
            <Link to={runAddress(run)} className="strong">
              <Inline text={known[run] ? modelName(known[run].model_id) : names[place]!} />
            </Link>
            <div className="small quiet">
              <Inline text={run} />
            </div>
            {isDecision(known[run]?.decision) && <DecisionChip decision={known[run]?.decision} />}
          </div>
          <div className="compared-acts">
            {place === 0 ? (
              <span className="small quiet">baseline</span>
            ) : (
              <>
                {runs.length > 2 && (
                  <button type="button" className="small" aria-pressed={place === b} onClick={() => onB(place)}>
                    against A
                  </button>
                )}
                <button type="button" className="small" onClick={() => onRuns([run, ...runs.filter((one) => one !== run)], 1)}>
                  {runs.length === 2 ? "Swap" : "Make baseline"}
                </button>
              </>
            )}
            {runs.length > 2 && (
              <button type="button" className="small" aria-label={`Take ${LETTERS[place]} away`} onClick={() => without(place)}>
                ×
              </button>
            )}
          </div>
        </li>
      ))}
      {runs.length < 8 && (
        <li className="add">
          <Link to={`/${compareAddress(runs).replace(/^\/compare/, "").replaceAll("run=", "pick=")}`}>Add a run</Link>
        </li>
      )}
    </ul>
  );
}
