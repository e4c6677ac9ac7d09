import type { ReactNode } from "react";
import { shade } from "./span-places";

export interface HeatCell {
  text: ReactNode;
  share: number | null; // of the most that there is: how strong its colour is
  framed?: boolean;
}

interface Props {
  label: string;
  corner: ReactNode; // what rows and columns are
  rows: readonly ReactNode[];
  columns: readonly ReactNode[];
  cell: (row: number, column: number) => HeatCell | null; // null: there can be none
}

/** A table that is also a picture: the stronger the colour of a cell, the more; each has its number, and none needs its colour. */
export function HeatGrid({ label, corner, rows, columns, cell }: Props) {
  return (
    <div className="table heat" tabIndex={0} role="region" aria-label={label}>
      <table>
        <thead>
          <tr>
            <td className="corner small quiet">{corner}</td>
            {columns.map((name, column) => <th scope="col" key={column}>{name}</th>)}
          </tr>
        </thead>
        <tbody>
          {rows.map((name, row) => (
            <tr key={row}>
              <th scope="row">{name}</th>
              {columns.map((_, column) => {
                const found = cell(row, column);
                if (found === null) return <td key={column} className="no-cell" />;
                return <td key={column} className={`shade-${shade(found.share)}${found.framed === true ? " framed" : ""}`}>{found.text}</td>;
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
