import { useCallback, useEffect, useEffectEvent, useLayoutEffect, useState } from "react";
import { errorOf, get, type Address, type ApiError } from "./client";
import { useReturn } from "./server";
import { underWay } from "./under-way";

export interface Resource<T> {
  data: T | null; // the last that came, also while a newer one is on its way
  error: ApiError | null;
  loading: boolean;
  again: () => void;
}

/** What an address answers; null asks nothing. */
export function useResource<T>(url: Address<T> | null): Resource<T> {
  return useAnswer<T>(url, (signal) => get(url!, signal));
}

/** What `ask` answers, for what can't be had from one address alone. `key` says what is asked; null asks nothing. */
export function useAnswer<T>(key: string | null, ask: (signal: AbortSignal) => Promise<T>): Resource<T> {
  const askNow = useEffectEvent(ask);
  const [state, setState] = useState<{ key: string | null; data: T | null; error: ApiError | null }>({ key: null, data: null, error: null });
  const [turn, setTurn] = useState(0);
  const again = useCallback(() => setTurn((n) => n + 1), []);

  // Before the frame is painted: the answer comes a frame earlier.
  useLayoutEffect(() => {
    if (key === null) return;
    const abort = new AbortController();
    underWay(askNow(abort.signal)).then(
      (data) => {
        if (!abort.signal.aborted) setState({ key, data, error: null });
      },
      (reason: unknown) => {
        if (abort.signal.aborted) return;
        const error = errorOf(reason);
        // While the server is away, what came before stays: a bar says that it is not of now.
        setState((before) => (error.status === 0 && before.key === key && before.data !== null ? before : { key, data: null, error }));
      },
    );
    return () => abort.abort();
  }, [key, turn]);

  useReturn(again);
  const wait = state.key === key ? (state.error?.retryAfterS ?? null) : null;
  useEffect(() => {
    if (wait === null) return;
    const timer = window.setTimeout(again, 1000 * wait);
    return () => window.clearTimeout(timer);
  }, [again, wait, state]);

  const current = state.key === key;
  return { data: current || key !== null ? state.data : null, error: current ? state.error : null, loading: key !== null && !current, again };
}
