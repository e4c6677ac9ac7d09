import { address } from "../../api/client";
import { useResource } from "../../api/use-resource";
import { Link } from "../../parts/link";
import { Inline } from "../../text/model-text";
import { auditAddress } from "../audits/places";

/** Whether the run's judge has an audit card that holds, in the words of `benchbook run`. */
export function JudgeCard({ id }: { id: string }) {
  const found = useResource(address("/runs/{run_id}/judge-card", { run_id: id })).data;
  if (found === null || found.words === null) return null;
  return (
    <p className="small quiet">
      {found.words.split("`").map((part, place) => (place % 2 === 1 ? <code key={place}><Inline text={part} /></code> : <Inline key={place} text={part} />))}
      {found.found !== null && <> <Link to={auditAddress(found.found.audit_id)}>Its card</Link></>}
    </p>
  );
}
