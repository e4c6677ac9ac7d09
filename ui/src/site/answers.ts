/** What the API answers, from the site's files: the same bytes where an answer was written, a list's rows filtered here. */

import { ApiError } from "../api/client";
import type { ItemsSummary } from "../api/types";
import { summaryOf } from "./item-summary.ts";
import { totalsOf } from "./run-totals.ts";
import { filtered, listOf } from "./lists.ts";
import { part } from "./parts";
import { isList, numberOf, textOf, type Json, type Row } from "./rows.ts";

/** `answers`: of each question the script that has its answer. `files`: of each download its file. `lists`: of each list its
 * scripts. */
interface Index {
  answers: Readonly<Record<string, string>>;
  files: Readonly<Record<string, string>>;
  lists: Readonly<Record<string, ListFiles>>;
}

/** `rows` as the list shows them; `whole` as each is answered alone, and `firsts` the number of each part's first. */
interface ListFiles {
  rows: readonly string[];
  whole: readonly string[];
  firsts: readonly number[];
}

const PAGING = new Set(["limit", "offset", "cursor", "max_points"]);
const IDENTITY = new Set(["run", "baseline", "by"]); // which list is asked for; all else filters or sorts it
const ITEMS = "/comparisons/items";
const index = async (): Promise<Index> => part<Index>("index");

/** The answer to an address of the API, without its prefix. Raises: ApiError for what this site does not hold. */
export async function siteAnswer(url: string): Promise<unknown> {
  const [path = "", search = ""] = url.split(/(?=\?)/s, 2);
  const query = new URLSearchParams(search);
  const written = await answered(path, query);
  if (written !== undefined) return written;
  const { lists } = await index();
  const list = lists[listKey(path, query)];
  if (list !== undefined) return page(path, list, query);
  const [, above = "", number = ""] = /^(.*)\/(\d+)$/s.exec(path) ?? [];
  if (above === ITEMS) return item(Number(number), query.getAll("run"));
  const of = lists[listKey(above, query)];
  if (of !== undefined) return whole(of, Number(number));
  if (path === `${ITEMS}/summary`) return summary(query);
  if (path === "/totals") return totalsOf((await fitting("/runs", lists["/runs"]!, query)).found);
  throw notHeld();
}

const notHeld = (): ApiError =>
  new ApiError(404, "This copy of the page does not hold that", "It has the runs of its list, and those of one eval set against the oldest of them. `benchbook serve` over the records shows all there is.");

// ── what was asked ───────────────────────────────────────────────────────────────────────────────────────────

/** A question by what counts of it; server/site/packing.py makes the same. */
function keyOf(path: string, asked: readonly (readonly [string, string])[]): string {
  const sorted = asked.toSorted(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
  return [path.split("/").map(decodeURIComponent).join("/"), ...sorted.map(([name, value]) => `${name}=${value}`)].join("\n");
}
const questionKey = (path: string, query: URLSearchParams) => keyOf(path, [...query].filter(([name, value]) => !PAGING.has(name) && !(name === "metric" && value === "score")));
const listKey = (path: string, query: URLSearchParams) => keyOf(path, [...query].filter(([name]) => IDENTITY.has(name)));

async function answered(path: string, query: URLSearchParams): Promise<unknown> {
  const key = questionKey(path, query);
  const name = (await index()).answers[key];
  if (name === undefined) return undefined;
  const found = (await part<Readonly<Record<string, unknown>>>(name))[key];
  if (found === undefined) throw new Error(`data/${name}.js lacks an answer that the index names`);
  return found;
}

/** The file of what an address of the API would send as a download; null where this site has none. */
export async function siteFile(url: string): Promise<string | null> {
  const [path = "", search = ""] = url.split(/(?=\?)/s, 2);
  return (await index()).files[questionKey(path, new URLSearchParams(search))] ?? null;
}

// ── lists ────────────────────────────────────────────────────────────────────────────────────────────────────

async function rowsOf(names: readonly string[]): Promise<Row[]> {
  return (await Promise.all(names.map(async (name) => part<Row[]>(name)))).flat();
}

/** All rows of a list that fit, and all of them. */
async function fitting(path: string, list: ListFiles, query: URLSearchParams): Promise<{ found: readonly Row[]; rows: Row[]; field: string }> {
  const numbers = path === ITEMS ? (await plainSummary(query)).moves : [];
  const form = listOf(path, (metric) => numbers.find((one) => one.metric === metric)?.higher_is_better ?? true);
  const rows = await rowsOf(list.rows);
  const texts = (query.get("text") ?? "") !== "" && list.whole.length > 0 ? await rowsOf(list.whole) : rows;
  return { found: filtered(form, rows, texts, query), rows, field: form.field };
}

async function page(path: string, list: ListFiles, query: URLSearchParams): Promise<unknown> {
  const { found, field } = await fitting(path, list, query);
  const first = Number(query.get("offset") ?? "0");
  return { [field]: found.slice(first, first + Number(query.get("limit") ?? "100")), n: found.length, next_cursor: null, indexing: null };
}

async function whole(list: ListFiles, number: number): Promise<Row> {
  const place = list.firsts.findLastIndex((first) => first <= number);
  const rows = place < 0 ? [] : await rowsOf([list.whole[place]!]);
  const found = rows.find((row) => (row["position"] ?? row["sample"]) === number);
  if (found === undefined) throw new ApiError(404, "There is none of this number", null);
  return found;
}

// ── compared items ───────────────────────────────────────────────────────────────────────────────────────────

const pairOf = (query: URLSearchParams): URLSearchParams => new URLSearchParams(query.getAll("run").slice(0, 2).map((run) => ["run", run]));

/** The summary of all items of two runs, which has their metrics. */
async function plainSummary(query: URLSearchParams): Promise<ItemsSummary> {
  const found = await answered(`${ITEMS}/summary`, pairOf(query));
  if (found === undefined) throw notHeld();
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the API's answer to this very question
  return found as ItemsSummary;
}

async function summary(query: URLSearchParams): Promise<ItemsSummary> {
  const list = (await index()).lists[listKey(ITEMS, pairOf(query))];
  if (list === undefined) throw notHeld();
  const { moves } = await plainSummary(query);
  const { found, rows } = await fitting(ITEMS, list, query);
  return summaryOf(found, rows, query.get("metric") ?? "score", moves);
}

/** An item of the first two runs with the answers of all that are named: each of the others stands beside the first in a
 * pair of its own. */
async function item(number: number, runs: readonly string[]): Promise<unknown> {
  const { lists } = await index();
  const listWith = (run: string) => lists[keyOf(ITEMS, [["run", runs[0]!], ["run", run]])];
  const list = listWith(runs[1] ?? "");
  if (list === undefined) throw notHeld();
  const found = await whole(list, number);
  const answers = [...listed(found["answers"])];
  for (const run of runs.slice(2)) {
    const other = listWith(run);
    const rows = other === undefined ? [] : await rowsOf(other.rows);
    const row = rows.find((one) => textOf(one["item_id"]) === textOf(found["item_id"]));
    const position = numberOf(row?.["position"]);
    if (other !== undefined && position !== null) answers.push(...listed((await whole(other, position))["answers"]).slice(1));
  }
  return { ...found, answers };
}

const listed = (found: Json | undefined): readonly Json[] => (isList(found) ? found : []);
