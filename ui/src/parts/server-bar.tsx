import { useEffect, useState } from "react";
import { address, get } from "../api/client";
import { useServer } from "../api/server";
import type { Indexing } from "../api/types";
import { localTime } from "../format";

const SOON_MS = 1_000; // while something is to be seen
const SELDOM_MS = 5_000;

/** What is to be known of the server itself: that it is away, or has not looked through all records yet. Comes and goes by itself. */
export function ServerBar() {
  const { awaySince } = useServer();
  const indexing = useIndexing(awaySince !== null);
  if (awaySince !== null)
    return (
      <div className="server-bar tone-bad" role="status">
        <strong>The server does not answer.</strong> What you see is as it was at {localTime(new Date(awaySince).toISOString())?.text}. This goes on by itself once it is back.
      </div>
    );
  if (indexing === null || indexing.words === null) return null;
  return (
    <div className="server-bar tone-doubt" role="status">
      <strong>Lists are not whole yet:</strong> {indexing.words}. <progress max={indexing.total ?? undefined} value={indexing.total === null ? undefined : (indexing.done ?? 0)} aria-label="Records indexed" />
    </div>
  );
}

/** How far the server is with its first look, asked for as long as somebody looks at the page. */
function useIndexing(away: boolean): Indexing | null {
  const [found, setFound] = useState<Indexing | null>(null);
  const isBusy = away || (found !== null && found.words !== null);
  useEffect(() => {
    if (SITE) return;
    const ask = () => {
      if (document.visibilityState === "hidden") return;
      get(address("/indexing")).then(setFound, () => undefined); // that it is away is noted with every answer
    };
    ask();
    const timer = window.setInterval(ask, isBusy ? SOON_MS : SELDOM_MS);
    document.addEventListener("visibilitychange", ask);
    return () => {
      window.clearInterval(timer);
      document.removeEventListener("visibilitychange", ask);
    };
  }, [isBusy]);
  return found;
}
