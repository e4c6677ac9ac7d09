import { address, get } from "../../api/client";
import type { CriterionOfRun, JudgeAlone, Split } from "../../api/types";
import { usePages, type Page } from "../../api/use-pages";
import { counted } from "../../format";
import { NOTHING } from "../../numbers";
import { Link } from "../../parts/link";
import { Failed } from "../../parts/states";
import { useMedia } from "../../parts/use-media";
import { VirtualRows } from "../../parts/virtual-rows";
import { navigate, placeOf, runAddress, useQuery } from "../../router";
import { Inline } from "../../text/model-text";
import { criterionTitle, scoreWords } from "./criteria";
import { letterOf } from "./panel-letters";

const SIZE = 100;
const ENDING = "_scores"; // of what the judges gave, criterion by criterion

interface Props {
  id: string;
  judges: readonly JudgeAlone[];
  n: number;
  criteria: readonly CriterionOfRun[];
}

/** What a person should look at first, as a list that opens: each sample that the judges split on leads to it. */
export function Splits({ id, judges, n, criteria }: Props) {
  const [query, change] = useQuery();
  const open = query.get("splits") === "open";
  if (n === 0) return null;
  return (
    <details className="splits" open={open} onToggle={({ currentTarget }) => currentTarget.open !== open && change({ splits: open ? null : "open", split: null }, { replace: true })}>
      <summary>What to look at first: {counted(n, "sample")} that the judges split on</summary>
      {open && <List id={id} judges={judges} n={n} criteria={criteria} />}
    </details>
  );
}

function List({ id, judges, n, criteria }: Props) {
  const [query, change] = useQuery();
  const narrow = useMedia("(max-width: 46rem)");
  const pages = usePages<Split>(`splits of ${id}`, SIZE, async (page, signal): Promise<Page<Split>> => {
    const found = await get(address("/runs/{run_id}/panel/splits", { run_id: id, offset: page * SIZE, limit: SIZE }), signal);
    return { rows: found.splits, n: found.n };
  });
  const place = placeOf(query.get("split"));
  const first = pages.row(0);
  const names = first === null ? [] : Object.keys(first).filter((name) => name.endsWith(ENDING)).map((name) => name.slice(0, -ENDING.length));
  const sampleAddress = (split: Split) => runAddress(id, { splits: "open", split: query.get("split"), sample: String(split.sample) });
  return (
    <>
      {pages.error !== null && <Failed error={pages.error} again={pages.again} what="samples" />}
      <p className="small quiet">
        Scores in the order of the judges: {judges.map((judge, at) => <span key={judge.judge}>{at > 0 && ", "}{letterOf(at)} <Inline text={judge.name} /></span>)}. First where pass or fail depends on the judge.
      </p>
      <VirtualRows
        label="Samples that the judges split on"
        columns={[{ name: "Sample" }, ...(narrow ? [] : [{ name: "Pass or fail" }]), ...names.map((name) => ({ name: criterionTitle(criteria, name) }))]}
        count={n}
        rowPx={narrow ? 64 : 36}
        selected={place !== null && place < n ? place : null}
        onSelect={(row) => change({ split: String(row) }, { replace: true })}
        onOpen={(row) => {
          const split = pages.row(row);
          if (split !== null) navigate(runAddress(id, { splits: "open", split: String(row), sample: String(split.sample) }));
        }}
        onShown={pages.need}
        row={(at) => {
          const split = pages.row(at);
          return split === null ? null : <Cells split={split} to={sampleAddress(split)} names={names} criteria={criteria} narrow={narrow} />;
        }}
      />
    </>
  );
}

function Cells({ split, to, names, criteria, narrow }: { split: Split; to: string; names: readonly string[]; criteria: readonly CriterionOfRun[]; narrow: boolean }) {
  const own = new Map(Object.entries(split)); // a rubric of one's own has others than rubric@v1
  const verdict = split.verdicts_differ ? <strong>differs</strong> : <span className="quiet">the same</span>;
  return (
    <>
      <div role="gridcell">
        <Link to={to}><Inline text={split.item_id} />{split.repeat > 0 && `, repeat ${split.repeat + 1}`}</Link>
        {narrow && <div className="small">pass or fail {verdict}</div>}
      </div>
      {!narrow && <div role="gridcell">{verdict}</div>}
      {names.map((name) => <div role="gridcell" key={name}><Inline text={scores(own.get(`${name}${ENDING}`), (score) => scoreWords(criteria, name, score))} /></div>)}
    </>
  );
}

function scores(found: unknown, said: (score: number) => string): string {
  return Array.isArray(found) ? found.map((score: number | null) => (score === null ? NOTHING : said(score))).join(" ") : "";
}
