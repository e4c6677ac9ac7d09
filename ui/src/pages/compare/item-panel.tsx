import { useEffect, useState } from "react";
import { address } from "../../api/client";
import type { ItemDetail } from "../../api/types";
import { useResource } from "../../api/use-resource";
import { reasonWords } from "../../format";
import { show } from "../../numbers";
import { Link } from "../../parts/link";
import { Panel } from "../../parts/panel";
import { Failed, Loading } from "../../parts/states";
import { runAddress } from "../../router";
import { DiffSide } from "../../text/diff";
import { Inline, ModelText } from "../../text/model-text";
import { ClassBadge } from "./item-row";
import { letterClass } from "./state";

interface Props {
  a: string;
  b: string;
  position: number;
  letters: readonly [string, string];
  onClose: () => void;
  onMove: ((by: number) => void) | null;
}

/** One item of both runs: what was asked, and what differs between the answers, by word. */
export function ItemPanel({ a, b, position, letters, onClose, onMove }: Props) {
  const wanted = useSettled(position, 60); // whoever holds j down does not ask for each item on the way
  const { data, error, again } = useResource(address("/comparisons/items/{position}", { position: wanted, run: [a, b] }));
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
      {item !== null && <Detail item={item} a={a} b={b} letters={letters} />}
    </Panel>
  );
}

function Detail({ item, a, b, letters }: { item: ItemDetail; a: string; b: string; letters: readonly [string, string] }) {
  const sides = [
    { letter: letters[0], run: a, side: "a" as const, text: item.text_a, score: item.score_a, sample: item.sample_a, reason: item.miss_reason_a },
    { letter: letters[1], run: b, side: "b" as const, text: item.text_b, score: item.score_b, sample: item.sample_b, reason: item.miss_reason_b },
  ];
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
      <div className="answers">
        {sides.map((one) => (
          <div key={one.side}>
            <h4>
              <span className={letterClass(one.letter)}>{one.letter}</span> {one.score === null ? "no score" : `score ${show("score", one.score)}`}
              {one.reason !== null && <span className="quiet"> · {reasonWords(one.reason)}</span>}
              {one.sample !== null && (
                <Link to={runAddress(one.run, { sample: String(one.sample) })} className="small">
                  the sample
                </Link>
              )}
            </h4>
            {item.segments !== null && item.text_a !== null && item.text_b !== null ? (
              <DiffSide segments={item.segments} side={one.side} label={`Answer of ${one.letter}`} />
            ) : (
              <ModelText text={one.text} label={`Answer of ${one.letter}`} />
            )}
          </div>
        ))}
      </div>
      {item.segments !== null && item.text_a === item.text_b && <p className="small quiet">Both answers are the same text.</p>}
    </>
  );
}

/** A value once it has stayed the same for a moment. */
function useSettled<T>(value: T, afterMs: number): T {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = window.setTimeout(() => setSettled(value), afterMs);
    return () => window.clearTimeout(timer);
  }, [value, afterMs]);
  return settled;
}
