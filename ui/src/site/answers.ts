/** What the API answers, from the site's files: the same bytes where an answer was written, a list's rows filtered here. */

import { ApiError } from "../api/client";
import type { ItemsSummary } from "../api/types";
import { summaryOf } from "./item-summary.ts";
import { itemOf } from "./item-whole.ts";
import { totalsOf } from "./run-totals.ts";
import { filtered, listOf } from "./lists.ts";
import { once, part } from "./parts";
import { type Row } from "./rows.ts";
import { withTexts } from "./texts.ts";

/** `answers`: of each question the script that has its answer. `files`: of each download its file. `lists`: of each list its
 * scripts. `texts`: of each script of texts the number of its first. */
interface Index {
  answers: Readonly<Record<string, string>>;
  files: Readonly<Record<string, string>>;
  lists: Readonly<Record<string, ListFiles>>;
  texts: Readonly<Record<string, number>>;
}

/** `rows` as the list shows them; `whole` as each is answered alone, and `firsts` the number of each part's first. Where a
 * list `all` has the items of several with the answers of all runs, `rows_of_all` has of each row its number there. */
interface ListFiles {
  rows: readonly string[];
  whole: readonly string[];
  firsts: readonly number[];
  all: string | null;
  rows_of_all: readonly (number | null)[];
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

/** Rows with the texts that they refer to. */
async function withTheirTexts<T extends Row | readonly Row[]>(rows: T): Promise<T> {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the same, but for its texts
  return (await withTexts(rows, (await index()).texts, async (name) => part<readonly string[]>(name))) as T;
}

const shown = new Map<string, Promise<readonly Row[]>>();

/** The rows of a script. */
const rowsIn = async (name: string): Promise<readonly Row[]> => once(shown, name, async () => part<Row[]>(name).then(withTheirTexts));

const rowsOf = async (names: readonly string[]): Promise<Row[]> => (await Promise.all(names.map(rowsIn))).flat();

/** All rows of a list that fit, and all of them. */
async function fitting(path: string, list: ListFiles, query: URLSearchParams): Promise<{ found: readonly Row[]; rows: Row[]; field: string }> {
  const numbers = path === ITEMS ? (await plainSummary(query)).moves : [];
  const form = listOf(path, (metric) => numbers.find((one) => one.metric === metric)?.higher_is_better ?? true);
  const rows = await rowsOf(list.rows);
  const texts = (query.get("text") ?? "") === "" ? rows : await wholes(path, list, rows, query.getAll("run"));
  return { found: filtered(form, rows, texts, query), rows, field: form.field };
}

const searched = new Map<string, Promise<readonly Row[]>>();

/** The rows with their texts whole, where the list has them. */
async function wholes(path: string, list: ListFiles, rows: readonly Row[], runs: readonly string[]): Promise<readonly Row[]> {
  if (path === ITEMS) return once(searched, runs.join("\n"), async () => Promise.all(rows.map(async (row, number) => itemIn(list, row, number, runs))));
  return list.whole.length === 0 ? rows : rowsOf(list.whole);
}

async function page(path: string, list: ListFiles, query: URLSearchParams): Promise<unknown> {
  const { found, field } = await fitting(path, list, query);
  const first = Number(query.get("offset") ?? "0");
  return { [field]: found.slice(first, first + Number(query.get("limit") ?? "100")), n: found.length, next_cursor: null, indexing: null };
}

async function whole(list: ListFiles, number: number): Promise<Row> {
  const place = list.firsts.findLastIndex((first) => first <= number);
  const rows = place < 0 ? [] : await part<Row[]>(list.whole[place]!);
  const found = rows.find((row) => (row["position"] ?? row["sample"]) === number);
  if (found === undefined) throw noneOfThisNumber();
  return withTheirTexts(found); // the others' texts may be in many scripts
}

const noneOfThisNumber = (): ApiError => new ApiError(404, "There is none of this number", null);

// ── compared items ───────────────────────────────────────────────────────────────────────────────────────────

const pairOf = (runs: readonly string[]): URLSearchParams => new URLSearchParams(runs.slice(0, 2).map((run) => ["run", run]));

/** The summary of all items of two runs, which has their metrics. */
async function plainSummary(query: URLSearchParams): Promise<ItemsSummary> {
  const found = await answered(`${ITEMS}/summary`, pairOf(query.getAll("run")));
  if (found === undefined) throw notHeld();
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the API's answer to this very question
  return found as ItemsSummary;
}

async function summary(query: URLSearchParams): Promise<ItemsSummary> {
  const list = (await index()).lists[listKey(ITEMS, pairOf(query.getAll("run")))];
  if (list === undefined) throw notHeld();
  const { moves } = await plainSummary(query);
  const { found, rows } = await fitting(ITEMS, list, query);
  return summaryOf(found, rows, query.get("metric") ?? "score", moves);
}

/** An item of the first two runs with the answers of all that are named. */
async function item(number: number, runs: readonly string[]): Promise<Row> {
  const list = (await index()).lists[listKey(ITEMS, pairOf(runs))];
  if (list === undefined) throw notHeld();
  const row = (await rowsOf(list.rows))[number];
  if (row === undefined) throw noneOfThisNumber();
  return itemIn(list, row, number, runs);
}

async function itemIn(list: ListFiles, row: Row, number: number, runs: readonly string[]): Promise<Row> {
  const place = list.rows_of_all[number] ?? null;
  const held = place === null ? await whole(list, number) : await whole((await index()).lists[list.all ?? ""]!, place);
  return itemOf(row, held, runs, place === null);
}
