import { useRef, useState, type CSSProperties } from "react";
import type { RunRow } from "../../api/types";
import { DecisionChip, isDecision, ModelName } from "../../parts/chips";
import { useKeys } from "../../parts/use-keys";
import { useMedia } from "../../parts/use-media";
import { VirtualRows, type Column, type RowsHandle } from "../../parts/virtual-rows";
import { navigate, runAddress } from "../../router";
import { Inline } from "../../text/model-text";
import { visible } from "../../text/visible";
import { gridOf, type RunColumn } from "./columns";
import { RunName } from "./run-name";
import { Score } from "./score";
import type { RunsFound } from "./use-runs";

/** Whether runs are checked to be compared or to be put in order. */
export interface Checking {
  verb: string; // of each box, for those who hear it
  has: (runId: string) => boolean;
  whyNot: (run: RunRow) => string | null;
  onCheck: (run: RunRow, checked: boolean) => void;
  onRefused: (why: string) => void;
}

interface Props {
  runs: RunsFound;
  columns: readonly RunColumn[];
  sort: string;
  order: string;
  onSort: (by: string, order: string) => void;
  start: number; // the row that stands at the top at first
  onTop: (row: number) => void;
  checking: Checking;
}

const ROW_PX = 54;
const NARROW_PX = 124;

/** All runs that fit in one list, of which only what is looked at is in the document. */
export function RunsList({ runs, columns, sort, order, onSort, start, onTop, checking }: Props) {
  const grid = useRef<RowsHandle>(null);
  const narrow = useMedia("(max-width: 46rem)");
  const [selected, select] = useState<number | null>(null);
  const run = selected === null ? null : runs.row(selected);
  useKeys({
    x: () => run !== null && turn(run, !checking.has(run.run_id)),
    j: () => focused(grid.current, () => select(selected ?? start)),
    k: () => focused(grid.current, () => select(selected ?? start)),
  });
  const turn = (found: RunRow, checked: boolean) => {
    const why = checked ? checking.whyNot(found) : null;
    if (why === null) checking.onCheck(found, checked);
    else checking.onRefused(why);
  };
  const heads = columns.map((column): Column => {
    const current = column.sort === sort;
    const shown = { name: column.name, className: column.number ? "number" : undefined };
    if (column.sort === undefined) return shown;
    const by = column.sort;
    return { ...shown, sorted: current ? (order === "asc" ? "ascending" : "descending") : null, onSort: () => onSort(by, current && order === "desc" ? "asc" : "desc") };
  });
  const widths = gridOf(columns);
  const style: CSSProperties & { "--run-least": string } = { "--run-least": narrow ? "0" : widths.least };
  return (
    <div className="runs-list" style={style} aria-busy={runs.waiting || undefined}>
      <VirtualRows
        handle={grid}
        label="Runs"
        columns={[CHOOSE, ...(narrow ? [{ name: "Run" }] : heads)]}
        count={runs.count ?? 0}
        widths={narrow ? "1.6rem minmax(0, 1fr)" : widths.columns}
        rowPx={narrow ? NARROW_PX : ROW_PX}
        selected={selected}
        onSelect={select}
        onOpen={(place, by) => {
          const found = runs.row(place);
          if (found !== null && by === "key") navigate(runAddress(found.run_id));
        }}
        onShown={runs.need}
        start={start}
        onTop={onTop}
        row={(place) => {
          const found = runs.row(place);
          if (found === null) return null;
          const checked = checking.has(found.run_id);
          const why = checked ? null : checking.whyNot(found);
          return (
            <>
              <div role="gridcell">
                <input type="checkbox" checked={checked} aria-disabled={why !== null || undefined} title={why ?? undefined} aria-label={`${checking.verb} ${visible(found.run_id)}`} onChange={(event) => turn(found, event.target.checked)} />
              </div>
              {narrow ? <NarrowCell run={found} /> : columns.map((column) => <div key={column.id} role={column.id === "run" ? "rowheader" : "gridcell"} className={`run-cell${column.number ? " number" : ""}`}>{column.cell(found)}</div>)}
            </>
          );
        }}
      />
    </div>
  );
}

const CHOOSE = { name: "Choose", className: "choose" };

/** The list takes the keyboard with the first key; from then on the keys are its own. */
function focused(grid: RowsHandle | null, first: () => void): void {
  grid?.focus();
  first();
}

/** What a phone shows of a run. */
function NarrowCell({ run }: { run: RunRow }) {
  return (
    <div role="rowheader" className="run-cell">
      <RunName run={run} />
      <div className="run-line small quiet">
        <ModelName id={run.model_id} /> · <Inline text={run.dataset_name ?? "–"} /> {isDecision(run.decision) && <DecisionChip decision={run.decision} />}
      </div>
      <Score run={run} />
    </div>
  );
}
