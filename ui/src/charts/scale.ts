/** A straight scale from values to pixels, and round numbers along it. */

export interface Scale {
  low: number;
  high: number;
  px: (value: number) => number;
}

/** `low` to `high` on 0 to `width`; what lies outside is held at the ends. */
export function scale(low: number, high: number, width: number): Scale {
  const range = high > low ? high - low : 1;
  return { low, high: low + range, px: (value) => (Math.min(Math.max(value, low), low + range) - low) * (width / range) };
}

/** Round numbers within a range, about `n` of them. */
export function ticks(low: number, high: number, n = 4): number[] {
  if (!(high > low)) return [low];
  const rough = (high - low) / n;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10].map((factor) => factor * power).find((candidate) => candidate >= rough * 0.999)!;
  const found: number[] = [];
  for (let place = Math.ceil(low / step - 1e-9); place * step <= high + step * 1e-9; place++) found.push(Number((place * step).toPrecision(12)));
  return found;
}
