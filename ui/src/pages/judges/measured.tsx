import type { Measured } from "../../api/types";
import { NOTHING, words } from "../../format";

/** A measured value with its interval and n; where there were too few to say, that is said. */
export function Value({ found, digits = 2, percent = false }: { found: Measured; digits?: number; percent?: boolean }) {
  const write = (one: number) => (percent ? `${(100 * one).toFixed(1)} %` : one.toFixed(digits).replace("-", "−"));
  return (
    <>
      <span className="figure">{found.value === null ? NOTHING : write(found.value)}</span>
      <span className="small quiet beside">
        {found.low !== null && found.high !== null ? `${write(found.low)} to ${write(found.high)}` : found.reason === "too_few" ? "too few for an interval" : found.reason ? words(found.reason).toLowerCase() : ""}
        {`, n = ${found.n.toLocaleString("en")}`.replace(/^, (?=n)/, found.low === null && !found.reason ? "" : ", ")}
      </span>
    </>
  );
}
