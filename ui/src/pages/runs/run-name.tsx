import type { RunRow } from "../../api/types";
import { StateChip, Tag } from "../../parts/chips";
import { Link } from "../../parts/link";
import { changedQuery, runAddress } from "../../router";
import { Inline } from "../../text/model-text";
import { visible } from "../../text/visible";
import { isImported } from "../run/imported";

/** A run by the name that people gave it, its id beside it; what is wrong with it, and its tags, in a second line. */
export function RunName({ run }: { run: RunRow }) {
  const named = run.name !== "";
  return (
    <>
      <div className="run-line">
        <Link to={runAddress(run.run_id)} className="strong" label={named ? `${visible(run.name)}, ${visible(run.run_id)}` : undefined}>
          <Inline text={named ? run.name : run.run_id} />
        </Link>
        <StateChip run={run} />
        {isImported(run.spec) && <span className="chip tone-none">imported</span>}
        {run.archived && <span className="chip tone-none">archived</span>}
      </div>
      {(named || run.error !== null || run.tags.length > 0) && (
        <div className="run-line small quiet">
          {named && <Inline text={run.run_id} />}
          {run.error === null ? <RunTags run={run} /> : <Inline text={run.error} />}
        </div>
      )}
    </>
  );
}

/** A run's tags; each leads to the runs that have it. */
export function RunTags({ run }: { run: RunRow }) {
  return (
    <span className="tags">
      {run.tags.map((tag) => (
        <Link key={tag} to={`/${changedQuery("", { tag })}`} label={`Runs with tag ${visible(tag)}`}>
          <Tag name={tag} />
        </Link>
      ))}
    </span>
  );
}
