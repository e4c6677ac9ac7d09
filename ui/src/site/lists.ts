/** Filters and orders of the site's lists: those of the server, over rows that are all here. A test holds both together. */

type Json = string | number | boolean | null | readonly Json[] | { readonly [name: string]: Json };
export type Row = Readonly<Record<string, Json>>;

interface List {
  field: string; // under which the answer has its rows
  /** The rows that fit a question, in its order; `texts` are the same rows with their texts whole. */
  filtered: (rows: readonly Row[], texts: readonly Row[], query: URLSearchParams) => readonly Row[];
}

type Fits = (row: Row, value: string, text: Row) => boolean;

interface Form {
  field: string;
  filters: Readonly<Record<string, Fits>>;
  sorts: Readonly<Record<string, string>>; // by the name of an order its column
  /** Rows that are alike in an order come by this column, and nulls are the smallest values; else they stay as they were,
   * and nulls come last. */
  ties?: string;
}

const equals = (column: string): Fits => (row, value) => row[column] === value;
const lists = (column: string): Fits => (row, value) => textsOf(row[column]).includes(value);
const textsOf = (found: Json | undefined): string[] => (Array.isArray(found) ? found.map(String) : []);
const SLICES = { section: equals("section"), category: equals("category"), difficulty: equals("difficulty") };

/** ASCII letters in either case, as the server has it. */
const folded = (text: string): string => text.replace(/[A-Z]+/g, (some) => some.toLowerCase());
const holds = (text: Json | undefined, part: string): boolean => typeof text === "string" && folded(text).includes(folded(part));

const OUTCOMES: Readonly<Record<string, (row: Row) => boolean>> = {
  passed: (row) => row["passed"] === true && row["score"] !== null,
  failed: (row) => row["passed"] === false && row["score"] !== null,
  unscored: (row) => row["score"] === null,
};

const FORMS: readonly [RegExp, Form][] = [
  [
    /^\/runs$/,
    {
      field: "runs",
      filters: {
        spec: equals("spec"),
        spec_sha256: () => true, // runs of one evaluator's name stand together here
        model: equals("model_id"),
        eval_set: (row, value) => row["dataset_id"] === value || row["dataset_sha256"] === value,
        decision: equals("decision"),
        state: equals("state"),
        tag: lists("tags"),
        text: (row, value) => value.toLowerCase().split(/\s+/).every((word) => wordsOf(row).includes(word)),
      },
      sorts: { started: "started_utc", score: "primary", model: "model_id", eval_set: "dataset_id", run: "run_id" },
      ties: "run_id",
    },
  ],
  [
    /^\/runs\/.+\/samples$/s,
    {
      field: "samples",
      filters: {
        ...SLICES,
        outcome: (row, value) => OUTCOMES[value]?.(row) ?? false,
        reason: lists("reasons"),
        text: (row, value, text) => [row["item_id"], text["text"], text["prompt"]].some((one) => holds(one, value)),
      },
      sorts: { item_id: "item_id", score: "score", section: "section", category: "category", difficulty: "difficulty" },
    },
  ],
  [
    /^\/evaluations$/,
    {
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
      sorts: {},
    },
  ],
];

const wordsOf = (row: Row): string =>
  [...["run_id", "spec", "model_id", "evaluator_model_id", "dataset_id"].map((name) => textOf(row[name])), ...textsOf(row["tags"])].join("\n").toLowerCase();
const textOf = (found: Json | undefined): string => (typeof found === "string" ? found : "");

/** The list that a path of the API answers. */
export function listOf(path: string): List {
  const form = FORMS.find(([pattern]) => pattern.test(path))?.[1];
  if (form === undefined) throw new Error(`nobody knows how to filter ${path}`);
  return { field: form.field, filtered: (rows, texts, query) => filtered(form, rows, texts, query) };
}

function filtered(form: Form, rows: readonly Row[], texts: readonly Row[], query: URLSearchParams): readonly Row[] {
  const asked = [...query].filter(([name, value]) => value !== "" && name in form.filters);
  const found = rows.filter((row, place) => asked.every(([name, value]) => form.filters[name]!(row, value, texts[place]!)));
  const column = form.sorts[query.get("sort") ?? ""];
  const descending = query.get("order") === "desc";
  if (column === undefined) return descending ? found.toReversed() : found;
  const turned = descending ? -1 : 1;
  const { ties } = form;
  if (ties === undefined) return found.toSorted((a, b) => nullsLast(a[column], b[column]) ?? turned * compared(a[column], b[column]));
  return found.toSorted((a, b) => turned * ((nullsLast(b[column], a[column]) ?? compared(a[column], b[column])) || compared(a[ties], b[ties])));
}

/** The order of two of which one or both are null; null where neither is. */
function nullsLast(a: Json | undefined, b: Json | undefined): number | null {
  return (a ?? null) !== null && (b ?? null) !== null ? null : Number((a ?? null) === null) - Number((b ?? null) === null);
}

/** As the server orders values: texts by their code points. */
function compared(a: Json | undefined, b: Json | undefined): number {
  if (typeof a !== "string" || typeof b !== "string") return Number(a) - Number(b);
  const [left, right] = [Array.from(a), Array.from(b)];
  const place = left.findIndex((one, n) => one !== right[n]);
  return place < 0 ? left.length - right.length : (left[place]!.codePointAt(0) ?? 0) - (right[place]?.codePointAt(0) ?? -1);
}
