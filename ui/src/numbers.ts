/**
 * Numbers as reports write them: the twin of `benchbook.views.numbers`, with its digits and words (`words.ts`). What
 * both make of a number stands in tests/cases/numbers.json, and tests hold both to it.
 */
import type { Difference, Interval, Measured } from "./api/types";
import { DECIMALS, MOST_DECIMALS, NO_INTERVAL, REASONS, SHORT_REASONS, type Kind } from "./words";

export const NOTHING = "–";

type Maybe = number | null | undefined;

/** Whether a table of words has one for a code. A code comes from a record: it may be `constructor`. */
export const hasWord = <T extends object>(table: T, code: string): code is Extract<keyof T, string> => Object.hasOwn(table, code);

/** A sentence for a code; the code itself where there is none. */
export const sentence = (table: Readonly<Record<string, string>>, code: string): string => (hasWord(table, code) ? table[code]! : code);

/** `–`, or `– (not measured)`: a value that is not there, and why. */
const nothing = (reason?: string | null): string => (reason ? `${NOTHING} (${reason})` : NOTHING);

interface Shown {
  apartFrom?: Maybe; // a limit that it must not be rounded onto
  unknown?: string | null; // why there is none
}

/** `84.996 %`: a value as text, with as many decimals as it takes to lie on its own side of a limit, of all and of none. */
export function show(kind: Kind, value: Maybe, { apartFrom, unknown }: Shown = {}): string {
  if (value === null || value === undefined) return nothing(unknown ?? (kind === "rate" ? "no data" : null));
  if (kind === "p") return pValue(value);
  if (kind === "usd") return money(value);
  const never = kind === "rate" || kind === "score" ? [0, 1] : [];
  if (apartFrom !== null && apartFrom !== undefined) never.push(apartFrom);
  const taken = never.filter((one) => one !== value).map((one) => exact(kind, one));
  return firstOf(kind, value, DECIMALS[kind], (text) => !taken.includes(plain(text)));
}

/** A number of a whole run, as far as anything is known of it: no call takes no tokens, so that a total of none is of calls that did not tell. */
export const reported = (kind: Kind, value: Maybe): Maybe => (kind === "tokens" && value === 0 ? null : value);

/** A gate's limit, without decimals that say nothing: `85 %`, `0.80`, `10,000 ms`. */
export function limit(kind: Kind, value: number): string {
  if (kind === "usd") return money(value);
  const whole = exact(kind, value);
  return firstOf(kind, value, kind === "score" ? 2 : 0, (text, decimals) => decimals === MOST_DECIMALS || plain(text) === whole);
}

/** `0.7910 to 0.8740 (95 % confidence)`; `bare` leaves the confidence out. */
export function interval(kind: Kind, found: Pick<Interval, "low" | "high" | "confidence" | "reason"> | null, bare = false): string {
  if (found === null) return nothing("not computed");
  const { low, high, reason } = found;
  if (low === null && high === null) return nothing(reason === null ? "can't be computed" : sentence(REASONS, reason));
  const span = low === null ? `up to ${show(kind, high)}` : high === null ? `from ${show(kind, low)}` : `${show(kind, low)} to ${show(kind, high)}`;
  return bare ? span : `${span} (${limit("rate", found.confidence)} confidence)`;
}

/** `+0.0700`, `−0.0120`, `0.0000`: a difference, always with its sign; a real minus. */
export function signed(value: number | null, kind: Kind = "score"): string {
  if (value === null) return NOTHING;
  return value === 0 ? show(kind, 0) : `${value > 0 ? "+" : "−"}${show(kind, Math.abs(value))}`;
}

/** `−0.0067 to +0.1467`, or why there is none. */
export function signedInterval({ low, high, reason }: Difference, kind: Kind = "score"): string {
  if (low === null || high === null) return nothing(reason === null ? null : sentence(NO_INTERVAL, reason));
  return `${signed(low, kind)} to ${signed(high, kind)}`;
}

/** `0.2 points`: how far a difference of scores from 0 to 1 may lie from 0, either way. */
export function points({ low, high }: Difference): string {
  const reach = 100 * Math.max(Math.abs(low ?? 0), Math.abs(high ?? 0));
  return `${written(reach, false, reach >= 0.05 ? 1 : 4)} points`;
}

/** `0.118`; `< 0.001` for what is smaller, since no test here is that exact. */
export function pValue(p: number | null): string {
  return p === null ? NOTHING : p < 0.001 ? "< 0.001" : written(p, false, DECIMALS.p);
}

/** Dollars, exact: `$0.0125`, with at least two decimals. */
const money = (usd: number): string => `$${written(usd, false, ALL, DECIMALS.usd)}`;

/** `p = 0.118`, `p < 0.001`. */
export const pEquals = (p: number | null): string => (p !== null && p < 0.001 ? `p ${pValue(p)}` : `p = ${pValue(p)}`);

/** What was measured of a judge or a target: `6.250`, and beside it `5.100 to 7.400`, or why there is no interval. */
export function measured(kind: Kind, found: Measured, units = "outputs"): { value: string; beside: string } {
  const { value, low, high, reason } = found;
  const why = reason === null ? "not known" : sentence({ ...REASONS, ...SHORT_REASONS }, reason);
  if (value === null) return { value: NOTHING, beside: why };
  const shown = show(kind, value);
  if (reason === "too_few") return { value: shown, beside: `too few: ${count(found.n_units)} of ${count(found.at_least)} ${units}` };
  if (low === null && high === null) return { value: shown, beside: `no interval: ${why}` };
  return { value: shown, beside: interval(kind, { ...found, confidence: 0 }, true) };
}

/** `1,234`. */
export const count = (n: Maybe): string => show("count", n);

const ALL = 20; // decimals: browsers write no more, and nothing that is shown has them
const writers = new Map<string, Intl.NumberFormat>();

/** A double is the shortest decimal that names it, as in Python: 0.0125 lies between 0.012 and 0.013, and goes to the even. */
function written(value: number, percent: boolean, decimals: number, least = decimals): string {
  const key = `${percent} ${decimals} ${least}`;
  const writer = writers.get(key) ?? new Intl.NumberFormat("en", { style: percent ? "percent" : "decimal", minimumFractionDigits: least, maximumFractionDigits: decimals, roundingMode: "halfEven" });
  writers.set(key, writer);
  return writer.format(`${value}`).replace("%", "");
}

/** A number that is written already, without what says nothing: `1,234.50` is `1234.5`. */
function plain(text: string): string {
  const bare = text.replaceAll(",", "");
  const short = bare.includes(".") ? bare.replace(/\.?0+$/, "") : bare;
  return short === "-0" ? "0" : short;
}

/** The same of a value that is not rounded. */
const exact = (kind: Kind, value: number): string => plain(written(value, kind === "rate", ALL, 0));

/** `value` with the fewest decimals, from `from` on, that will do; else with all it has. */
function firstOf(kind: Kind, value: number, from: number, willDo: (text: string, decimals: number) => boolean): string {
  const unit = kind === "rate" ? " %" : kind === "ms" ? " ms" : "";
  for (let decimals = from; decimals <= MOST_DECIMALS; decimals++) {
    const text = written(value, kind === "rate", decimals);
    if (willDo(text, decimals)) return text + unit;
  }
  return written(value, kind === "rate", ALL, 0) + unit;
}
