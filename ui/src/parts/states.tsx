import type { ReactNode } from "react";
import { sentenceOf, type ApiError } from "../api/client";
import type { HeadlineWords } from "../api/types";
import { loginAddress } from "../router";
import { Inline } from "../text/model-text";
import { Link } from "./link";

export function Loading({ what }: { what: string }) {
  return (
    <p className="loading" role="status">
      <span className="spinner" aria-hidden="true" />
      Loading {what} …
    </p>
  );
}

/** What went wrong, in the server's words, and a way to go on. */
export function Failed({ error, again, what, title }: { error: ApiError; again?: () => void; what: string; title?: string }) {
  return (
    <div className="notice tone-bad" role="alert">
      <h2>{title ?? headline(error, what)}</h2>
      <p>{error.status === 401 ? "The session is over, or has not begun: log in with a token, and you are back here." : <Inline text={sentenceOf(error)} />}</p>
      <p className="actions">
        {again !== undefined && ![401, 404].includes(error.status) && (
          <button type="button" onClick={again}>
            Try again
          </button>
        )}
        {error.status === 401 ? <Link to={loginAddress()} className="button primary">Log in</Link> : <Link to="/">All runs</Link>}
      </p>
    </div>
  );
}

function headline(error: ApiError, what: string): string {
  if (error.status === 401) return "You are not logged in";
  return error.status === 404 ? `There is no such ${what}` : `The ${what} can't be shown`;
}

/** The same within a line. */
export function Wrong({ error }: { error: ApiError }) {
  return (
    <span role="alert" className="wrong small">
      {error.status === 401 ? <>You are not logged in. <Link to={loginAddress()}>Log in</Link></> : <Inline text={sentenceOf(error)} />}
    </span>
  );
}

/** Nothing to show, and what to do. `top`: it is all that the page has, so its title is the page's. */
export function Empty({ title, children, top = false }: { title: string; children: ReactNode; top?: boolean }) {
  return (
    <div className="empty">
      {top ? <h1>{title}</h1> : <h2>{title}</h2>}
      {children}
    </div>
  );
}

export type Tone = HeadlineWords["tone"];

/** A sign for each colour: neither is needed to understand the other. */
export const MARKS: Readonly<Record<Tone, string>> = { good: "✓", bad: "✕", doubt: "?", none: "–" };

export function Notice({ tone, title, children }: { tone: Tone; title: string; children: ReactNode }) {
  return (
    <section className={`notice tone-${tone}`} aria-label={title}>
      <h2>{title}</h2>
      {children}
    </section>
  );
}
