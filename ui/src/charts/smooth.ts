/** Curves made ready to be drawn. A null is a step at which nothing finite was logged: never zero, never drawn over. */

/**
 * An exponential moving average without a bias at the start. `strength` is 0 (as logged) up to 1.
 * A null stays null and carries the average on.
 */
export function smoothed(values: readonly (number | null)[], strength: number): (number | null)[] {
  if (strength <= 0) return [...values];
  const kept = Math.min(strength, 0.999);
  let average = 0;
  let weight = 0;
  return values.map((one) => {
    if (one === null) return null;
    average = kept * average + (1 - kept) * one;
    weight = kept * weight + (1 - kept);
    return average / weight;
  });
}

export interface Line {
  x: readonly number[];
  y: readonly (number | null)[];
}

/** Lines over one common x, as uPlot wants them. Undefined: the line has no point there, and is drawn on over it. */
export function aligned(lines: readonly Line[]): [number[], ...(number | null | undefined)[][]] {
  const places = [...new Set(lines.flatMap((line) => [...line.x]))].toSorted((a, b) => a - b);
  const at = new Map(places.map((x, place) => [x, place]));
  const columns = lines.map((line) => {
    const column = Array.from<number | null | undefined>({ length: places.length });
    line.x.forEach((x, place) => (column[at.get(x)!] = line.y[place] ?? null));
    return column;
  });
  return [places, ...columns];
}

/**
 * At most about `2 * buckets` points that look the same: the lowest and the highest of each stretch, and each null, so
 * that a spike or a gap is never lost.
 */
export function thinned(line: Line, buckets: number): Line {
  if (line.x.length <= 2 * buckets) return line;
  const keep = new Set<number>([0, line.x.length - 1]);
  const size = line.x.length / buckets;
  for (let bucket = 0; bucket < buckets; bucket++) {
    let low = -1;
    let high = -1;
    let empty = -1;
    for (let i = Math.floor(bucket * size); i < Math.floor((bucket + 1) * size); i++) {
      const one = line.y[i] ?? null;
      if (one === null) empty = i;
      else {
        if (low < 0 || one < line.y[low]!) low = i;
        if (high < 0 || one > line.y[high]!) high = i;
      }
    }
    for (const i of [low, high, empty]) if (i >= 0) keep.add(i);
  }
  const order = [...keep].toSorted((a, b) => a - b);
  return { x: order.map((i) => line.x[i]!), y: order.map((i) => line.y[i] ?? null) };
}
