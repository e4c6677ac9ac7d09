import { Fragment } from "react";
import type { ItemSlice } from "../../api/types";
import { counted, words } from "../../format";
import { count } from "../../numbers";
import { Inline } from "../../text/model-text";
import { visible } from "../../text/visible";
import type { PictureProps } from "./item-pictures";

const WIDTH = 120;

/** What became of the items of each section, category and difficulty, as a bar; the bar's parts filter, and so does its name. */
export function SliceBars({ found, number, filters, letters, onFilter }: PictureProps) {
  const most = Math.max(...found.slices.map((one) => one.lost + one.won + one.same), 1);
  return (
    <div className="card picture">
      <h3 id="slice-bars">By slice, {letters[1]} against {letters[0]}: {number.title}</h3>
      <div className="scrolled" tabIndex={0} role="region" aria-labelledby="slice-bars">
        {found.slices.length === 0 && <p className="nothing">These items name no section, category or difficulty.</p>}
        <table className="slice-bars">
          <thead className="unseen">
            <tr>
              <th scope="col">Slice</th>
              <th scope="col">Lost</th>
              <th scope="col">Won</th>
              <th scope="col">All</th>
            </tr>
          </thead>
          <tbody>
            {found.slices.map((one, place) => {
              const pressed = filters[one.field] === one.value && filters.moved === "";
              return (
                <Fragment key={`${one.field} ${one.value}`}>
                  {one.field !== found.slices[place - 1]?.field && <tr><th scope="rowgroup" colSpan={4} className="of">{words(one.field)}</th></tr>}
                  <tr>
                    <th scope="row">
                      <button type="button" className="plain small" aria-pressed={pressed} aria-label={`${visible(one.value)}: ${counted(one.lost + one.won + one.same, "item")}`} onClick={() => onFilter({ [one.field]: pressed ? null : one.value, moved: null })}>
                        <Inline text={one.value} />
                      </button>
                    </th>
                    {(["lost", "won"] as const).map((moved) => <Part key={moved} one={one} moved={moved} pressed={filters[one.field] === one.value && filters.moved === moved} onFilter={onFilter} />)}
                    <td>
                      <svg viewBox={`0 0 ${WIDTH} 10`} width={WIDTH} height={10} aria-hidden="true">
                        <Bar one={one} px={WIDTH / most} />
                      </svg>
                      <span className="unseen">{count(one.lost + one.won + one.same)}</span>
                    </td>
                  </tr>
                </Fragment>
              );
            })}
          </tbody>
        </table>
      </div>
    </div>
  );
}

function Part({ one, moved, pressed, onFilter }: { one: ItemSlice; moved: "lost" | "won"; pressed: boolean; onFilter: PictureProps["onFilter"] }) {
  return (
    <td>
      <button type="button" className={`small plain ${moved}`} disabled={one[moved] === 0 && !pressed} aria-pressed={pressed} aria-label={`${visible(one.value)}, ${moved}: ${counted(one[moved], "item")}`} onClick={() => onFilter(pressed ? { [one.field]: null, moved: null } : { [one.field]: one.value, moved })}>
        <span aria-hidden="true">{moved === "lost" ? "▼" : "▲"}</span> {count(one[moved])}
      </button>
    </td>
  );
}

function Bar({ one, px }: { one: ItemSlice; px: number }) {
  return (
    <>
      <rect className="lost" x={0} y={0} width={one.lost * px} height={10} />
      <rect className="won" x={one.lost * px} y={0} width={one.won * px} height={10} />
      <rect className="same" x={(one.lost + one.won) * px} y={0} width={one.same * px} height={10} />
    </>
  );
}
