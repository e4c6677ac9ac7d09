import { Component, useEffect, useRef, type ComponentType, type ReactNode } from "react";
import { outer } from "./base";
import { loaded, type Loaded } from "./parts/loaded";
import { Empty } from "./parts/states";
import { Link } from "./parts/link";
import { Session } from "./parts/session";
import { usePath } from "./router";
import { RunsPage } from "./pages/runs/runs-page";

type Page = ComponentType<{ id: string }>;

interface Place {
  pattern: RegExp;
  title: string;
  page: Page | Loaded<{ id: string }>;
}

const page = (load: () => Promise<{ default: Page }>) => loaded("the page", () => load().then((found) => found.default));

const PLACES: readonly Place[] = [
  { pattern: /^\/(?:runs)?\/?$/, title: "Runs", page: RunsPage },
  { pattern: /^\/runs\/([^/]+)$/, title: "Run", page: page(() => import("./pages/run/run-page")) },
  { pattern: /^\/compare$/, title: "Compare", page: page(() => import("./pages/compare/compare-page")) },
  { pattern: /^\/judges$/, title: "Judges", page: page(() => import("./pages/judges/judges-page")) },
  { pattern: /^\/label$/, title: "Label", page: page(() => import("./pages/label/label-page")) },
  { pattern: /^\/leaderboard$/, title: "Leaderboard", page: page(() => import("./pages/leaderboard/leaderboard-page")) },
  { pattern: /^\/login$/, title: "Log in", page: page(() => import("./pages/login-page")) },
];

const MENU: readonly [string, string][] = [
  ["/", "Runs"],
  ["/compare", "Compare"],
  ["/judges", "Judges"],
  ["/label", "Label"],
  ["/leaderboard", "Leaderboard"],
];

export function App() {
  const path = usePath();
  const main = useRef<HTMLElement>(null);
  const found = PLACES.map((place) => ({ place, match: place.pattern.exec(path) })).find((one) => one.match !== null);
  const arrived = useRef(path);

  useEffect(() => {
    document.title = `${found?.place.title ?? "Not found"} – Benchbook`;
    if (arrived.current !== path) main.current?.focus({ preventScroll: true }); // a screen reader goes on at the new page
    arrived.current = path;
  }, [path, found?.place.title]);

  const Page = found?.place.page;
  return (
    <>
      <a className="skip" href="#main">
        Skip to the page
      </a>
      <header className="masthead">
        <Link to="/" className="name">
          <img src={outer("/icon.svg")} alt="" />
          Benchbook
        </Link>
        <nav aria-label="Pages">
          <ul>
            {MENU.map(([to, name]) => (
              <li key={to}>
                <Link to={to} current={to === "/" ? path === "/" || path.startsWith("/runs") : path === to}>
                  {name}
                </Link>
              </li>
            ))}
          </ul>
        </nav>
        <Session path={path} />
      </header>
      <main id="main" ref={main} tabIndex={-1}>
        <Guard key={path}>
          {Page === undefined ? <NotFound /> : <Page id={idIn(found?.match?.[1])} />}
        </Guard>
      </main>
    </>
  );
}

function idIn(part: string | undefined): string {
  try {
    return decodeURIComponent(part ?? "");
  } catch {
    return part ?? ""; // a broken escape: the server will say that there is no such run
  }
}

function NotFound() {
  return (
    <Empty title="There is no such page">
      <p>
        The address leads nowhere. <Link to="/">All runs</Link>
      </p>
    </Empty>
  );
}

/** One page that breaks leaves the others usable. */
class Guard extends Component<{ children: ReactNode }, { failed: boolean }> {
  override state = { failed: false };

  static getDerivedStateFromError(): { failed: boolean } {
    return { failed: true };
  }

  override render(): ReactNode {
    if (!this.state.failed) return this.props.children;
    return (
      <div className="notice tone-bad" role="alert">
        <h2>This page broke</h2>
        <p>That is a fault of Benchbook's, not of your data. Loading it again may help; the other pages go on.</p>
        <p className="actions">
          <button type="button" onClick={() => window.location.reload()}>
            Load again
          </button>
        </p>
      </div>
    );
  }
}
