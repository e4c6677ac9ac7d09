/** What the log of another tool says of a run and its samples, as people read it. */
import type { Aggregates, Answer } from "../../api/client";
import type { ImportedLog, ImportedScorer } from "../../api/types";
import { count } from "../../numbers";
import { oneLine } from "../../text/visible";

type Row = Readonly<Record<string, unknown>>;
type Manifest = Answer<"/runs/{run_id}/manifest">;

/** The log that a run was imported from; null for a run of Benchbook's own. */
export const logOf = (manifest: Manifest | null): ImportedLog | null => (manifest !== null && "imported" in manifest ? manifest.imported : null);

export const isImported = (spec: string | null): boolean => spec !== null && spec.startsWith("imported@");

/** One scorer's word on a sample. `value` is on the scorer's own scale; null where it gave none. */
export interface Given {
  scorer: ImportedScorer;
  value: number | null;
  said: string | null;
  compared: string | null;
  why: string | null;
}

/** Each scorer's word, the one that the score goes by first. */
export function givenBy(log: ImportedLog, row: Row): Given[] {
  const first = log.scorers.filter((one) => one.name === log.headline);
  const others = log.scorers.filter((one) => one.name !== log.headline);
  return [...first, ...others].map((scorer) => {
    const value = row[scorer.column];
    return {
      scorer,
      value: typeof value === "number" ? value : null,
      said: textAt(row, `${scorer.column}_said`),
      compared: textAt(row, `${scorer.column}_compared`),
      why: textAt(row, `${scorer.column}_why`),
    };
  });
}

export const isSilent = (given: Given): boolean => [given.value, given.said, given.compared, given.why].every((one) => one === null);

export function textAt(row: Row, name: string): string | null {
  const found = row[name];
  return typeof found === "string" && found !== "" ? found : null;
}

/** A value with its scale: six digits are as many as anybody reads. */
export const plain = (value: number): string => String(Number(value.toPrecision(6)));

export function scaleWords({ lowest, highest }: ImportedScorer): string {
  if (lowest === null && highest === null) return "";
  if (highest === null) return `from ${plain(lowest!)}`;
  return lowest === null ? `to ${plain(highest)}` : `${plain(lowest)} to ${plain(highest)}`;
}

/** A sample's own data, line by line; as it is where that is no JSON. */
export function metadataText(own: string): string {
  try {
    return JSON.stringify(JSON.parse(own), null, 2);
  } catch {
    return own;
  }
}

const LONGEST = 500; // that the server takes

/** The reasons for which samples have no score, each with how many: what the list of samples can be cut down to. */
export function unscoredOptions(aggregates: Aggregates | null): { value: string; text: string }[] {
  if (aggregates === null || !("limits" in aggregates)) return [];
  return aggregates.unscored.filter(({ why }) => why.length <= LONGEST).map(({ why, n_items }) => ({ value: why, text: `${oneLine(why, 60)} (${count(n_items)})` }));
}

/** The columns of the row that the panel shows under headings of their own. */
export const shownColumns = (log: ImportedLog): string[] => ["own", "unscored", "limit", "failure", ...log.scorers.flatMap(({ column }) => ["", "_said", "_compared", "_why"].map((ending) => column + ending))];
