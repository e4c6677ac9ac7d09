import type { ItemRow } from "../../api/types";
import { show } from "../../numbers";
import { Inline } from "../../text/model-text";
import { oneLine } from "../../text/visible";
import type { Kind } from "../../words";
import { CLASSES, className } from "./state";

export function ClassBadge({ name }: { name: ItemRow["class"] }) {
  const known = CLASSES.find((one) => one.name === name)!;
  return (
    <span className={`class-badge ${className(name)}`}>
      <span aria-hidden="true">{known.mark}</span> {known.short}
    </span>
  );
}

/** Where the class stays the same, what changed all the same: the diagnosis, or the text alone. */
export function Within({ item }: { item: ItemRow }) {
  if (!item.class.startsWith("same")) return null;
  if (item.contained_a === true && item.contained_b === false) return <span className="small lost"> · expected answer lost from the text</span>;
  if (item.contained_b === true && item.contained_a === false) return <span className="small won"> · expected answer now in the text</span>;
  return item.text_changed ? <span className="small quiet"> · text differs</span> : null;
}

/** A number in both runs: `0.7000 → 0.8375`. */
export function Both({ a, b, kind, letters }: { a: number | null; b: number | null; kind: Kind; letters: readonly [string, string] }) {
  return (
    <>
      <span className="unseen">
        {letters[0]} {show(kind, a)}, {letters[1]} {show(kind, b)}
      </span>
      <span aria-hidden="true">
        {show(kind, a)} → {show(kind, b)}
      </span>
    </>
  );
}

/** A row on a phone: two lines, or more of the prompt. */
export function ItemCellsNarrow({ item, letters }: { item: ItemRow; letters: readonly [string, string] }) {
  return (
    <>
      <div role="gridcell">
        <div className="two-lines">
          <ClassBadge name={item.class} /> <Inline text={item.item_id} className="small" />
        </div>
        <div className="cut">
          <bdi>{oneLine(item.prompt ?? "", 300)}</bdi>
          <Within item={item} />
        </div>
      </div>
      <div role="gridcell" className="number">
        <Both a={item.score_a} b={item.score_b} kind="score" letters={letters} />
      </div>
    </>
  );
}
