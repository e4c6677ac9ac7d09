import type { TableWords } from "../../api/types";

/** What the page calls the two runs of a pair. */
export type Letters = readonly [string, string];

/** Words of the server on a pair, with its `{a}` and `{b}` filled in. */
export const worded = (words: string, [a, b]: Letters): string => words.replaceAll("{a}", () => a).replaceAll("{b}", () => b);

/** The same of a table. */
export const tableNamed = (table: TableWords, letters: Letters): TableWords => ({
  caption: worded(table.caption, letters),
  columns: table.columns.map((column) => ({ ...column, name: worded(column.name, letters) })),
  rows: table.rows.map((row) => row.map((cell) => worded(cell, letters))),
});
