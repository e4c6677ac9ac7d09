/** Every state of the page is in its address: a path says what is looked at, the query how. */

import { useMemo, useSyncExternalStore } from "react";
import { outer, shown } from "./base";
import { newStep } from "./scroll";

const MOVED = "benchbook:moved";

function subscribe(changed: () => void): () => void {
  window.addEventListener("popstate", changed);
  if (SITE) window.addEventListener("hashchange", changed); // somebody wrote another address into the browser's line
  window.addEventListener(MOVED, changed);
  return () => {
    window.removeEventListener("popstate", changed);
    if (SITE) window.removeEventListener("hashchange", changed);
    window.removeEventListener(MOVED, changed);
  };
}

const path = (): string => shown().path.replace(/(?<=.)\/+$/, "");
const search = (): string => shown().search;
const address = (): string => path() + search();

/** Go to an address of this page. `replace` leaves no step behind in the browser's history. */
export function navigate(to: string, { replace = false } = {}): void {
  if (to === address()) return;
  if (replace) window.history.replaceState(window.history.state, "", outer(to));
  else window.history.pushState(newStep(), "", outer(to));
  window.dispatchEvent(new Event(MOVED));
}

export function usePath(): string {
  return useSyncExternalStore(subscribe, path);
}

/** The path with its query: all that is shown. */
export function useAddress(): string {
  return useSyncExternalStore(subscribe, address);
}

export type Changes = Record<string, string | readonly string[] | null | undefined>;

/** A query with parameters changed; an empty value takes one away. */
export function changedQuery(before: string, changes: Changes): string {
  const query = new URLSearchParams(before);
  for (const [name, value] of Object.entries(changes)) {
    query.delete(name);
    for (const one of typeof value === "string" ? [value] : (value ?? [])) {
      if (one !== "") query.append(name, one);
    }
  }
  const text = query.toString();
  return text === "" ? "" : `?${text}`;
}

/** The query, and a function that changes some of it and keeps the rest. */
export function useQuery(): [URLSearchParams, (changes: Changes, options?: { replace?: boolean }) => void] {
  const text = useSyncExternalStore(subscribe, search);
  const found = useMemo(() => new URLSearchParams(text), [text]);
  return [found, changeQuery];
}

function changeQuery(changes: Changes, options?: { replace?: boolean }): void {
  navigate(path() + changedQuery(search(), changes), options);
}

/** `/runs/{run_id}` with whatever stands in the id made safe. */
export function runAddress(runId: string, changes: Changes = {}): string {
  return `/runs/${encodeURIComponent(runId)}${changedQuery("", changes)}`;
}

/** Where to log in, and come back from to what is looked at now. */
export function loginAddress(): string {
  const here = address();
  return here.startsWith("/login") ? "/login" : `/login${changedQuery("", { to: here === "/" ? null : here })}`;
}

/** The page that `to` of a login leads back to; never another site's, whatever the address says. */
export function backFromLogin(to: string | null): string {
  return to !== null && /^\/(?![\\/])/.test(to) && !to.startsWith("/login") ? to : "/";
}

export function compareAddress(runIds: readonly string[], changes: Changes = {}): string {
  return `/compare${changedQuery("", { run: runIds, ...changes })}`;
}

/** What the query has under some names; empty where it has nothing. */
export function valuesOf<Name extends string>(query: URLSearchParams, names: readonly Name[]): Readonly<Record<Name, string>> {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- each name is there, which `fromEntries` does not say
  return Object.fromEntries(names.map((name) => [name, query.get(name) ?? ""])) as Record<Name, string>;
}

/** A row number in an address; null for what is none. */
export function placeOf(text: string | null): number | null {
  return text !== null && /^\d{1,9}$/.test(text) ? Number(text) : null;
}
