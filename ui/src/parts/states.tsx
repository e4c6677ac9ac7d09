import type { ReactNode } from "react";
import type { ApiError } from "../api/client";
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
export function Failed({ error, again, what }: { error: ApiError; again?: () => void; what: string }) {
  return (
    <div className="notice tone-bad" role="alert">
      <h2>{error.status === 404 ? `There is no such ${what}` : `The ${what} can't be shown`}</h2>
      <p>
        <Inline text={error.message} />
        {error.detail !== null && (
          <>
            {": "}
            <Inline text={error.detail} />
          </>
        )}
      </p>
      <p className="actions">
        {again !== undefined && error.status !== 404 && (
          <button type="button" onClick={again}>
            Try again
          </button>
        )}
        {error.status === 401 ? <Link to="/login">Log in</Link> : <Link to="/">All runs</Link>}
      </p>
    </div>
  );
}

export function Empty({ title, children }: { title: string; children: ReactNode }) {
  return (
    <div className="empty">
      <h2>{title}</h2>
      {children}
    </div>
  );
}

export type Tone = "good" | "bad" | "doubt" | "none";

export function Notice({ tone, title, children }: { tone: Tone; title: string; children: ReactNode }) {
  return (
    <section className={`notice tone-${tone}`} aria-label={title}>
      <h2>{title}</h2>
      {children}
    </section>
  );
}
