/** The site's data: scripts in data/, since a page that was opened from a folder may load those and nothing else. */

const asked = new Map<string, Promise<unknown>>();
const came = new Map<string, string>();

window.benchbook = (name, packed) => {
  came.set(name, packed);
};

/** The JSON of a script in data/, loaded once; who asks knows its form. Raises: Error where it is missing or damaged. */
export async function part<T>(name: string): Promise<T> {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- written by server/site, and held to it by a test
  return once(asked, name, loaded) as Promise<T>;
}

/** What `load` gives for a name, which is kept; where it fails it is asked for again: it may be there the next time. */
export async function once<T>(kept: Map<string, Promise<T>>, name: string, load: (name: string) => Promise<T>): Promise<T> {
  let found = kept.get(name);
  if (found === undefined) {
    found = load(name);
    kept.set(name, found);
    found.catch(() => kept.delete(name));
  }
  return found;
}

async function loaded(name: string): Promise<unknown> {
  await new Promise<void>((done, failed) => {
    const script = document.createElement("script");
    script.src = `data/${name}.js`;
    script.addEventListener("load", () => done());
    script.addEventListener("error", () => failed(new Error(`data/${name}.js can't be read`)));
    document.head.append(script);
  });
  const packed = came.get(name);
  if (packed === undefined) throw new Error(`data/${name}.js does not say what it holds`);
  came.delete(name);
  return unpacked(packed);
}

async function unpacked(packed: string): Promise<unknown> {
  const bytes = Uint8Array.from(atob(packed), (one) => one.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).json();
}
