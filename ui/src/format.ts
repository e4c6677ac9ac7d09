/** Numbers, times and names as people read them. Null is never shown as zero. */

export const NOTHING = "–";

const integer = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
const compact = new Intl.NumberFormat("en", { maximumSignificantDigits: 3, notation: "compact" });

export function numberWords(value: number | null | undefined): string {
  return value === null || value === undefined ? NOTHING : integer.format(value);
}

export function counted(n: number, one: string, many = `${one}s`): string {
  return `${integer.format(n)} ${n === 1 ? one : many}`;
}

export type Kind = "score" | "rate" | "grade" | "ms" | "count" | "ratio";

const RATES = /(_rate|_share|rate_mean)$/;

/** How an aggregate's value is written, by its name. */
export function kindOf(name: string): Kind {
  if (name.endsWith("_ms")) return "ms";
  if (RATES.test(name)) return "rate";
  if (name === "accuracy_mean" || name === "faithfulness_mean") return "grade";
  if (name.startsWith("n_") || name.startsWith("total_")) return "count";
  if (name.endsWith("score") || name.startsWith("mean_") || name.startsWith("correctness")) return "score";
  return "ratio";
}

export function value(found: number | null | undefined, kind: Kind = "score"): string {
  if (found === null || found === undefined) return NOTHING;
  switch (kind) {
    case "score":
      return found.toFixed(4);
    case "rate":
      return `${(100 * found).toFixed(1)} %`;
    case "grade":
      return found.toFixed(3);
    case "ms":
      return `${integer.format(found)} ms`;
    case "count":
      return integer.format(found);
    case "ratio":
      return Math.abs(found) >= 100 ? integer.format(found) : found.toPrecision(4);
  }
}

/** A difference, always with its sign; a real minus. */
export function signed(found: number | null | undefined, digits = 4): string {
  if (found === null || found === undefined) return NOTHING;
  const text = Math.abs(found).toFixed(digits);
  return Number(text) === 0 ? text : `${found < 0 ? "−" : "+"}${text}`;
}

export function span(low: number | null | undefined, high: number | null | undefined, write: (x: number) => string): string {
  if (low === null || low === undefined) return high === null || high === undefined ? "no interval" : `up to ${write(high)}`;
  return high === null || high === undefined ? `from ${write(low)}` : `${write(low)} to ${write(high)}`;
}

export function pValue(p: number | null | undefined): string {
  if (p === null || p === undefined) return NOTHING;
  return p < 0.0001 ? "p < 0.0001" : `p = ${p.toFixed(p < 0.01 ? 4 : 3)}`;
}

export function short(found: number): string {
  return compact.format(found);
}

const clock = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });
const clockWhole = new Intl.DateTimeFormat(undefined, { dateStyle: "full", timeStyle: "long" });

/** A UTC time in the reader's zone; null where it is none. */
export function localTime(utc: string | null | undefined): { text: string; whole: string } | null {
  const at = utc ? new Date(utc) : null;
  if (at === null || Number.isNaN(at.getTime())) return null;
  return { text: clock.format(at), whole: clockWhole.format(at) };
}

/** `provider/model-name@version` without provider and version, for where there is little room. */
export function modelName(id: string | null | undefined): string {
  if (!id) return NOTHING;
  const at = id.indexOf("@");
  const name = at < 0 ? id : id.slice(0, at);
  return name.slice(name.lastIndexOf("/") + 1) || id;
}

/** How alike names differ: each without what all of them begin or end with, cut at word borders. */
export function distinctNames(names: readonly string[]): string[] {
  if (names.length < 2 || new Set(names).size < names.length) return [...names];
  const words = names.map((name) => name.split(/(?<=[-_./ ])/));
  const shortest = Math.min(...words.map((one) => one.length));
  let start = 0;
  while (start < shortest - 1 && words.every((one) => one[start] === words[0]![start])) start++;
  let end = 0;
  while (end < shortest - 1 - start && words.every((one) => one.at(-1 - end) === words[0]!.at(-1 - end))) end++;
  return words.map((one) => one.slice(start, one.length - end).join("").replace(/[-_./ ]$/, ""));
}

const WORDS: Record<string, string> = {
  aggregate_score: "Mean sample score",
  pass_rate: "Pass rate",
  accuracy_mean: "Accuracy, mean of 0 to 2",
  accuracy_full_credit_rate: "Accuracy, full credit",
  faithfulness_mean: "Faithfulness, mean of 0 to 2",
  faithfulness_failure_rate: "Faithfulness failure rate",
  latency_e2e_p50_ms: "Latency end to end, median",
  latency_e2e_p95_ms: "Latency end to end, p95",
  latency_model_p50_ms: "Latency of the model, median",
  latency_model_p95_ms: "Latency of the model, p95",
  total_input_tokens: "Input tokens",
  total_output_tokens: "Output tokens",
  total_tokens: "Tokens in all",
  tokens_per_correct_answer: "Tokens per fully correct answer",
  token_efficiency_ratio_mean: "Output tokens per input token, mean",
  evaluator_error_rate: "Evaluator errors",
  primary_score: "Primary score",
  correctness_mean: "Correctness, mean",
  accuracy_score: "Accuracy",
  faithfulness_score: "Faithfulness",
  sample_score: "Sample score",
  generation_params: "Generation parameters",
  cross_judge: "Cross-judging",
  self_judge: "Self-judging",
  no_samples: "The run has no samples.",
};

/** A name of the specs in plain words; one that is not known stands as it is, with its underscores as spaces. */
export function words(name: string): string {
  const known = WORDS[name];
  if (known !== undefined) return known;
  const text = name.replaceAll("_", " ").toLowerCase();
  return text.charAt(0).toUpperCase() + text.slice(1);
}
