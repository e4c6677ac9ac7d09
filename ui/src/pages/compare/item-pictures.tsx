import { useRef } from "react";
import type { ItemBin, ItemMoves, ItemsSummary } from "../../api/types";
import { counted } from "../../format";
import { count } from "../../numbers";
import { Skip } from "../../parts/skip";
import { Inline } from "../../text/model-text";
import { range, type Filters } from "./item-filters";
import { DifferenceBins } from "./difference-bins";
import { SliceBars } from "./slice-bars";

export interface PictureProps {
  found: ItemsSummary;
  number: ItemMoves; // that the pictures are of
  filters: Filters;
  letters: readonly [string, string];
  onFilter: (changes: Readonly<Record<string, string | null>>) => void;
}

/** What a filtered list comes to, in pictures whose parts are buttons: each filters the list, or lets go of it again. */
export function ItemPictures(props: PictureProps) {
  const place = useRef<HTMLDivElement>(null);
  return (
    <div className="item-pictures" ref={place}>
      <Skip to={() => place.current?.closest("section")?.querySelector<HTMLElement>('[role="grid"]') ?? null}>Skip to the list</Skip>
      <Moves {...props} />
      <DifferenceBins {...props} />
      <Against {...props} />
      <SliceBars {...props} />
    </div>
  );
}

const MOVED = [["lost", "▼"], ["won", "▲"], ["same", "="]] as const;

/** What B lost and won by each number that both runs have. */
function Moves({ found, number, filters, letters, onFilter }: PictureProps) {
  return (
    <div className="card picture">
      <h3 id="moves">Lost and won by {letters[1]}</h3>
      <div className="scrolled" tabIndex={0} role="region" aria-labelledby="moves">
        <table className="moves">
          <thead>
            <tr>
              <th scope="col">By</th>
              {MOVED.map(([name, mark]) => <th key={name} scope="col" className="number"><span aria-hidden="true">{mark}</span> {name}</th>)}
            </tr>
          </thead>
          <tbody>
            {found.moves.map((one) => (
              <tr key={one.metric} className={one.metric === number.metric ? "chosen" : undefined}>
                <th scope="row"><Inline text={one.title} /></th>
                {MOVED.map(([name]) => {
                  const pressed = filters.moved === name && one.metric === number.metric;
                  return (
                    <td key={name}>
                      <button type="button" className="small" aria-pressed={pressed} aria-label={`${one.title}, ${name}: ${counted(one[name], "item")}`} disabled={one[name] === 0 && !pressed} onClick={() => onFilter({ metric: one.metric, moved: pressed ? null : name })}>
                        {count(one[name])}
                      </button>
                    </td>
                  );
                })}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </div>
  );
}

const SHADES = 5;

/** How many items have which number in A and which in B: above the diagonal B has more. */
function Against({ found, number, filters, letters, onFilter }: PictureProps) {
  const { bins_a, bins_b, cells } = found;
  const most = Math.max(...cells.map((one) => one.n), 1);
  const name = (bin: ItemBin) => range(String(bin.start), String(bin.end), number);
  return (
    <div className="card picture">
      <h3 id="against">{letters[1]} against {letters[0]}: {number.title}</h3>
      <div className="scrolled" tabIndex={0} role="region" aria-labelledby="against">
        {cells.length === 0 ? <p className="nothing">No item has the number in both.</p> : (
          <table className="against">
            <tbody>
              {bins_b.map((_, above) => {
                const b = bins_b.length - 1 - above;
                return (
                  <tr key={b}>
                    <th scope="row" className="small number"><span className="unseen">{letters[1]} </span>{name(bins_b[b]!)}</th>
                    {bins_a.map((bin, a) => {
                      const n = cells.find((one) => one.a === a && one.b === b)?.n ?? 0;
                      const limits = limitsOf(bin, bins_b[b]!);
                      const pressed = n > 0 && OF_BOTH.every((end) => filters[end] === limits[end]);
                      return (
                        <td key={a}>
                          {n > 0 && (
                            <button type="button" className={`small shade-${Math.ceil((SHADES * Math.log1p(n)) / Math.log1p(most))}${bin.start === bins_b[b]!.start ? " even" : ""}`} aria-pressed={pressed} aria-label={`${letters[0]} ${name(bin)}, ${letters[1]} ${name(bins_b[b]!)}: ${counted(n, "item")}`} onClick={() => onFilter(pressed ? NO_LIMITS : limits)}>
                              {count(n)}
                            </button>
                          )}
                        </td>
                      );
                    })}
                  </tr>
                );
              })}
              <tr>
                <td className="small quiet number">{letters[1]} ↑ {letters[0]} →</td>
                {bins_a.map((bin) => <th key={bin.start} scope="col" className="small">{name(bin)}</th>)}
              </tr>
            </tbody>
          </table>
        )}
      </div>
    </div>
  );
}

const OF_BOTH = ["a_min", "a_max", "b_min", "b_max"] as const;
const NO_LIMITS = { a_min: null, a_max: null, b_min: null, b_max: null };

/** Two bins as limits that give exactly their items. */
const limitsOf = (a: ItemBin, b: ItemBin) => ({ a_min: String(a.low), a_max: String(a.high), b_min: String(b.low), b_max: String(b.high) });
