import { address } from "../../api/client";
import type { Dispute } from "../../api/types";
import { useResource } from "../../api/use-resource";
import { count } from "../../numbers";
import { Failed, Loading } from "../../parts/states";
import { MOVE } from "../../parts/key-words";
import { useKeys } from "../../parts/use-keys";
import { useQuery } from "../../router";
import { Inline } from "../../text/model-text";
import { QuestionView, Said } from "./question";
import { Results } from "./results";
import { useLabelling } from "./use-labelling";

const MOVE_KEYS = [MOVE];
const LISTED = 100; // what is settled leaves the list, and others come up

type Place = Pick<Dispute, "sample" | "field">;

/** What two people scored differently, with both scores and no names; a third look settles it by a key. */
export function Settle({ labels, labeller }: { labels: string; labeller: string }) {
  const [query, change] = useQuery();
  const sample = query.get("sample");
  const list = useResource(address("/labels/{book}/disputes", { book: labels, limit: LISTED }));
  const disputes = list.data?.disputes ?? [];
  const open = (one: Place | null | undefined) => change({ sample: one ? String(one.sample) : null, field: one?.field }, { replace: true });
  const labelling = useLabelling({
    labels,
    labeller,
    adjudicate: true,
    sample,
    field: query.get("field"),
    onGiven: () => {
      open(disputes[at + 1]);
      list.again();
    },
    onUndone: (step) => {
      open(step.question);
      list.again();
    },
    onRefused: list.again,
  });
  const { step, again, undo } = labelling;
  const question = step?.question ?? null;
  const at = question === null ? -1 : disputes.findIndex((one) => one.sample === question.sample && one.field === question.field);
  const move = (by: number) => open(disputes[Math.min(Math.max(at + by, 0), disputes.length - 1)]);
  useKeys({ j: () => move(1), k: () => move(-1) }, MOVE_KEYS);

  const failed = list.error ?? labelling.failed;
  if (failed !== null) return <Failed error={failed} again={list.error !== null ? list.again : again} what="list of disputes" />;
  if (list.data === null || step === null) return <Loading what="what is in dispute" />;
  return (
    <div className="queue">
      <div className="page-head">
        <h1>Settle</h1>
        <span className="quiet"><Inline text={step.labeller} /> on <Inline text={labels} /></span>
        <div className="actions">
          <progress max={Math.max(step.n_labels, 1)} value={list.data.n_settled} aria-label="Settled" />
          <span className="small quiet">{count(list.data.n_settled)} of {count(step.n_labels)} settled</span>
        </div>
      </div>
      <Said labelling={labelling} />
      {list.data.n === 0 ? (
        <>
          <div className="notice tone-good">
            <h2>Nothing is left to settle</h2>
            {step.n_labels === 0 && <p>No two people differ on what both have labelled.</p>}
            {step.n_given > 0 && <p className="actions"><button type="button" onClick={undo}><kbd>u</kbd> Undo my last label</button></p>}
          </div>
          <Results labels={labels} labeller={labeller} />
        </>
      ) : (
        <div className="settling">
          <Disputes disputes={disputes} n={list.data.n} at={at} onOpen={open} />
          {question !== null ? <QuestionView question={question} labelling={labelling} /> : (
            <div className="notice tone-none">
              <h2>This one is settled</h2>
              <p className="actions"><button type="button" onClick={() => open(null)}>Show what is left</button></p>
            </div>
          )}
        </div>
      )}
    </div>
  );
}

function Disputes({ disputes, n, at, onOpen }: { disputes: readonly Dispute[]; n: number; at: number; onOpen: (one: Dispute) => void }) {
  return (
    <nav aria-label="In dispute" className="disputes">
      <h2 className="over">In dispute <span className="keys">(<kbd>j</kbd> <kbd>k</kbd> move)</span></h2>
      <ol>
        {disputes.map((one, place) => (
          <li key={`${one.sample} ${one.field}`}>
            <button type="button" aria-current={place === at ? "true" : undefined} onClick={() => onOpen(one)}>
              <span><Inline text={one.item_id} /> <span className="small"><Inline text={one.title} /></span></span>
              <span className="number" aria-label={`scores ${one.opinions.map((said) => said.words).join(" and ")}`}>{one.opinions.map((said) => said.words).join(" · ")}</span>
            </button>
          </li>
        ))}
      </ol>
      {n > disputes.length && <p className="small quiet">The first {disputes.length} of {count(n)}.</p>}
    </nav>
  );
}
