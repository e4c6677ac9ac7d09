import { useMemo } from "react";
import { address } from "../../api/client";
import type { Pair } from "../../api/types";
import { useAnswer } from "../../api/use-resource";
import { Link } from "../../parts/link";
import { Empty, Failed, Loading } from "../../parts/states";
import { Warnings } from "../../parts/warnings";
import { useQuery } from "../../router";
import { CompareHead } from "./head";
import { compared } from "./endpoints";
import { History } from "./history";
import { Items } from "./items";
import { Metadata } from "./leaves";
import { Loss } from "./loss";
import { comparedRuns, LETTERS } from "./state";
import { MeasuredNotice, Scores } from "./summary";
import { isImported } from "../run/imported";
import { useRunRows } from "./use-run-rows";

/** Two to eight runs: what differs, by how much, and in which items. The first is the baseline. */
export default function ComparePage() {
  const [query, change] = useQuery();
  // With another filter these are the same runs still: nothing is asked again.
  const chosen = new URLSearchParams([...query.getAll("run").map((run) => ["run", run]), ["b", query.get("b") ?? ""]]).toString();
  const { runs, b } = useMemo(() => comparedRuns(new URLSearchParams(chosen)), [chosen]);
  const pair = useAnswer<readonly Pair[]>(runs.length >= 2 ? runs.join("\n") : null, (signal) => compared(runs, signal));
  const known = useRunRows(runs);
  if (runs.length < 2) return <Choose />;
  const [first, second] = [runs[0]!, runs[b]!];
  const letters = [LETTERS[0]!, LETTERS[b]!] as const;
  const found = pair.data?.find((one) => one.a === first && one.b === second) ?? null;
  return (
    <>
      <div className="page-head">
        <h1>Compare</h1>
        <div className="actions">
          <a className="button" href={address("/comparisons/report.html", { run: runs })} download>
            Report
          </a>
        </div>
      </div>
      <CompareHead runs={runs} known={known} b={b} onB={(place) => change({ b: place === 1 ? null : String(place), at: null, item: null })} onRuns={(list, place) => change({ run: list, b: place === 1 ? null : String(place), at: null, item: null })} />
      {pair.error !== null && <Failed error={pair.error} again={pair.again} what="comparison" />}
      {found === null && pair.error === null && <Loading what="the comparison" />}
      {found !== null && (
        <>
          <MeasuredNotice pair={found} a={letters[0]} b={letters[1]} />
          <Warnings found={found.notices} />
          <Scores pair={found} a={letters[0]} b={letters[1]} title={found.passing !== null ? "Mean sample score" : isImported(known[first]?.spec ?? null) ? "Score" : "Correctness"} />
          <Metadata leaves={found.metadata} a={letters[0]} b={letters[1]} />
        </>
      )}
      <Loss runs={runs} known={known} />
      {pair.error === null && <Items a={first} b={second} letters={letters} pair={found} />}
      {runs.length > 2 && <History runs={runs} />}
    </>
  );
}

function Choose() {
  return (
    <>
      <div className="page-head">
        <h1>Compare</h1>
      </div>
      <Empty title="Choose runs to compare">
        <p>Check two to eight runs in the list, then “Compare”.</p>
        <Link to="/" className="button primary">
          Choose runs
        </Link>
      </Empty>
    </>
  );
}

