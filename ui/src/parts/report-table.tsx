import type { TableWords } from "../api/types";
import { Inline } from "../text/model-text";

const LINE = 32; // characters: a number with its interval stays on one line, a reason for none is broken

/** A table of a report, as the report has it; the first cell of a row is its heading. Nothing where it has no rows. `of` tells it from others of its caption. */
export function ReportTableView({ table, of }: { table: TableWords; of?: string }) {
  if (table.rows.length === 0) return null;
  const kind = (place: number, cell = "") => `${table.columns[place]?.number ? "figures" : ""}${cell.length > LINE || cell === "" ? "" : " whole"}`;
  return (
    <div className="table report" tabIndex={0} role="region" aria-label={of === undefined ? table.caption : `${of}: ${table.caption}`}>
      <table>
        <caption>{table.caption}</caption>
        <thead>
          <tr>{table.columns.map((column, place) => <th key={place} scope="col" className={kind(place)}>{column.name}</th>)}</tr>
        </thead>
        <tbody>
          {table.rows.map((row, number) => (
            <tr key={number}>
              <th scope="row"><Inline text={row[0] ?? ""} /></th>
              {row.slice(1).map((cell, place) => <td key={place} className={kind(place + 1, cell)}><Inline text={cell} /></td>)}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
