import { useState, type ReactNode } from "react";
import { address } from "../../api/client";
import type { Book, BookList, WhoAmI } from "../../api/types";
import { useMe } from "../../api/use-me";
import { useResource } from "../../api/use-resource";
import { counted } from "../../format";
import { count } from "../../numbers";
import { Link } from "../../parts/link";
import { Empty, Failed, Loading } from "../../parts/states";
import { useQuery } from "../../router";
import { Inline } from "../../text/model-text";
import { Draw } from "./draw";
import { disputedIn, queueAddress, resultsAddress, settleAddress } from "./places";
import { Queue } from "./queue";
import { Results } from "./results";
import { Settle } from "./settle";

/** People's labels: one sample after the other, the judge's scores out of sight; then what is in dispute, and what follows. */
export default function LabelPage() {
  const [query] = useQuery();
  const labels = query.get("labels");
  const labeller = query.get("labeller");
  const draw = query.get("draw");
  if (draw !== null && labels === null && !SITE) return <Draw key={draw} run={draw} />;
  if (labels !== null && query.get("view") === "results") return <ResultsPage labels={labels} />;
  if (labels === null || labeller === null) return <Begin />;
  return query.get("view") === "settle" ? <Settle labels={labels} labeller={labeller} /> : <Queue labels={labels} labeller={labeller} />;
}

function ResultsPage({ labels }: { labels: string }) {
  return (
    <>
      <div className="page-head">
        <h1>Labels</h1>
        <span className="quiet"><Inline text={labels} /></span>
      </div>
      <Results labels={labels} />
    </>
  );
}

function Begin() {
  const sets = useResource(address("/labels"));
  const me = useMe();
  const error = sets.error ?? me.error;
  return (
    <>
      <div className="page-head">
        <h1>Label</h1>
      </div>
      {error !== null && <Failed error={error} again={sets.error !== null ? sets.again : me.again} what="list of labels" />}
      {error === null && (sets.data === null || me.data === null) && <Loading what="labels" />}
      {sets.data !== null && me.data !== null && <Found sets={sets.data} me={me.data} />}
    </>
  );
}

function Found({ sets, me }: { sets: BookList; me: WhoAmI }) {
  const damaged = sets.damaged ?? [];
  return (
    <>
      {damaged.map((one) => (
        <div key={one.book} className="notice tone-bad">
          <h2>The labels <Inline text={one.book} /> are damaged</h2>
          <p><Inline text={one.error} /></p>
        </div>
      ))}
      {sets.books.length > 0 && <Sets sets={sets.books} me={me} />}
      {sets.books.length === 0 && damaged.length === 0 && <NoLabels />}
    </>
  );
}

function Sets({ sets, me }: { sets: readonly Book[]; me: WhoAmI }) {
  const [typed, setTyped] = useState("");
  const may = me.scopes.includes("label");
  const name = me.via === "local" ? typed.trim() : me.name; // nobody labels in another's name
  return (
    <>
      <p>You see what was asked and what was answered, and nothing of what the judge said. Every key is recorded before the next question comes; you can go on whenever you like.</p>
      {me.via === "local" && (
        <div className="field begin">
          <label htmlFor="labeller">Your name, the same every time</label>
          <input id="labeller" type="text" maxLength={100} value={typed} autoComplete="username" onChange={(event) => setTyped(event.target.value)} />
        </div>
      )}
      {me.via !== "local" && may && <p>You label as <strong><Inline text={me.name} /></strong>, your token's name.</p>}
      {!may && (
        <div className="notice tone-doubt">
          <h2>Your token may look, not label</h2>
          <p>To label, log in with one that has the scope <code>label</code>: <code>benchbook token create --name NAME --scope read --scope label</code></p>
        </div>
      )}
      <ul className="label-sets">
        {sets.map((one) => <SetCard key={one.book} one={one} name={name} may={may} />)}
      </ul>
    </>
  );
}

function SetCard({ one, name, may }: { one: Book; name: string; may: boolean }) {
  const disputed = disputedIn(one);
  const given = Object.values(one.by_labeller);
  return (
    <li className="card">
      <h2><Inline text={one.book} /></h2>
      <p className="small quiet">{counted(one.n_samples, "sample")} of run <Inline text={one.run_id} />{one.drawn_for === "decision" && ", drawn for its decision"}</p>
      <ul className="small">
        {Object.entries(one.by_labeller).map(([who, n]) => (
          <li key={who}>
            <Inline text={who} />: {count(n)} of {counted(one.n_labels_a_person, "label")}
          </li>
        ))}
      </ul>
      {may && (
        <div className="actions">
          <Act to={queueAddress(one.book, name)} primary ready={name !== ""}>Label</Act>
          {disputed > 0 && <Act to={settleAddress(one.book, name)} ready={name !== ""}>Settle {count(disputed)} in dispute</Act>}
        </div>
      )}
      {given.some((n) => n >= one.n_labels_a_person) && <Link to={resultsAddress(one.book)}>What people and the judge say</Link>}
    </li>
  );
}

/** A way on, which stays shut until somebody has said who they are. */
function Act({ to, ready, primary = false, children }: { to: string; ready: boolean; primary?: boolean; children: ReactNode }) {
  const look = primary ? "primary" : "";
  if (ready) return <Link to={to} className={`button ${look}`}>{children}</Link>;
  return <button type="button" className={look} disabled>{children} <span className="unseen">(give your name first)</span></button>;
}

function NoLabels() {
  return (
    <Empty title="Nothing to label">
      <p>
        Draw answers for people to label on a run's page, or into the folder of records: <code>benchbook label sample RUN --n 100 --out runs/labels</code>; <code>--for decision</code> in place of a number takes the fewest that settle the run's decision.
      </p>
    </Empty>
  );
}
