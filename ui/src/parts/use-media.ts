import { useSyncExternalStore } from "react";

/** Whether a media query holds, as it changes. */
export function useMedia(query: string): boolean {
  return useSyncExternalStore(
    (changed) => {
      const found = window.matchMedia(query);
      found.addEventListener("change", changed);
      return () => found.removeEventListener("change", changed);
    },
    () => window.matchMedia(query).matches,
  );
}
