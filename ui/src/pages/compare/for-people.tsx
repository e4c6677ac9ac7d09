import type { Pair, TableWords } from "../../api/types";
import { Link } from "../../parts/link";
import { ReportTableView } from "../../parts/report-table";
import { Notice } from "../../parts/states";
import { Inline } from "../../text/model-text";
import { resultsAddress } from "../label/places";
import { tableNamed, worded, type Letters } from "./named";

interface TurnedProps {
  pairs: readonly Pair[];
  lettersOf: (pair: Pair) => Letters;
}

/** What people's labels turn, of any of the pairs: said before any number. */
export function Turned({ pairs, lettersOf }: TurnedProps) {
  const said = pairs.flatMap((pair) => (pair.as_people_would_judge?.turned ?? []).map((words) => worded(words, lettersOf(pair))));
  if (said.length === 0) return null;
  return (
    <Notice tone="doubt" title="What people's labels turn">
      <ul>{said.map((words) => <li key={words}>{words}</li>)}</ul>
    </Notice>
  );
}

/** The pair as people would judge, below as judged, in the words of `benchbook compare --labels`. */
export function ForPeople({ pair, letters }: { pair: Pair; letters: Letters }) {
  const found = pair.as_people_would_judge;
  if (found === undefined) return null;
  const table: TableWords = tableNamed(found.table, letters);
  return (
    <section className="by-people" aria-labelledby="for-people">
      <h3 id="for-people">As people would judge</h3>
      <p><Inline text={worded(found.says, letters)} /></p>
      <ReportTableView table={table} />
      {found.notes.map((note) => <p key={note} className="small quiet"><Inline text={worded(note, letters)} /></p>)}
      <p className="small quiet">
        {found.labels.length === 1 ? "Labels: " : "Sets of labels: "}
        {found.labels.map((name, place) => (
          <span key={name}>{place > 0 && ", "}<Link to={resultsAddress(name)}><Inline text={name} /></Link></span>
        ))}
      </p>
    </section>
  );
}
