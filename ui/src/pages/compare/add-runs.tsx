import { address } from "../../api/client";
import type { RunRow } from "../../api/types";
import { useResource } from "../../api/use-resource";
import { modelName } from "../../format";
import { SearchField } from "../../parts/fields";
import { whyNotCompared } from "../../parts/comparable";
import { Failed } from "../../parts/states";
import { Time } from "../../parts/time";
import { useQuery } from "../../router";
import { Inline } from "../../text/model-text";
import { visible } from "../../text/visible";
import { MOST_RUNS } from "./state";

const [ASKED, SHOWN] = [100, 12];

interface Props {
  chosen: readonly RunRow[];
  runs: readonly string[]; // as in the address: in the order in which they were picked
  onRuns: (runs: readonly string[]) => void;
}

/** Runs to compare with those that are chosen already; one that can't be compared with them says why. */
export function AddRuns({ chosen, runs, onRuns }: Props) {
  const [query, change] = useQuery();
  const open = query.get("add") === "1" || runs.length < 2;
  const find = query.get("find") ?? "";
  const { data, error, again } = useResource(open ? address("/runs", { text: find, limit: ASKED }) : null);
  const others = (data?.runs ?? []).filter((run) => !runs.includes(run.run_id)).map((run) => ({ run, why: whyNotCompared(run, chosen) }));
  const found = others.toSorted((one, other) => Number(one.why !== null) - Number(other.why !== null)).slice(0, SHOWN);
  if (runs.length >= MOST_RUNS) return <p className="small quiet">{MOST_RUNS} runs are compared, and no more can be: take one away to add another.</p>;
  return (
    <div className="add-runs">
      {runs.length >= 2 && (
        <button type="button" aria-expanded={open} onClick={() => change({ add: open ? null : "1", find: null }, { replace: true })}>
          {open ? "Done adding" : "Add a run"}
        </button>
      )}
      {open && (
        <>
          <div className="filters">
            <SearchField label="Find a run to add" value={find} placeholder="model, eval set, tag, id" onChange={(text) => change({ find: text }, { replace: true })} />
          </div>
          {error !== null && <Failed error={error} again={again} what="list of runs" />}
          {data !== null && found.length === 0 && <p className="nothing">No other run fits.</p>}
          <ul aria-label="Runs to add">
            {found.map(({ run, why }) => (
              <li key={run.run_id}>
                <button type="button" disabled={why !== null} aria-label={`Add ${visible(run.run_id)}`} onClick={() => onRuns([...runs, run.run_id])}>
                  Add
                </button>
                <span>
                  <Inline text={modelName(run.model_id)} /> <span className="small quiet"><Inline text={run.run_id} /> · <Inline text={run.dataset_name ?? "–"} /> · <Time utc={run.started_utc} /></span>
                  {why !== null && <span className="small why-not"><Inline text={why} /></span>}
                </span>
              </li>
            ))}
          </ul>
        </>
      )}
    </div>
  );
}
