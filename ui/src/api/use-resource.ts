import { useCallback, useEffectEvent, useLayoutEffect, useState } from "react";
import { errorOf, get, type Address, type ApiError } from "./client";

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
    askNow(abort.signal).then(
      (data) => {
        if (!abort.signal.aborted) setState({ key, data, error: null });
      },
      (error: unknown) => {
        if (abort.signal.aborted) return;
        setState({ key, data: null, error: errorOf(error) });
      },
    );
    return () => abort.abort();
  }, [key, turn]);

  const current = state.key === key;
  return { data: current || key !== null ? state.data : null, error: current ? state.error : null, loading: key !== null && !current, again };
}
