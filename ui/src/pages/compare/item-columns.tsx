import type { ReactNode } from "react";
import type { ItemMoves, ItemRow } from "../../api/types";
import { reasonWords } from "../../format";
import { NOTHING, signed } from "../../numbers";
import { Inline } from "../../text/model-text";
import { oneLine } from "../../text/visible";
import { Both, ClassBadge, Within } from "./item-row";

/** A column of the item table: what stands in its head, how wide it is, and what a cell has. */
export interface ItemColumn {
  name: string; // in the address
  title: string;
  width: string;
  tight?: string; // beside an opened item; by default as wide
  className?: string;
  sorts?: string; // by what the server sorts for it
  metric?: string; // and by which number that goes
  cell: (item: ItemRow) => ReactNode;
}

const TEXT = 400; // characters: as many as the server sends
const WIDE = "minmax(8rem, 1fr)";
const LESS = "minmax(3rem, 1fr)";
const PLAIN = ["class", "item", "slice", "prompt", "scores"];
const SCORES = ["score", "passing", "contained"]; // numbers with columns of their own

const text = (found: string | null, nothing = "no answer"): ReactNode => (found === null ? <span className="nothing">{nothing}</span> : <bdi>{oneLine(found, TEXT)}</bdi>);
const reason = (code: string | null): ReactNode => (code === null ? <span className="quiet">{NOTHING}</span> : reasonWords(code));

/** All columns there are for two runs, the usual ones first. `moves` are the numbers that both runs have. */
export function columnsOf(letters: readonly [string, string], moves: readonly ItemMoves[]): ItemColumn[] {
  const [a, b] = letters;
  const beside = moves.filter((one) => !SCORES.includes(one.metric));
  return [
    { name: "class", title: "Class", width: "8.5rem", tight: "7.5rem", sorts: "class", cell: (item) => <ClassBadge name={item.class} /> },
    { name: "item", title: "Item", width: "minmax(6rem, 11rem)", tight: "minmax(4rem, 7rem)", sorts: "item_id", cell: (item) => <Inline text={item.item_id} /> },
    { name: "slice", title: "Slice", width: "minmax(6rem, 15rem)", className: "col-slice", cell: (item) => <span className="small quiet"><Inline text={[item.section, item.category, item.difficulty].filter((one) => one !== null).join(" · ")} /></span> },
    ...(["section", "category", "difficulty"] as const).map((name) => ({ name, title: name[0]!.toUpperCase() + name.slice(1), width: "minmax(5rem, 9rem)", className: "small", sorts: name, cell: (item: ItemRow) => <Inline text={item[name] ?? NOTHING} /> })),
    { name: "prompt", title: "Prompt", width: WIDE, tight: LESS, cell: (item) => <>{text(item.prompt, NOTHING)}<Within item={item} /></> },
    { name: "expected", title: "Expected", width: "minmax(5rem, 14rem)", cell: (item) => text(item.expected, NOTHING) },
    { name: "answer_a", title: `Answer of ${a}`, width: WIDE, tight: LESS, cell: (item) => text(item.text_a) },
    { name: "answer_b", title: `Answer of ${b}`, width: WIDE, tight: LESS, cell: (item) => text(item.text_b) },
    { name: "reason_a", title: `Why ${a} missed`, width: "minmax(6rem, 12rem)", className: "small", cell: (item) => reason(item.miss_reason_a) },
    { name: "reason_b", title: `Why ${b} missed`, width: "minmax(6rem, 12rem)", className: "small", cell: (item) => reason(item.miss_reason_b) },
    ...(moves.some((one) => one.metric === "contained")
      ? [{ name: "contained", title: "In the text", width: "7.5rem", className: "number", metric: "contained", sorts: "difference", cell: (item: ItemRow) => <BothYes item={item} letters={letters} /> }]
      : []),
    ...beside.map((one) => ({ name: `m.${one.metric}`, title: one.title, width: "11.5rem", className: "number", metric: one.metric, sorts: "difference", cell: (item: ItemRow) => <Both a={item.metrics_a[one.metric] ?? null} b={item.metrics_b[one.metric] ?? null} kind={one.kind} letters={letters} /> })),
    { name: "scores", title: "Scores", width: "10.5rem", tight: "9.5rem", className: "number", metric: "score", sorts: "b", cell: (item) => <Both a={item.score_a} b={item.score_b} kind="score" letters={letters} /> },
    { name: "difference", title: `${b} − ${a}`, width: "6.5rem", className: "number", metric: "score", sorts: "difference", cell: (item) => signed(item.difference) },
  ];
}

/** The columns that are shown: those that the address or this browser's choice names, else the usual ones. */
export function chosenColumns(all: readonly ItemColumn[], names: string): ItemColumn[] {
  const wanted = names.split(",");
  const found = all.filter((one) => wanted.includes(one.name));
  return found.length > 0 ? found : all.filter((one) => PLAIN.includes(one.name));
}

/** The columns beside an opened item: those that do without are left out, the others take less room. */
export const tightened = (columns: readonly ItemColumn[]): ItemColumn[] =>
  columns.filter((one) => one.className !== "col-slice").map((one) => ({ ...one, width: one.tight ?? one.width }));

/** The names of the columns with one more, or one less; empty for the usual ones. */
export function toggled(all: readonly ItemColumn[], shown: readonly ItemColumn[], name: string): string {
  const names = all.map((one) => one.name).filter((one) => (one === name) !== shown.some((column) => column.name === one));
  return names.join(",") === PLAIN.join(",") ? "" : names.join(",");
}

const say = (found: boolean | null): string => (found === null ? NOTHING : found ? "yes" : "no");

function BothYes({ item, letters }: { item: ItemRow; letters: readonly [string, string] }) {
  return (
    <>
      <span className="unseen">
        {letters[0]} {say(item.contained_a)}, {letters[1]} {say(item.contained_b)}
      </span>
      <span aria-hidden="true">
        {say(item.contained_a)} → {say(item.contained_b)}
      </span>
    </>
  );
}
