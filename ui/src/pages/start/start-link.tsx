import { useMe } from "../../api/use-me";
import { Link } from "../../parts/link";

/** The way to start a run, for whoever may. */
export function StartLink() {
  const may = useMe().data?.scopes.includes("write") === true;
  return may ? <Link to="/start" className="button">Start a run</Link> : null;
}
