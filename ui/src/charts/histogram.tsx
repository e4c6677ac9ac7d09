import { counted } from "../format";
import { count } from "../numbers";

export interface Bar {
  name: string;
  n: number;
}

/** Counts as bars with the number beside each: a list that is also a picture. */
export function Bars({ bars, label }: { bars: readonly Bar[]; label: string }) {
  const most = Math.max(...bars.map((bar) => bar.n), 1);
  return (
    <table className="bars" aria-label={label}>
      <tbody>
        {bars.map((bar) => (
          <tr key={bar.name}>
            <th scope="row">
              <bdi>{bar.name}</bdi>
            </th>
            <td className="bar-cell">
              <svg viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">
                <rect width={(100 * bar.n) / most} height={10} />
              </svg>
            </td>
            <td className="number">
              <span className="unseen">{counted(bar.n, "sample")}</span>
              <span aria-hidden="true">{count(bar.n)}</span>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
