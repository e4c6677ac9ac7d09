import { address } from "../../api/client";
import type { ListedPairs, PairsAnswer, PairsList, RankingWords } from "../../api/types";
import { useResource } from "../../api/use-resource";
import { SpansView } from "../../charts/spans";
import { Choice } from "../../parts/fields";
import { Link } from "../../parts/link";
import { ReportTableView } from "../../parts/report-table";
import { Empty, Failed, Loading } from "../../parts/states";
import { runAddress, useQuery } from "../../router";
import { Inline } from "../../text/model-text";
import { pairsAddress } from "./places";

const SWAPS = [
  { value: "tie", text: "a win that survives the swap, else a tie" },
  { value: "half", text: "each order as half a verdict" },
];

/** Models ranked by a judge's verdicts on pairs of their answers: all such comparisons, or one of them, as `benchbook judge pairs` has it. */
export default function PairsPage() {
  const [query] = useQuery();
  const pairs = query.get("pairs");
  return pairs === null ? <All /> : <One pairs={pairs} />;
}

function All() {
  const found = useResource(address("/pairs"));
  return (
    <>
      <div className="page-head">
        <h1>Runs in pairs</h1>
      </div>
      {found.error !== null && <Failed error={found.error} again={found.again} what="list of runs in pairs" />}
      {found.data === null && found.error === null && <Loading what="runs in pairs" />}
      {found.data !== null && <Listed list={found.data} />}
    </>
  );
}

function Listed({ list }: { list: PairsList }) {
  if (list.pairs.length === 0) {
    return (
      <Empty title="No judge compared runs in pairs yet">
        <p>
          <code>benchbook judge pairs RUN RUN --judge MODEL</code> asks a judge which of two answers to an item is better, in both orders.
        </p>
      </Empty>
    );
  }
  return (
    <div className="table" tabIndex={0} role="region" aria-label="Table of runs in pairs">
      <table>
        <thead>
          <tr>
            <th scope="col">Pairs</th>
            <th scope="col">Models</th>
            <th scope="col">Held against</th>
          </tr>
        </thead>
        <tbody>{list.pairs.map((one) => <Row key={one.pairs} one={one} />)}</tbody>
      </table>
    </div>
  );
}

function Row({ one }: { one: ListedPairs }) {
  return (
    <tr>
      <th scope="row">
        {one.lacks === null ? <Link to={pairsAddress(one.pairs)}><Inline text={one.pairs} /></Link> : <Inline text={one.pairs} />}
        {one.lacks !== null && <span className="small quiet"> not complete: <code>benchbook judge pairs --resume {one.pairs}</code> goes on</span>}
      </th>
      <td><Inline text={Object.keys(one.runs).join(", ")} /></td>
      <td>{one.baseline === null ? "one another" : <Inline text={one.baseline} />}</td>
    </tr>
  );
}

function One({ pairs }: { pairs: string }) {
  const [query, change] = useQuery();
  const swap = query.get("swap") === "half" ? "half" : "tie";
  const found = useResource(address("/pairs/{pairs}", { pairs, swap }));
  return (
    <>
      <div className="page-head">
        <h1>Runs in pairs</h1>
        <span className="quiet"><Inline text={pairs} /></span>
        <div className="actions">
          <Link to="/pairs" className="button">All runs in pairs</Link>
        </div>
      </div>
      <div className="filters">
        <Choice label="A verdict in both orders counts as" value={swap} options={SWAPS} onChange={(value) => change({ swap: value === "tie" ? null : value })} />
      </div>
      {found.error !== null && <Failed error={found.error} again={found.again} what="ranking" />}
      {found.data === null && found.error === null && <Loading what="the ranking" />}
      {found.data !== null && <Rankings found={found.data} />}
    </>
  );
}

function Rankings({ found }: { found: PairsAnswer }) {
  return (
    <>
      {found.words.map((one, place) => <Ranking key={place} words={one} judge={found.rankings[place]?.judge ?? null} />)}
      <p className="small quiet">
        Rankings go by the verdicts on answers of {Object.entries(found.runs).map(([model, run], place) => (
          <span key={model}>{place > 0 && ", "}<Link to={runAddress(run)}><Inline text={run} /></Link></span>
        ))}. The same in a terminal: <code>benchbook judge pairs <Inline text={found.pairs} /></code>
      </p>
    </>
  );
}

/** One ranking: who is ahead, the models' chances, what sways the judge, both as tables, and what it rests on. */
function Ranking({ words, judge }: { words: RankingWords; judge: string | null }) {
  return (
    <section className="part ranking">
      <h2>{judge !== null && <><Inline text={judge} />: </>}<Inline text={words.headline} /></h2>
      <div className="pictures">{words.pictures.map((one) => <SpansView key={one.title} of={one} />)}</div>
      {words.tables.map((table) => <ReportTableView key={table.caption} table={table} of={judge ?? undefined} />)}
      <ul className="small">{words.notes.map((one) => <li key={one}><Inline text={one} /></li>)}</ul>
    </section>
  );
}
