import { useLayoutEffect, useState, type ComponentType } from "react";
import { answers, whenBack } from "../api/server";
import { Loading } from "./states";

/** A component whose module is loaded when it is first wanted; `preload` begins with that before it is shown. */
export type Loaded<P> = ComponentType<P> & { preload: () => Promise<void> };

const TRIES = 3;
const AGAIN_MS = 250;

/** Loads a module; where the server is away, once it is back. */
async function patiently<T>(load: () => Promise<T>): Promise<T> {
  for (let left = TRIES - 1; ; ) {
    try {
      return await load();
    } catch (error) {
      if (!(await answers())) {
        await whenBack();
        continue;
      }
      // It may have come back between the two questions; or it is there, and the module is not.
      if (left === 0) throw error;
      left -= 1;
      await new Promise((done) => window.setTimeout(done, AGAIN_MS));
    }
  }
}

/**
 * React's own `lazy` keeps what has come hidden until 300 ms after it showed that it waits, so that nothing flickers
 * (FALLBACK_THROTTLE_MS). From a server nearby a module takes a tenth of that.
 */
export function loaded<P extends object>(what: string, load: () => Promise<ComponentType<P>>): Loaded<P> {
  let Found: ComponentType<P> | null = null;
  let coming: Promise<void> | null = null;
  const preload = () =>
    (coming ??= patiently(load).then(
      (component) => void (Found = component),
      (error: unknown) => {
        coming = null; // whoever wants it next tries again
        throw error;
      },
    ));

  function Shown(props: P) {
    const [failed, setFailed] = useState<{ error: unknown } | null>(null);
    const [, setThere] = useState(Found !== null);
    useLayoutEffect(() => {
      let gone = false;
      if (Found === null)
        preload().then(
          () => gone || setThere(true),
          (error: unknown) => gone || setFailed({ error }),
        );
      return () => void (gone = true);
    }, []);
    if (failed !== null) throw failed.error; // the page says that it broke
    return Found === null ? <Loading what={what} /> : <Found {...props} />;
  }
  return Object.assign(Shown, { preload });
}
