import type { ReactNode } from "react";
import type { RunRow } from "../../api/types";
import { Sparkline } from "../../charts/sparkline";
import { count, show } from "../../numbers";
import { DecisionChip, isDecision, JudgeNames, ModelName, StateChip } from "../../parts/chips";
import { Time } from "../../parts/time";
import { Inline } from "../../text/model-text";
import { visible } from "../../text/visible";
import { RunName, RunTags } from "./run-name";
import { Score } from "./score";

export interface RunColumn {
  id: string;
  name: string;
  sort?: string; // what the server calls the order by it
  least: number; // rem
  share: number; // of the room that is left
  number?: boolean;
  cell: (run: RunRow) => ReactNode;
}

const none = <span className="quiet">–</span>;
const orNone = (text: string | null): ReactNode => (text === null ? none : <Inline text={text} />);

/** Every column that the list of runs can have, in their order. */
export const COLUMNS: readonly RunColumn[] = [
  { id: "run", name: "Run", sort: "run", least: 14, share: 3, cell: (run) => <RunName run={run} /> },
  { id: "model", name: "Model", sort: "model", least: 9, share: 2, cell: (run) => <ModelName id={run.model_id} /> },
  { id: "judge", name: "Judge", sort: "judge", least: 8, share: 1, cell: (run) => (run.judges.length === 0 ? none : <JudgeNames judges={run.judges} />) },
  { id: "eval_set", name: "Eval set", sort: "eval_set", least: 8, share: 1.5, cell: (run) => orNone(run.dataset_name) },
  { id: "evaluator", name: "Evaluator", sort: "evaluator", least: 9, share: 1, cell: (run) => orNone(run.spec) },
  { id: "decision", name: "Decision", sort: "decision", least: 8.5, share: 0, cell: (run) => (isDecision(run.decision) ? <DecisionChip decision={run.decision} /> : none) },
  { id: "state", name: "State", sort: "state", least: 7, share: 0, cell: (run) => (run.state === "complete" ? <span className="quiet">{run.state_words}</span> : <StateChip run={run} />) },
  { id: "score", name: "Score, 95 % interval, n", sort: "score", least: 15, share: 0, cell: (run) => <Score run={run} /> },
  { id: "samples", name: "Samples", sort: "samples", least: 5.5, share: 0, number: true, cell: (run) => count(run.n_attempted) },
  { id: "tokens", name: "Tokens", sort: "tokens", least: 6, share: 0, number: true, cell: (run) => count(run.n_tokens) },
  { id: "cost", name: "Cost", sort: "cost", least: 6, share: 0, number: true, cell: (run) => show("usd", run.cost_usd) },
  { id: "loss", name: "Loss", least: 6.5, share: 0, cell: (run) => (run.loss === null ? none : <Sparkline values={run.loss} label={`Loss of ${visible(run.run_id)}`} />) },
  { id: "tags", name: "Tags", least: 8, share: 1, cell: (run) => (run.tags.length === 0 ? none : <RunTags run={run} />) },
  { id: "note", name: "Note", least: 9, share: 2, cell: (run) => (run.note === "" ? none : <Inline text={run.note} />) },
  { id: "started", name: "Started", sort: "started", least: 10.5, share: 0, cell: (run) => <span className="small"><Time utc={run.started_utc} /></span> },
  { id: "ended", name: "Ended", sort: "ended", least: 10.5, share: 0, cell: (run) => <span className="small"><Time utc={run.ended_utc} /></span> },
];

const BY_DEFAULT = ["run", "model", "eval_set", "decision", "score", "loss", "started"];
const NARROW = 75 * 16; // px: below it, what is left out by default leaves room for names
const KEPT = "benchbook:columns";

/** The columns that a text names; null where it names none. The run is always there. */
export function columnsOf(text: string | null): readonly RunColumn[] | null {
  const named = new Set((text ?? "").split(","));
  const found = COLUMNS.filter((one) => one.id === "run" || named.has(one.id));
  return found.length > 1 || text === "run" ? found : null;
}

export const namesOf = (columns: readonly RunColumn[]): string => columns.map((one) => one.id).join(",");

/** The columns of the address, else those that were chosen last in this browser, else those that fit it. */
export function chosenColumns(address: string | null): readonly RunColumn[] {
  const room = window.innerWidth < NARROW ? BY_DEFAULT.filter((one) => one !== "loss" && one !== "eval_set") : BY_DEFAULT;
  return columnsOf(address) ?? columnsOf(kept()) ?? columnsOf(room.join(","))!;
}

/** Has this browser begin with these columns from now on; null: with those that fit it. */
export function keepColumns(columns: readonly RunColumn[] | null): void {
  try {
    if (columns === null) localStorage.removeItem(KEPT);
    else localStorage.setItem(KEPT, namesOf(columns));
  } catch {
    // a browser that keeps nothing: the address has them
  }
}

function kept(): string | null {
  try {
    return localStorage.getItem(KEPT);
  } catch {
    return null;
  }
}

/** The widths of the columns as CSS has them, and the least that they need together; the first is for choosing. */
export function gridOf(columns: readonly RunColumn[]): { columns: string; least: string } {
  const widths = columns.map((one) => (one.share > 0 ? `minmax(${one.least}rem, ${one.share}fr)` : `${one.least}rem`));
  const rem = columns.reduce((sum, one) => sum + one.least + 0.75, 1.5 + 1.6);
  return { columns: `1.6rem ${widths.join(" ")}`, least: `${rem}rem` };
}
