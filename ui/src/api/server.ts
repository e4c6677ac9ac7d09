/** Whether the server answers: known from every answer, and from asking it now and then. */

import { outer } from "../base";
import { useEffect, useEffectEvent, useRef, useSyncExternalStore } from "react";

interface Server {
  awaySince: number | null; // as Date.now() has it
  returns: number; // how often it came back
}

let now: Server = { awaySince: null, returns: 0 };
const listeners = new Set<() => void>();

/** Takes note that an answer came, or that none did. */
export function heard(answered: boolean): void {
  if (answered === (now.awaySince === null)) return;
  now = answered ? { awaySince: null, returns: now.returns + 1 } : { ...now, awaySince: Date.now() };
  for (const listener of listeners) listener();
}

/** Whether the server answers, asked now. */
export async function answers(): Promise<boolean> {
  const found = SITE || (await fetch(outer("/healthz"), { cache: "no-store" }).then((response) => response.ok, () => false));
  heard(found);
  return found;
}

function subscribe(changed: () => void): () => void {
  listeners.add(changed);
  return () => void listeners.delete(changed);
}

export const useServer = (): Server => useSyncExternalStore(subscribe, () => now);

/** Calls `ask` once the server is back: what was looked at may be another, and what failed may be had. */
export function useReturn(ask: () => void): void {
  const { returns } = useServer();
  const again = useEffectEvent(ask);
  const known = useRef(returns); // what was asked for later has been answered since
  useEffect(() => {
    if (returns === known.current) return;
    known.current = returns;
    again();
  }, [returns]);
}

/** Waits until the server has come back. */
export function whenBack(): Promise<void> {
  return new Promise((resolve) => {
    if (now.awaySince === null) return resolve();
    const stop = subscribe(() => {
      if (now.awaySince !== null) return;
      stop();
      resolve();
    });
  });
}
