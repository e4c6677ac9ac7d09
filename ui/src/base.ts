/** Where the page lies: at `/`, or below a path where another server hands on what it was asked (`/proxy/8400/`). */

// The build lies in assets/, the source in src/: one above either is the page. (Written so that Vite leaves it alone.)
const here: string = SITE ? document.baseURI : import.meta.url;
export const BASE: string = new URL("..", here).pathname;

/** The browser's address of one of the page's own: `/runs` is `/proxy/8400/runs`, and `#/runs` where it is files. */
export const outer = (path: string, base: string = BASE): string => (SITE ? `#${path}` : base + path.replace(/^\//, ""));

/** The page's own address of a browser's; one that lies elsewhere stays as it is. */
export const inner = (path: string, base: string = BASE): string =>
  path.startsWith(base) ? `/${path.slice(base.length)}` : `${path}/` === base ? "/" : path;

/** A file that lies beside the page. */
export const file = (name: string): string => (SITE ? name : outer(`/${name}`));

/** The page's own address that the browser shows now: in its path, or behind a # where no server answers paths. */
export function shown(): { path: string; search: string } {
  if (!SITE) return { path: inner(window.location.pathname), search: window.location.search };
  const [path = "", search = ""] = window.location.hash.slice(1).split(/(?=\?)/s, 2);
  return { path: path === "" ? "/" : path, search };
}
