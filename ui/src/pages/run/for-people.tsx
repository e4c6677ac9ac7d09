import type { RunForPeople } from "../../api/types";
import { Link } from "../../parts/link";
import { Notice } from "../../parts/states";
import { Inline } from "../../text/model-text";
import { BothWays } from "../label/calibration";
import { resultsAddress } from "../label/places";

/** Sets of labels by which people would decide otherwise: said before any number. */
export function TurnedDecision({ found }: { found: RunForPeople | null }) {
  const turned = (found?.sets ?? []).filter((one) => one.turned);
  if (turned.length === 0) return null;
  return (
    <Notice tone="doubt" title="People would decide otherwise">
      <ul>{turned.map((one) => <li key={one.labels}><Inline text={one.says} />{turned.length > 1 && <> <Of labels={one.labels} /></>}</li>)}</ul>
    </Notice>
  );
}

/** The run's decision as judged and as people would judge, by each set of labels. */
export function DecidedByPeople({ found }: { found: RunForPeople | null }) {
  if (found === null || found.sets.length === 0) return null;
  return (
    <section className="part" aria-labelledby="for-people">
      <h2 id="for-people">By people's labels</h2>
      {found.sets.map((one) => (
        <div key={one.labels}>
          <p><Inline text={one.says} /> <Of labels={one.labels} /></p>
          {one.as_people_judge !== null && <div className="cards wide"><BothWays judged={one.as_judged} people={one.as_people_judge} of={one.labels} /></div>}
        </div>
      ))}
    </section>
  );
}

const Of = ({ labels }: { labels: string }) => <span className="small">(<Link to={resultsAddress(labels)}><Inline text={labels} /></Link>)</span>;
