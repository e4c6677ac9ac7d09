/** Filters and orders of the site's lists: those of the server. A test holds both together. */

import { itemFilters, itemKey } from "./items.ts";
import { compared, equals, holds, lists, nullsLast, SLICES, textOf, textsOf, type Fits, type Row } from "./rows.ts";

export interface List {
  field: string; // under which the answer has its rows
  filters: Readonly<Record<string, Fits>>;
  key: (row: Row, sort: string, query: URLSearchParams) => Row[string] | undefined; // undefined: as they are
  /** Rows that are alike in an order come by this column, and nulls are the smallest values; else they stay as they were,
   * and nulls come last. */
  ties?: string;
}

const column = (names: Readonly<Record<string, string>>) => (row: Row, sort: string): Row[string] | undefined => (sort in names ? (row[names[sort]!] ?? null) : undefined);

const OUTCOMES: Readonly<Record<string, (row: Row) => boolean>> = {
  passed: (row) => row["passed"] === true && row["score"] !== null,
  failed: (row) => row["passed"] === false && row["score"] !== null,
  unscored: (row) => row["score"] === null,
};

const wordsOf = (row: Row): string =>
  [...["run_id", "spec", "model_id", "evaluator_model_id", "dataset_id", "name", "note"].map((name) => textOf(row[name])), ...textsOf(row["tags"])].join("\n").toLowerCase();

const RUNS: List = {
  field: "runs",
  filters: {
    spec: equals("spec"),
    spec_sha256: () => true, // runs of one evaluator's name stand together here
    model: equals("model_id"),
    judge: equals("evaluator_model_id"),
    eval_set: (row, value) => row["dataset_id"] === value || row["dataset_sha256"] === value,
    decision: equals("decision"),
    state: equals("state"),
    tag: lists("tags"),
    archived: (row, value) => value === "any" || row["archived"] === (value === "only"),
    text: (row, value) => value.toLowerCase().split(/\s+/).every((word) => wordsOf(row).includes(word)),
  },
  key: column({
    started: "started_utc",
    ended: "ended_utc",
    score: "primary",
    model: "model_id",
    judge: "evaluator_model_id",
    eval_set: "dataset_id",
    evaluator: "spec",
    decision: "decision",
    state: "state",
    samples: "n_attempted",
    tokens: "n_tokens",
    cost: "cost_usd",
    run: "run_id",
  }),
  ties: "run_id",
};

const SAMPLES: List = {
  field: "samples",
  filters: {
    ...SLICES,
    outcome: (row, value) => OUTCOMES[value]?.(row) ?? false,
    reason: lists("reasons"),
    text: (row, value, text) => [row["item_id"], text["text"], text["prompt"]].some((one) => holds(one, value)),
  },
  key: column({ item_id: "item_id", score: "score", section: "section", category: "category", difficulty: "difficulty" }),
};

const EVALUATIONS: List = {
  field: "evaluations",
  filters: {
    question: equals("question_id"),
    variant: equals("prompt_variant"),
    target: equals("target_model"),
    judge: equals("judge_model"),
    method: equals("method"),
    verdict: equals("verdict"),
    valid: (row, value) => row["valid"] === (value === "true"),
    flag: lists("flags"),
  },
  key: () => undefined,
};

const SPLITS: List = { field: "splits", filters: {}, key: () => undefined };

const HISTORY: List = {
  field: "items",
  filters: { history: equals("history"), text: (row, value) => [row["item_id"], row["prompt"]].some((one) => holds(one, value)) },
  key: () => undefined,
};

const items = (isHigherBetter: (metric: string) => boolean): List => ({
  field: "items",
  filters: itemFilters(isHigherBetter),
  key: (row, sort, query) => (sort === "" || sort === "position" ? undefined : itemKey(row, sort, query)),
});

/** The list that a path of the API answers; `isHigherBetter` knows the metrics of compared items. */
export function listOf(path: string, isHigherBetter: (metric: string) => boolean = () => true): List {
  if (path === "/runs") return RUNS;
  if (path === "/evaluations") return EVALUATIONS;
  if (path === "/comparisons/items") return items(isHigherBetter);
  if (path === "/comparisons/history") return HISTORY;
  if (path.endsWith("/panel/splits")) return SPLITS;
  if (path.endsWith("/samples")) return SAMPLES;
  throw new Error(`nobody knows how to filter ${path}`);
}

/** The rows that fit a question, in its order; `texts` are the same rows with their texts whole. */
export function filtered(form: List, rows: readonly Row[], texts: readonly Row[], query: URLSearchParams): readonly Row[] {
  const asked = [...query].filter(([name, value]) => value !== "" && name in form.filters);
  if (form === RUNS && !query.has("archived")) asked.push(["archived", "no"]);
  const found = rows.filter((row, place) => asked.every(([name, value]) => form.filters[name]!(row, value, texts[place]!, query)));
  return sorted(form, found, query);
}

function sorted({ key, ties }: List, rows: readonly Row[], query: URLSearchParams): readonly Row[] {
  const sort = query.get("sort") ?? "";
  const descending = query.get("order") === "desc";
  if (rows.length === 0 || key(rows[0]!, sort, query) === undefined) return descending ? rows.toReversed() : rows;
  const turned = descending ? -1 : 1;
  const keyed = rows.map((row) => ({ row, at: key(row, sort, query) }));
  const order =
    ties === undefined
      ? keyed.toSorted((a, b) => nullsLast(a.at, b.at) ?? turned * compared(a.at, b.at))
      : keyed.toSorted((a, b) => turned * ((nullsLast(b.at, a.at) ?? compared(a.at, b.at)) || compared(a.row[ties], b.row[ties])));
  return order.map((one) => one.row);
}
