import { useEffect, useEffectEvent } from "react";

/** Calls `ask` now and then, while `active` and while somebody looks at the page. */
export function useEvery(ms: number, ask: () => void, active: boolean): void {
  const now = useEffectEvent(ask);
  useEffect(() => {
    if (!active) return;
    const timer = window.setInterval(() => {
      if (document.visibilityState === "visible") now();
    }, ms);
    return () => window.clearInterval(timer);
  }, [ms, active]);
}
