import { scale } from "./scale";

const WIDTH = 88;
const HEIGHT = 22;

/** A loss curve in the size of a word. A gap stays a gap. */
export function Sparkline({ values, label }: { values: readonly (number | null)[]; label: string }) {
  const known = values.filter((one): one is number => one !== null);
  if (known.length < 2) return <span className="quiet">{known.length === 0 ? "no loss" : "1 point"}</span>;
  const x = scale(0, values.length - 1, WIDTH - 4);
  const y = scale(Math.min(...known), Math.max(...known), HEIGHT - 4);
  let pen = "M";
  let path = "";
  values.forEach((one, place) => {
    if (one === null) pen = "M";
    else {
      path += `${pen}${(x.px(place) + 2).toFixed(1)} ${(HEIGHT - 2 - y.px(one)).toFixed(1)}`;
      pen = "L";
    }
  });
  return (
    <svg className="sparkline" width={WIDTH} height={HEIGHT} role="img" aria-label={label}>
      <path d={path} />
    </svg>
  );
}
