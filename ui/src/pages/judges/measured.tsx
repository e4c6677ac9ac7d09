import type { Measured } from "../../api/types";
import { count, measured, withSign } from "../../numbers";
import type { Kind } from "../../words";

/** A measured value with its interval and n; where there were too few to say, that is said. */
export function Value({ found, kind, sign = false }: { found: Measured; kind: Kind; sign?: boolean }) {
  const { value, beside } = measured(kind, found);
  return (
    <>
      <span className="figure">{sign ? withSign(value) : value}</span>
      <span className="small quiet beside">{beside}, n = {count(found.n)}</span>
    </>
  );
}
