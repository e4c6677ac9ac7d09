/** The only place that asks the server. Every answer is JSON or a problem (RFC 9457). */

import { outer } from "../base";
import { heard } from "./server";
import type { Gets, Sends } from "./types";

export class ApiError extends Error {
  readonly status: number;
  readonly detail: string | null;
  readonly retryAfterS: number | null; // the server asks to be asked again then

  constructor(status: number, title: string, detail: string | null, retryAfterS: number | null = null) {
    super(title);
    this.status = status;
    this.detail = detail;
    this.retryAfterS = retryAfterS;
  }
}

/** Whatever was thrown, as an error that can be shown. */
export function errorOf(reason: unknown): ApiError {
  return reason instanceof ApiError ? reason : new ApiError(0, "The answer makes no sense", String(reason));
}

/** An error within a line of text: `Forbidden: this needs the scope label, which the token lacks`. */
export const sentenceOf = (error: ApiError): string => (error.detail === null ? error.message : `${error.message}: ${error.detail}`);

export const API = SITE ? "/api/v1" : outer("/api/v1");

/** The paths that are asked, as the server's document has them: `/runs/{run_id}/samples`. */
export type Path = keyof Gets;
/** What a path answers. */
export type Answer<P extends Path> = Gets[P]["answers"];

/** A run's aggregates.json and decision.json, of any evaluator. */
export type Aggregates = Answer<"/runs/{run_id}/aggregates">;
export type Decision = Answer<"/runs/{run_id}/decision">;

type Value = string | number | boolean | readonly string[] | null | undefined;
type Braced<P> = P extends `${string}{${infer Name}}${infer Rest}` ? Name | Braced<Rest> : never;
type Places<P> = Readonly<Record<Braced<P>, string | number>>;
type Params<P extends Path> = Places<P> & Readonly<Partial<Record<Gets[P]["takes"], Value>>>;

/** An address of the API, which knows what is answered there. */
export type Address<T> = string & { readonly answers?: T };

/** The address of a path, whatever stands in its parts, and in its query what is not empty. */
export function address<P extends Path>(path: P, ...[params]: [Braced<P>] extends [never] ? [Params<P>?] : [Params<P>]): Address<Answer<P>> {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries<Value>(params ?? {})) {
    if (value === null || value === undefined || value === "" || path.includes(`{${name}}`)) continue;
    for (const one of Array.isArray(value) ? value : [value]) query.append(name, String(one));
  }
  const text = query.toString();
  return `${API}${filled(path, params ?? {})}${text === "" ? "" : `?${text}`}`;
}

/** A path with its parts in their places, escaped. */
const filled = (path: string, places: Readonly<Record<string, Value>>): string => path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(places[name])));

export async function get<T>(url: Address<T>, signal?: AbortSignal): Promise<T> {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the answer that the API gave when the site was written
  if (SITE) return (await (await import("../site/answers")).siteAnswer(url.slice(API.length))) as T;
  return ask<T>(url, signal ? { signal } : {});
}

/** Sends to a path what changes something there: `POST /labels/{book}/undo`. `ifMatch`: only if it is still what that names. */
export async function send<K extends keyof Sends>(what: K, places: Places<K>, ...[body, ifMatch]: Sends[K]["body"] extends undefined ? [] : [Sends[K]["body"], ifMatch?: string]): Promise<Sends[K]["answers"]> {
  if (SITE) throw new ApiError(405, "This is a copy of the page", "It only shows; `benchbook serve` over the records takes changes.");
  const [method = "", path = ""] = what.split(" ");
  const headers: Record<string, string> = { "content-type": "application/json" };
  const token = csrfToken();
  if (token !== null) headers["x-csrf-token"] = token;
  if (ifMatch !== undefined) headers["if-match"] = ifMatch;
  return ask<Sends[K]["answers"]>(API + filled(path, places), { method, headers, body: body === undefined ? null : JSON.stringify(body) });
}

/** The cookie that proves to the server that a write comes from its own page. */
function csrfToken(): string | null {
  const found = /(?:^|;\s*)benchbook_csrf=([^;]*)/.exec(document.cookie);
  return found ? decodeURIComponent(found[1]!) : null;
}

async function ask<T>(url: string, init: RequestInit): Promise<T> {
  let response: Response;
  try {
    response = await fetch(url, { credentials: "same-origin", ...init });
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    heard(false);
    throw new ApiError(0, "The server does not answer", "Is `benchbook serve` still running? Then this page goes on by itself.");
  }
  heard(true);
  if (!response.ok) throw await problem(response);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- tests/server/test_openapi.py holds answers to the document
  return (await response.json()) as T;
}

function retryAfter(response: Response): number | null {
  const seconds = Number(response.headers.get("retry-after") ?? "");
  return response.status === 503 && seconds > 0 ? seconds : null;
}

async function problem(response: Response): Promise<ApiError> {
  const body: unknown = await response.json().catch(() => null);
  const { title, detail } = (body ?? {}) as { title?: unknown; detail?: unknown };
  return new ApiError(
    response.status,
    typeof title === "string" ? title : `The server answered ${response.status}`,
    typeof detail === "string" ? detail : null,
    retryAfter(response),
  );
}
