import { address } from "../../api/client";
import type { AnswerOfRun, ItemDetail } from "../../api/types";
import { useResource } from "../../api/use-resource";
import { Panel } from "../../parts/panel";
import { Failed, Loading } from "../../parts/states";
import { useSettled } from "../../parts/use-settled";
import { useQuery } from "../../router";
import { Inline, ModelText } from "../../text/model-text";
import { changedSpans } from "../../text/answer-text";
import { ItemAnswer } from "./item-answer";
import { ClassBadge } from "./item-row";
import { LETTERS, MOST_SIDE_BY_SIDE } from "./state";

interface Props {
  runs: readonly string[]; // in the order in which they are shown
  a: string;
  b: string;
  position: number; // in the list of A and B
  letters: readonly [string, string];
  onClose: () => void;
  onMove: ((by: number) => void) | null;
}

/** One item: what was asked, and the answer of every run beside the others, with what was said of it. */
export function ItemPanel({ runs, a, b, position, letters, onClose, onMove }: Props) {
  const wanted = useSettled(position, 60); // whoever holds j down does not ask for each item on the way
  const asked = [a, b, ...runs.filter((run) => run !== a && run !== b)].slice(0, MOST_SIDE_BY_SIDE);
  const { data, error, again } = useResource(address("/comparisons/items/{position}", { position: wanted, run: asked }));
  const item = data !== null && data.position === position ? data : null;
  const title = item === null ? "Item" : (
    <>
      <Inline text={item.item_id} /> <ClassBadge name={item.class} />
    </>
  );
  return (
    <Panel label="Item" title={title} what="item" onClose={onClose} onMove={onMove}>
      {error !== null && <Failed error={error} again={again} what="item" />}
      {item === null && error === null && <Loading what="the item" />}
      {item !== null && <Detail item={item} runs={runs} a={a} b={b} letters={letters} />}
    </Panel>
  );
}

function Detail({ item, runs, a, b, letters }: { item: ItemDetail; runs: readonly string[]; a: string; b: string; letters: readonly [string, string] }) {
  const [query, change] = useQuery();
  const differs = query.get("diff") !== "off";
  const rendered = query.get("as") === "rendered";
  const first = item.answers[0]!;
  const answers = runs.flatMap((run) => item.answers.find((one) => one.run === run) ?? []);
  const changed = (one: AnswerOfRun) => (!differs ? [] : one.run === a ? changedSpans(item.segments, "a") : changedSpans(one.segments, "b"));
  const alike = answers.length > 1 && answers.every((one) => one.text === first.text);
  return (
    <>
      <h4>Prompt</h4>
      <ModelText text={item.prompt} label="Prompt" />
      {item.context !== null && (
        <details>
          <summary>Context</summary>
          <ModelText text={item.context} label="Context" />
        </details>
      )}
      <h4>Expected answer</h4>
      <ModelText text={item.expected} label="Expected answer" />
      {item.class === "expected_changed" && (
        <>
          <h4>Expected answer in {letters[1]}</h4>
          <ModelText text={item.expected_b} label={`Expected answer in ${letters[1]}`} />
        </>
      )}
      <div className="answers-head">
        <h4>Answers</h4>
        <button type="button" className="small" aria-pressed={differs && !rendered} disabled={rendered} onClick={() => change({ diff: differs ? "off" : null }, { replace: true })}>
          Differences from {letters[0]}
        </button>
        <button type="button" className="small" aria-pressed={rendered} onClick={() => change({ as: rendered ? null : "rendered" }, { replace: true })}>
          Markdown and JSON
        </button>
        {alike && <span className="small quiet">All of them are the same text.</span>}
      </div>
      <div className={`answers of-${answers.length}`}>
        {answers.map((one) => (
          <ItemAnswer key={one.run} found={one} letter={LETTERS[runs.indexOf(one.run)]!} side={one.run === a ? "a" : "b"} changed={changed(one)} differs={differs} rendered={rendered} held={one.run === a || one.run === b} />
        ))}
      </div>
    </>
  );
}
