/** What the API answers, from the site's files: the same bytes where an answer was written, a list's rows filtered here. */

import { ApiError } from "../api/client";
import { listOf, type Row } from "./lists";
import { part } from "./parts";

/** `answers`: of each question the script that has its answer. `lists`: of each list its scripts. */
interface Index {
  answers: Readonly<Record<string, string>>;
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

/** The answer to an address of the API, without its prefix. Raises: ApiError for what this site does not hold. */
export async function siteAnswer(url: string): Promise<unknown> {
  const [path = "", search = ""] = url.split(/(?=\?)/s, 2);
  const query = new URLSearchParams(search);
  const { answers, lists } = await index();
  const name = answers[keyOf(path, query, (one) => !PAGING.has(one))];
  if (name !== undefined) return answer(name, keyOf(path, query, (one) => !PAGING.has(one)));
  const list = lists[keyOf(path, query, (one) => IDENTITY.has(one))];
  if (list !== undefined) return page(path, list, query);
  const [, above = "", number = ""] = /^(.*)\/(\d+)$/s.exec(path) ?? [];
  const of = lists[keyOf(above, query, (one) => IDENTITY.has(one))];
  if (of !== undefined) return whole(of, Number(number));
  throw new ApiError(404, "This copy of the page does not hold that", "A site has what was chosen when it was written; `benchbook serve` over the records shows all there is.");
}

const index = async (): Promise<Index> => part<Index>("index");

/** A question by what counts of it; `site/questions.py` makes the same. */
function keyOf(path: string, query: URLSearchParams, counts: (name: string) => boolean): string {
  const asked = [...query].filter(([name]) => counts(name)).toSorted(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
  return [path.split("/").map(decodeURIComponent).join("/"), ...asked.map(([name, value]) => `${name}=${value}`)].join("\n");
}

async function answer(name: string, key: string): Promise<unknown> {
  const found = (await part<Readonly<Record<string, unknown>>>(name))[key];
  if (found === undefined) throw new Error(`data/${name}.js lacks an answer that the index names`);
  return found;
}

async function rowsOf(names: readonly string[]): Promise<Row[]> {
  return (await Promise.all(names.map(async (name) => part<Row[]>(name)))).flat();
}

async function page(path: string, list: ListFiles, query: URLSearchParams): Promise<unknown> {
  const kind = listOf(path);
  const rows = await rowsOf(list.rows);
  const texts = query.get("text") !== null && list.whole.length > 0 ? await rowsOf(list.whole) : rows;
  const found = kind.filtered(rows, texts, query);
  const first = Number(query.get("offset") ?? "0");
  const end = first + Number(query.get("limit") ?? "100");
  return { [kind.field]: found.slice(first, end), n: found.length, next_cursor: null };
}

async function whole(list: ListFiles, number: number): Promise<unknown> {
  const place = list.firsts.findLastIndex((first) => first <= number);
  const rows = place < 0 ? [] : await rowsOf([list.whole[place]!]);
  const found = rows.find((row) => (row["position"] ?? row["sample"]) === number);
  if (found === undefined) throw new ApiError(404, "There is none of this number", null);
  return found;
}
