import { useState } from "react";
import { errorOf, send, type ApiError } from "../../api/client";
import type { DrawnBook } from "../../api/types";
import { useMe } from "../../api/use-me";
import { counted } from "../../format";
import { Choice } from "../../parts/fields";
import { Link } from "../../parts/link";
import { Failed } from "../../parts/states";
import { runAddress } from "../../router";
import { Inline } from "../../text/model-text";
import { drawnName, labelAddress } from "./places";

const WAYS = [
  { value: "", text: "by chance: for all numbers, comparisons too" },
  { value: "decision", text: "for the decision: the fewest that settle it" },
];
const [BY_CHANCE, MOST] = [100, 100_000];

/** Draws answers of a run for people to label: by chance, or those whose labels settle its decision with the fewest. */
export function Draw({ run }: { run: string }) {
  const me = useMe();
  const [way, setWay] = useState("");
  const [n, setN] = useState("");
  const [book, setBook] = useState(() => drawnName(run));
  const [busy, setBusy] = useState(false);
  const [wrong, setWrong] = useState<ApiError | null>(null);
  const [drawn, setDrawn] = useState<DrawnBook | null>(null);
  const draw = () => {
    setBusy(true);
    setWrong(null);
    const wanted = { run, book, n: n === "" ? null : Number(n), drawn_for: way === "decision" ? ("decision" as const) : null };
    send("POST /labels", {}, wanted).then(setDrawn, (error: unknown) => setWrong(errorOf(error))).finally(() => setBusy(false));
  };
  return (
    <>
      <div className="page-head">
        <h1>Label answers</h1>
      </div>
      <p>Of run <Link to={runAddress(run)}><Inline text={run} /></Link>. Answers are drawn once; who labels them sees nothing of what the judge said.</p>
      {drawn !== null ? (
        <section className="part" aria-label="Drawn" role="status">
          <p className="strong">{counted(drawn.n_samples, "answer")} drawn into <Inline text={drawn.book} />.</p>
          {drawn.says !== undefined && <p><Inline text={drawn.says} />.</p>}
          <p className="actions"><Link to={labelAddress} className="button primary">Label them</Link></p>
        </section>
      ) : me.data !== null && !me.data.scopes.includes("write") ? (
        <div className="notice tone-doubt">
          <h2>Your token may not draw</h2>
          <p>That takes one with the scope <code>write</code>; or on the command line: <code>benchbook label sample <Inline text={run} /> --out runs/<Inline text={book} /></code></p>
        </div>
      ) : (
        <form className="filters draw" onSubmit={(event) => { event.preventDefault(); draw(); }}>
          <Choice label="Drawn" value={way} options={WAYS} onChange={setWay} />
          <div className="field">
            <label htmlFor="draw-n">How many</label>
            <input id="draw-n" type="number" min={1} max={MOST} value={n} placeholder={way === "" ? String(BY_CHANCE) : "enough"} onChange={(event) => setN(event.target.value)} />
          </div>
          <div className="field">
            <label htmlFor="draw-book">Name of the set</label>
            <input id="draw-book" type="text" required maxLength={100} pattern="[A-Za-z0-9][A-Za-z0-9._\-]*" value={book} onChange={(event) => setBook(event.target.value)} />
          </div>
          <div className="actions">
            <button type="submit" className="primary" disabled={busy}>{busy ? "Drawing …" : "Draw"}</button>
          </div>
        </form>
      )}
      {wrong !== null && <Failed error={wrong} what="draw" title="Nothing was drawn" />}
      {drawn === null && way === "decision" && <p className="small quiet">More of those verdicts are drawn on which the decision hangs, and each counts by how often the judge gave it. Such labels correct this run's own decision, and no comparison of it with others.</p>}
    </>
  );
}

/** The way to it, for whoever may. */
export function DrawLink({ to }: { to: string }) {
  const may = useMe().data?.scopes.includes("write") === true;
  return may ? <Link to={to} className="button">Label answers</Link> : null;
}
