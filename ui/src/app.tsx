import { useEffect, useRef, type ComponentType } from "react";
import { file } from "./base";
import { CopyLink } from "./parts/copy-link";
import { Guard } from "./parts/guard";
import { KeysHelp } from "./parts/keys-help";
import { loaded, type Loaded } from "./parts/loaded";
import { Empty } from "./parts/states";
import { Link } from "./parts/link";
import { ServerBar } from "./parts/server-bar";
import { Session } from "./parts/session";
import { Skip } from "./parts/skip";
import { useAddress, usePath } from "./router";
import { titleOf } from "./titles";
import { RunsPage } from "./pages/runs/runs-page";

type Page = ComponentType<{ id: string }>;

interface Place {
  pattern: RegExp;
  title: string;
  page: Page | Loaded<{ id: string }>;
}

const page = (load: () => Promise<{ default: Page }>) => loaded("the page", () => load().then((found) => found.default));

const PLACES: readonly Place[] = [
  { pattern: /^\/(?:runs)?$/, title: "Runs", page: RunsPage },
  { pattern: /^\/runs\/([^/]+)$/, title: "Run", page: page(() => import("./pages/run/run-page")) },
  { pattern: /^\/compare$/, title: "Compare", page: page(() => import("./pages/compare/compare-page")) },
  { pattern: /^\/judges$/, title: "Judges", page: page(() => import("./pages/judges/judges-page")) },
  ...(SITE ? [] : [{ pattern: /^\/audits$/, title: "Audits", page: page(() => import("./pages/audits/audits-page")) }]),
  ...(SITE ? [] : [{ pattern: /^\/pairs$/, title: "Runs in pairs", page: page(() => import("./pages/pairs/pairs-page")) }]),
  { pattern: /^\/label$/, title: "Label", page: page(() => import("./pages/label/label-page")) },
  { pattern: /^\/leaderboard$/, title: "Leaderboard", page: page(() => import("./pages/leaderboard/leaderboard-page")) },
  { pattern: /^\/start$/, title: "Start a run", page: page(() => import("./pages/start/start-page")) },
  { pattern: /^\/login$/, title: "Log in", page: page(() => import("./pages/login-page")) },
];

const MENU: readonly [string, string][] = [
  ["/", "Runs"],
  ["/compare", "Compare"],
  ["/judges", "Judges"],
  ...(SITE ? [] : [["/label", "Label"] as [string, string]]),
  ["/leaderboard", "Leaderboard"],
];

export function App() {
  const path = usePath();
  const address = useAddress();
  const main = useRef<HTMLElement>(null);
  const found = PLACES.map((place) => ({ place, match: place.pattern.exec(path) })).find((one) => one.match !== null);
  const id = idIn(found?.match?.[1]);
  const arrived = useRef(path);

  useEffect(() => {
    if (arrived.current !== path) main.current?.focus({ preventScroll: true }); // a screen reader goes on at the new page
    arrived.current = path;
  }, [path]);
  useEffect(() => {
    document.title = titleOf(found?.place.title ?? "Not found", id, new URLSearchParams(address.split("?")[1]));
  }, [address, found?.place.title, id]);

  const Page = found?.place.page;
  return (
    <>
      <Skip to={() => main.current}>Skip to the page</Skip>
      <header className="masthead">
        <Link to="/" className="name">
          <img src={file("icon.svg")} alt="" />
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
        <div className="tools">
          <Session path={path} />
          <CopyLink />
          <KeysHelp />
        </div>
      </header>
      <main ref={main} tabIndex={-1}>
        <Guard key={path} address={address}>
          {Page === undefined ? <NotFound /> : <Page id={id} />}
        </Guard>
      </main>
      <ServerBar />
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
    <Empty title="There is no such page" top>
      <p>
        The address leads nowhere. It may have been cut on its way, or the page is of another version.
      </p>
      <p className="actions">
        {MENU.map(([to, name]) => (
          <Link key={to} to={to}>
            {name}
          </Link>
        ))}
      </p>
    </Empty>
  );
}
