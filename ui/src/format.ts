/** Names, times and counted things as people read them. Null is never shown as zero. */
import type { RunRow } from "./api/types";
import { count, hasWord, interval, NOTHING } from "./numbers";
import { AGGREGATES, FAIL_ENDINGS, FAIL_REASONS, MISS_REASONS, OF_CRITERIA, type Kind } from "./words";

const compact = new Intl.NumberFormat("en", { maximumSignificantDigits: 3, notation: "compact" });

export function counted(n: number, one: string, many = `${one}s`): string {
  return `${count(n)} ${n === 1 ? one : many}`;
}

type Word = readonly [label: string, kind: Kind];

/** An aggregate's label, and how its value is written; one that is not known stands as it is. */
export function aggregate(name: string): Word {
  if (hasWord(AGGREGATES, name)) return AGGREGATES[name];
  for (const [ending, [said, kind]] of Object.entries(OF_CRITERIA)) if (name.endsWith(ending)) return [`${words(name.slice(0, -ending.length))}${said}`, kind];
  return [words(name), name.startsWith("n_") ? "count" : name.endsWith("_ms") ? "ms" : /score$|^correctness/.test(name) ? "score" : "ratio"];
}

/** Why a sample did not pass, or an item missed. */
export function reasonWords(code: string): string {
  if (hasWord(FAIL_REASONS, code)) return FAIL_REASONS[code];
  for (const [ending, said] of Object.entries(FAIL_ENDINGS)) if (code.endsWith(ending)) return `${code.slice(0, -ending.length).replaceAll("_", " ")}${said}`;
  return hasWord(MISS_REASONS, code) ? MISS_REASONS[code] : words(code).toLowerCase();
}

/** The interval of a run's score, as its row in a list has it: why there is none is not known there. */
export function rowInterval({ primary_low: low, primary_high: high }: RunRow, kind: Kind = "score"): string {
  return low === null && high === null ? "no interval" : interval(kind, { low, high, confidence: 0, reason: null }, true);
}

/** `3 to 12`: the ranks that a run may have. */
export function rankInterval({ rank_low: low, rank_high: high }: { rank_low: number | null; rank_high: number | null }): string {
  if (low === null || high === null) return "no interval";
  return low === high ? count(low) : `${count(low)} to ${count(high)}`;
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

/** `provider/model-name@version` without provider, for where there is little room; of a panel each judge's. The version stays: it tells checkpoints apart. */
export function modelName(id: string | null | undefined): string {
  if (!id) return NOTHING;
  return id.split(" + ").map(shortName).join(" + ");
}

const WEIGHTS = /(sha256:[0-9a-f]{12})[0-9a-f]{52}/g; // what a file of weights is known by

function shortName(id: string): string {
  const at = id.indexOf("@");
  const name = at < 0 ? id : id.slice(0, at);
  const last = name.slice(name.lastIndexOf("/") + 1);
  if (last === "") return id;
  return at < 0 ? last : last + id.slice(at).replace(WEIGHTS, "$1…");
}

/** How alike names differ: each without what all of them begin or end with, cut at word borders. */
export function distinctNames(names: readonly string[]): string[] {
  if (names.length < 2 || new Set(names).size < names.length) return [...names];
  const parts = names.map((name) => name.split(/(?<=[-_./ ])/));
  const shortest = Math.min(...parts.map((one) => one.length));
  let start = 0;
  while (start < shortest - 1 && parts.every((one) => one[start] === parts[0]![start])) start++;
  let end = 0;
  while (end < shortest - 1 - start && parts.every((one) => one.at(-1 - end) === parts[0]!.at(-1 - end))) end++;
  return parts.map((one) => one.slice(start, one.length - end).join("").replace(/[-_./ ]$/, ""));
}

// What no report has a word for.
const WORDS = {
  primary_score: "Primary score",
  correctness_mean: "Correctness, mean",
  sample_score: "Sample score",
  generation_params: "Generation parameters",
  cross_judge: "Cross-judging",
  self_judge: "Self-judging",
};

/** A name of the specs in plain words; one that is not known stands as it is, with its underscores as spaces. */
export function words(name: string): string {
  if (hasWord(WORDS, name)) return WORDS[name];
  const text = name.replaceAll("_", " ").toLowerCase();
  return text.charAt(0).toUpperCase() + text.slice(1);
}
