/** One compared item whole, from what a site holds of it: with the answers of all runs, once for all pairs. */

import { isList, partOf, type Json, type Row } from "./rows.ts";

const named = (answers: Json | undefined, run: string): Json => (isList(answers) ? (answers.find((one) => partOf(one, "run") === run) ?? null) : null);

/** The item as the API answers it for these runs: `row` is that of the first two's list, `held` the item with the answers of
 * all runs. `isOwn` says that it was asked for with these two first; else the item is the same in both of them. */
export function itemOf(row: Row, held: Row, runs: readonly string[], isOwn: boolean): Row {
  const answers = runs.map((run) => named(held["answers"], run)).filter((one) => one !== null);
  const of = (place: number, name: string): Json => partOf(answers[place], name) ?? null;
  const inB = of(1, "sample") !== null;
  return {
    ...held,
    ...row,
    prompt: held["prompt"]!,
    expected: held["expected"]!,
    ...(isOwn ? {} : { item_id_b: inB ? row["item_id"]! : null, expected_b: inB ? held["expected"]! : null }),
    text_a: of(0, "text"),
    text_b: of(1, "text"),
    sample_a: of(0, "sample"),
    sample_b: of(1, "sample"),
    segments: of(1, "segments"),
    answers,
  };
}
