import type { RunRow } from "../api/types";
import { Inline } from "../text/model-text";

/** How anyone can hold this copy against the record that it shows. */
export function Proof({ row }: { row: RunRow }) {
  return (
    <details className="proof">
      <summary>This is a copy: how to check it</summary>
      <p>
        With the records, <code>benchbook site RECORDS --out FOLDER --check</code> makes every file of this copy again and compares it byte by byte. The record of this run goes by this hash, which{" "}
        <code>benchbook verify RECORD --expect HASH</code> holds it against:
      </p>
      <p className="mono">
        <Inline text={row.journal_sha256 ?? "–"} />
      </p>
    </details>
  );
}
