import { MOST_RUNS } from "../compare/state";
import { Link } from "../../parts/link";
import { compareAddress, runAddress } from "../../router";
import { Inline } from "../../text/model-text";
import { visible } from "../../text/visible";
import type { Picked } from "./use-picked";


/** The runs that are picked to be compared, and why another one can't be. */
export function CompareBar({ picked, why }: { picked: Picked; why: string | null }) {
  const { ids, rows } = picked;
  const nameOf = (id: string) => rows.find((one) => one.run_id === id)?.name || id;
  return (
    <div className="pick-bar">
      {ids.length > 0 && (
        <ul className="picked" aria-label="Picked to be compared">
          {ids.map((id) => (
            <li key={id}>
              <Link to={runAddress(id)}><Inline text={nameOf(id)} /></Link>
              <button type="button" className="plain" aria-label={`Pick ${visible(id)} no longer`} onClick={() => picked.pick(id, false)}>
                ×
              </button>
            </li>
          ))}
        </ul>
      )}
      <span className="quiet small" role="status">
        {why ?? (ids.length === 0 ? `Check 2 to ${MOST_RUNS} runs to compare them.` : ids.length === 1 ? "Check one more to compare." : "")}
      </span>
      <div className="actions">
        {ids.length > 0 && (
          <button type="button" className="plain" onClick={picked.clear}>
            Clear
          </button>
        )}
        {ids.length >= 2 ? (
          <Link to={compareAddress(ids)} className="button primary">
            Compare {ids.length} runs
          </Link>
        ) : (
          <button type="button" className="primary" disabled>
            Compare
          </button>
        )}
      </div>
    </div>
  );
}
