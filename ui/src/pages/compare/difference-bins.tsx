import type { ItemBin } from "../../api/types";
import { counted } from "../../format";
import { count } from "../../numbers";
import { range } from "./item-filters";
import type { PictureProps } from "./item-pictures";

const HEIGHT = 88;

/** How far apart the two runs are, item by item: a bar a bin. Heights go by the root, so that few items are seen beside many. */
export function DifferenceBins({ found, number, filters, letters, onFilter }: PictureProps) {
  const bins = found.differences;
  const most = Math.max(...bins.map((bin) => bin.n), 1);
  const worse = (bin: ItemBin) => (number.higher_is_better ? bin.end <= 0 && bin.start < 0 : bin.start >= 0 && bin.end > 0);
  return (
    <div className="card picture">
      <h3 id="differences">Differences, {letters[1]} − {letters[0]}: {number.title}</h3>
      {bins.length === 0 ? <p className="nothing">No item is compared by it.</p> : (
        <ol className="bins" aria-labelledby="differences">
          {bins.map((bin) => {
            const [low, high] = [String(bin.low), String(bin.high)];
            const pressed = bin.n > 0 && filters.difference_min === low && filters.difference_max === high;
            const px = bin.n === 0 ? 0 : Math.max(HEIGHT * Math.sqrt(bin.n / most), 2);
            const tone = bin.start === 0 && bin.end === 0 ? "same" : worse(bin) ? "lost" : "won";
            const name = range(String(bin.start), String(bin.end), number);
            return (
              <li key={bin.start === bin.end ? `=${bin.start}` : bin.start}>
                <button type="button" className={`bin ${tone}`} aria-pressed={pressed} disabled={bin.n === 0} aria-label={`${name}: ${counted(bin.n, "item")}`} title={`${name}: ${counted(bin.n, "item")}`} onClick={() => onFilter(pressed ? { difference_min: null, difference_max: null } : { difference_min: low, difference_max: high })}>
                  <span className="small number">{bin.n === 0 ? "" : count(bin.n)}</span>
                  <svg viewBox={`0 0 20 ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
                    <rect x={1} y={HEIGHT - px} width={18} height={px} />
                  </svg>
                </button>
                <span className="small quiet" aria-hidden="true">{bin.start === bin.end ? name : ""}</span>
              </li>
            );
          })}
        </ol>
      )}
      {bins.some((bin) => bin.start !== bin.end) && (
        <p className="small quiet ends" aria-hidden="true">
          <span>{range(String(bins[0]!.start), String(bins[0]!.start), number)}</span>
          <span>{range(String(bins.at(-1)!.end), String(bins.at(-1)!.end), number)}</span>
        </p>
      )}
    </div>
  );
}
