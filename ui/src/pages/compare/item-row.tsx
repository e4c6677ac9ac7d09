import type { ItemRow } from "../../api/types";
import { show } from "../../numbers";
import { Inline } from "../../text/model-text";
import { oneLine } from "../../text/visible";
import { CLASSES, className } from "./state";

interface Props {
  item: ItemRow;
  letters: readonly [string, string];
}

export function ClassBadge({ name }: { name: ItemRow["class"] }) {
  const known = CLASSES.find((one) => one.name === name)!;
  return (
    <span className={`class-badge ${className(name)}`}>
      <span aria-hidden="true">{known.mark}</span> {known.short}
    </span>
  );
}

const score = (found: number | null): string => show("score", found);

function Scores({ item, letters }: Props) {
  return (
    <>
      <span className="unseen">
        {letters[0]} {score(item.score_a)}, {letters[1]} {score(item.score_b)}
      </span>
      <span aria-hidden="true">
        {score(item.score_a)} → {score(item.score_b)}
      </span>
    </>
  );
}

/** Where the class stays the same, what changed all the same: A7's diagnosis, or the text alone. */
function Within({ item }: { item: ItemRow }) {
  if (!item.class.startsWith("same")) return null;
  const [a, b] = [isContained(item.score_a, item.miss_reason_a), isContained(item.score_b, item.miss_reason_b)];
  if (a && !b) return <span className="small lost"> · expected answer lost from the text</span>;
  if (b && !a) return <span className="small won"> · expected answer now in the text</span>;
  return item.text_changed ? <span className="small quiet"> · text differs</span> : null;
}

const isContained = (found: number | null, reason: string | null): boolean => found === 1 || reason === "expected_inside_longer_text";

export function ItemCells({ item, letters }: Props) {
  return (
    <>
      <div role="gridcell">
        <ClassBadge name={item.class} />
      </div>
      <div role="gridcell">
        <Inline text={item.item_id} />
      </div>
      <div role="gridcell" className="col-slice small quiet">
        <Inline text={[item.section, item.category, item.difficulty].filter((one) => one !== null).join(" · ")} />
      </div>
      <div role="gridcell">
        <bdi>{oneLine(item.prompt ?? "", 200)}</bdi>
        <Within item={item} />
      </div>
      <div role="gridcell" className="number">
        <Scores item={item} letters={letters} />
      </div>
    </>
  );
}

/** The same on a phone: two lines. */
export function ItemCellsNarrow({ item, letters }: Props) {
  return (
    <>
      <div role="gridcell">
        <div className="two-lines">
          <ClassBadge name={item.class} /> <Inline text={item.item_id} className="small" />
        </div>
        <div className="cut">
          <bdi>{oneLine(item.prompt ?? "", 120)}</bdi>
          <Within item={item} />
        </div>
      </div>
      <div role="gridcell" className="number">
        <Scores item={item} letters={letters} />
      </div>
    </>
  );
}
