/** Which of very many rows of one height stand in a window, where browsers allow no element that is tall enough. */

export const MOST_PX = 16_000_000; // Firefox draws nothing below 17.8 million

export interface Geometry {
  count: number;
  rowPx: number;
  windowPx: number;
}

/** How tall the scrolled element is. */
export const heldPx = ({ count, rowPx }: Geometry): number => Math.min(count * rowPx, MOST_PX);

/** How far the rows are moved where the element is scrolled to `scrollTop`: the same up to MOST_PX, then stretched. */
export function topOf(scrollTop: number, geometry: Geometry): number {
  const held = heldPx(geometry) - geometry.windowPx;
  const whole = geometry.count * geometry.rowPx - geometry.windowPx;
  if (held <= 0 || whole <= held) return Math.max(scrollTop, 0);
  return Math.min(Math.max(scrollTop / held, 0), 1) * whole;
}

/** The `scrollTop` at which the rows are moved by `top`: the inverse of `topOf`. */
export function scrollTopFor(top: number, geometry: Geometry): number {
  const held = heldPx(geometry) - geometry.windowPx;
  const whole = geometry.count * geometry.rowPx - geometry.windowPx;
  if (held <= 0 || whole <= held) return Math.max(top, 0);
  return (Math.min(Math.max(top, 0), whole) / whole) * held;
}

/** The first row to draw and the one behind the last, with `beyond` rows on both sides. */
export function drawn(top: number, { count, rowPx, windowPx }: Geometry, beyond = 8): [number, number] {
  const first = Math.max(Math.floor(top / rowPx) - beyond, 0);
  const end = Math.min(Math.ceil((top + windowPx) / rowPx) + beyond, count);
  return [Math.min(first, count), Math.max(end, 0)];
}

/** Where `top` must be for a row to be whole in the window; as it is where the row is already. */
export function topToShow(row: number, top: number, { rowPx, windowPx }: Geometry): number {
  if (row * rowPx < top) return row * rowPx;
  if ((row + 1) * rowPx > top + windowPx) return (row + 1) * rowPx - windowPx;
  return top;
}
