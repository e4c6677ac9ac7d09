import { localTime } from "../format";
import { NOTHING } from "../numbers";

/** A time in the reader's zone; the whole of it, with the zone, on hovering. */
export function Time({ utc }: { utc: string | null | undefined }) {
  const found = localTime(utc);
  if (found === null) return <span>{NOTHING}</span>;
  return (
    <time dateTime={utc ?? undefined} title={found.whole}>
      {found.text}
    </time>
  );
}
