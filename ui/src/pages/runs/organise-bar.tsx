import { useState } from "react";
import { address, errorOf, get, send, type ApiError } from "../../api/client";
import type { MarksOfRuns } from "../../api/types";
import { counted } from "../../format";
import { count } from "../../numbers";
import { Wrong } from "../../parts/states";
import type { Filters } from "./run-filters";

const AT_ONCE = 500; // runs that the server takes in one change
const A_PAGE = 1_000;

interface Props {
  chosen: ReadonlySet<string>;
  onChosen: (chosen: ReadonlySet<string>) => void;
  fitting: number; // how many runs the list has
  filters: Filters;
  onChanged: () => void;
  onDone: () => void;
}

/** Many runs tagged or archived in one go. */
export function OrganiseBar({ chosen, onChosen, fitting, filters, onChanged, onDone }: Props) {
  const [tag, setTag] = useState("");
  const [said, setSaid] = useState("");
  const [error, setError] = useState<ApiError | null>(null);
  const [busy, setBusy] = useState(false);
  const work = (what: Promise<string>) => {
    setBusy(true);
    setError(null);
    what.then(setSaid, (reason: unknown) => setError(errorOf(reason))).finally(() => setBusy(false));
  };
  const apply = (change: Omit<MarksOfRuns, "runs">, done: string) => work(changed([...chosen], change).then(() => (onChanged(), `${done}: ${counted(chosen.size, "run")}.`)));
  const name = tag.trim();
  const idle = busy || chosen.size === 0;
  return (
    <form className="pick-bar organise" aria-label="Organise" onSubmit={(event) => event.preventDefault()}>
      <span role="status">{busy ? "Working …" : said || `${counted(chosen.size, "run")} checked.`}</span>
      {error !== null && <Wrong error={error} />}
      <div className="actions">
        <button type="button" disabled={busy || fitting === 0} onClick={() => work(fittingRuns(filters).then((ids) => (onChosen(new Set(ids)), "")))}>
          Check all {count(fitting)}
        </button>
        <input type="text" value={tag} maxLength={60} aria-label="Tag" placeholder="tag" onChange={(event) => setTag(event.target.value)} />
        <button type="submit" disabled={idle || name === ""} onClick={() => apply({ add_tags: [name] }, `Tagged ${name}`)}>
          Add tag
        </button>
        <button type="button" disabled={idle || name === ""} onClick={() => apply({ remove_tags: [name] }, `No longer tagged ${name}`)}>
          Take tag away
        </button>
        <button type="button" disabled={idle} onClick={() => apply({ archived: true }, "Archived")}>
          Archive
        </button>
        <button type="button" disabled={idle} onClick={() => apply({ archived: false }, "Restored")}>
          Restore
        </button>
        <button type="button" className="primary" onClick={onDone}>
          Done
        </button>
      </div>
    </form>
  );
}

async function changed(runs: readonly string[], change: Omit<MarksOfRuns, "runs">): Promise<void> {
  for (let from = 0; from < runs.length; from += AT_ONCE) {
    await send("POST /marks", {}, { ...change, runs: runs.slice(from, from + AT_ONCE) });
  }
}

/** The ids of all runs that fit, whatever part of the list was looked at. */
async function fittingRuns(filters: Filters): Promise<string[]> {
  const ids: string[] = [];
  let cursor: string | null = null;
  do {
    const page: { runs: readonly { run_id: string }[]; next_cursor: string | null } = await get(address("/runs", { ...filters, limit: A_PAGE, cursor }));
    ids.push(...page.runs.map((one) => one.run_id));
    cursor = page.next_cursor;
  } while (cursor !== null);
  return ids;
}
