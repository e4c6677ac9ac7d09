import { useEffect, useEffectEvent } from "react";
import { address, API, get } from "./client";
import { useReturn } from "./server";

const QUIET_MS = 250; // of many changes in a moment, one is told

/**
 * Calls `changed` when the server says that a run changed, that it has indexed more, or that the page missed something;
 * while it is looked at.
 */
export function useLive(changed: () => void, active = true): void {
  const now = useEffectEvent(changed);
  useReturn(() => {
    if (active) changed();
  });
  useEffect(() => {
    if (!active || SITE) return;
    let source: EventSource | null = null;
    let timer: number | undefined;
    const soon = () => {
      window.clearTimeout(timer);
      timer = window.setTimeout(() => now(), QUIET_MS);
    };
    const lost = () => void get(address("/indexing")).catch(() => undefined); // is it away, or only the stream cut?
    // A browser has few connections to a server: a page that nobody looks at holds none.
    const follow = () => {
      if (document.visibilityState === "visible" && source === null) {
        source = new EventSource(`${API}/events`);
        source.addEventListener("run", soon);
        source.addEventListener("removed", soon);
        source.addEventListener("indexing", soon);
        source.addEventListener("error", lost);
        source.addEventListener("open", soon); // something may have changed before it was open
      } else if (document.visibilityState === "hidden") {
        source?.close();
        source = null;
      }
    };
    follow();
    document.addEventListener("visibilitychange", follow);
    return () => {
      document.removeEventListener("visibilitychange", follow);
      window.clearTimeout(timer);
      source?.close();
    };
  }, [active]);
}
