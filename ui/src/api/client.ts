/** The only place that asks the server. Every answer is JSON or a problem (RFC 9457). */

import { outer } from "../base";

export class ApiError extends Error {
  readonly status: number;
  readonly detail: string | null;

  constructor(status: number, title: string, detail: string | null) {
    super(title);
    this.status = status;
    this.detail = detail;
  }
}

/** Whatever was thrown, as an error that can be shown. */
export function errorOf(reason: unknown): ApiError {
  return reason instanceof ApiError ? reason : new ApiError(0, "The answer makes no sense", String(reason));
}

/** An error within a line of text: `Forbidden: this needs the scope label, which the token lacks`. */
export const sentenceOf = (error: ApiError): string => (error.detail === null ? error.message : `${error.message}: ${error.detail}`);

export type Params = Record<string, string | number | boolean | readonly string[] | null | undefined>;

export const API = outer("/api/v1");

/** An address of the API; parts of a path are escaped by the caller with `segment`. */
export function address(path: string, params: Params = {}): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(params)) {
    if (value === null || value === undefined || value === "") continue;
    for (const one of Array.isArray(value) ? value : [value]) query.append(name, String(one));
  }
  const text = query.toString();
  return `${API}${path}${text === "" ? "" : `?${text}`}`;
}

export const segment = (text: string): string => encodeURIComponent(text);

export async function get<T>(url: string, signal?: AbortSignal): Promise<T> {
  return ask<T>(url, signal ? { signal } : {});
}

export async function send<T>(method: "POST" | "PUT" | "DELETE", url: string, body?: unknown): Promise<T> {
  const headers: Record<string, string> = { "content-type": "application/json" };
  const token = csrfToken();
  if (token !== null) headers["x-csrf-token"] = token;
  return ask<T>(url, { method, headers, body: body === undefined ? null : JSON.stringify(body) });
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
    throw new ApiError(0, "The server does not answer", "Is `benchbook serve` still running? Then try again.");
  }
  if (!response.ok) throw await problem(response);
  return response.status === 204 ? (undefined as T) : ((await response.json()) as T);
}

async function problem(response: Response): Promise<ApiError> {
  const body: unknown = await response.json().catch(() => null);
  const { title, detail } = (body ?? {}) as { title?: unknown; detail?: unknown };
  return new ApiError(
    response.status,
    typeof title === "string" ? title : `The server answered ${response.status}`,
    typeof detail === "string" ? detail : null,
  );
}
