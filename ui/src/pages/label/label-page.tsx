import { useState } from "react";
import { address } from "../../api/client";
import type { Book } from "../../api/types";
import { useResource } from "../../api/use-resource";
import { counted } from "../../format";
import { Empty, Failed, Loading } from "../../parts/states";
import { useQuery } from "../../router";
import { Inline } from "../../text/model-text";
import { Queue } from "./queue";

/** People's labels: who labels what, then one sample after the other, the judge's scores out of sight. */
export default function LabelPage() {
  const [query, change] = useQuery();
  const labels = query.get("labels");
  const labeller = query.get("labeller");
  const sets = useResource<{ books: Book[] }>(labels === null || labeller === null ? address("/labels") : null);
  if (labels !== null && labeller !== null) return <Queue labels={labels} labeller={labeller} />;
  if (sets.error !== null) return <Failed error={sets.error} again={sets.again} what="list of labels" />;
  if (sets.data === null) return <Loading what="labels" />;
  return (
    <>
      <div className="page-head">
        <h1>Label</h1>
      </div>
      {sets.data.books.length === 0 ? <NoLabels /> : <Begin sets={sets.data.books} onBegin={(id, name) => change({ labels: id, labeller: name })} />}
    </>
  );
}

function Begin({ sets, onBegin }: { sets: readonly Book[]; onBegin: (labels: string, labeller: string) => void }) {
  const [name, setName] = useState("");
  return (
    <>
      <p>You see what was asked and what was answered, and nothing of what the judge said. Every key is recorded before the next question comes; you can go on whenever you like.</p>
      <div className="field begin">
        <label htmlFor="labeller">Your name, the same every time</label>
        <input id="labeller" type="text" maxLength={100} value={name} autoComplete="username" onChange={(event) => setName(event.target.value)} />
      </div>
      <ul className="label-sets">
        {sets.map((one) => (
          <li key={one.book} className="card">
            <h2><Inline text={one.book} /></h2>
            <p className="small quiet">{counted(one.n_samples, "sample")} of run <Inline text={one.run_id} /></p>
            <ul className="small">
              {Object.entries(one.by_labeller).map(([who, n]) => (
                <li key={who}>
                  <Inline text={who} />: {n.toLocaleString("en")} of {counted(one.n_labels_a_person, "label")}
                </li>
              ))}
            </ul>
            <button type="button" className="primary" disabled={name.trim() === ""} onClick={() => onBegin(one.book, name.trim())}>
              Label {name.trim() === "" && <span className="unseen">(give your name first)</span>}
            </button>
          </li>
        ))}
      </ul>
    </>
  );
}

function NoLabels() {
  return (
    <Empty title="Nothing to label">
      <p>
        Draw samples of a judged run for people to label: <code>benchbook label sample RUN --n 100 --out labels</code>
      </p>
    </Empty>
  );
}
