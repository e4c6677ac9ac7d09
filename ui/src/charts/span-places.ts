/** Where a value, its interval and what is asked of it stand on an axis, in percent from the left. */

export interface Axis {
  lowest: number;
  highest: number;
}

export interface Part {
  from: number;
  wide: number;
}

const LEAST = 0.6; // percent: narrower, an interval would not be seen

/** What lies outside an axis stands at its end. */
export function placeOn({ lowest, highest }: Axis, value: number): number {
  if (!(highest > lowest)) return 0;
  return (100 * (Math.min(Math.max(value, lowest), highest) - lowest)) / (highest - lowest);
}

/** An interval, or where something is as asked; one without a bound reaches as far as the axis. Null where it has none at all. */
export function partOf(axis: Axis, low: number | null, high: number | null): Part | null {
  if (low === null && high === null) return null;
  const from = low === null ? 0 : placeOn(axis, low);
  const to = high === null ? 100 : placeOn(axis, high);
  return { from: Math.min(from, 100 - LEAST), wide: Math.max(to - from, LEAST) };
}

/** How strong the colour of a cell is, from 1 to 5 by its share of the most that there is; 0 where there is nothing. */
export function shade(share: number | null): number {
  if (share === null || !(share > 0)) return 0;
  return Math.min(Math.ceil(5 * share), 5);
}
