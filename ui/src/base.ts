/** Where the page lies: at `/`, or below a path where another server hands on what it was asked (`/proxy/8400/`). */

// The build lies in assets/, the source in src/: one above either is the page. (Written so that Vite leaves it alone.)
const here: string = import.meta.url;
export const BASE: string = new URL("..", here).pathname;

/** The browser's address of one of the page's own: `/runs` is `/proxy/8400/runs`. */
export const outer = (path: string, base: string = BASE): string => base + path.replace(/^\//, "");

/** The page's own address of a browser's; one that lies elsewhere stays as it is. */
export const inner = (path: string, base: string = BASE): string =>
  path.startsWith(base) ? `/${path.slice(base.length)}` : `${path}/` === base ? "/" : path;
