import type { Aggregates } from "../api/types";
import { Inline } from "../text/model-text";
import { Notice } from "./states";

/** What has to be known before any number. */
export function Warnings({ found }: { found: string[] }) {
  if (found.length === 0) return null;
  return (
    <Notice tone="doubt" title={found.length === 1 ? "Read this first" : `Read these ${found.length} first`}>
      <ul>
        {found.map((warning) => (
          <li key={warning}>
            <Inline text={warning} />
          </li>
        ))}
      </ul>
    </Notice>
  );
}

export function warningsOf(aggregates: Aggregates | null): string[] {
  const floor = aggregates?.floor_warning;
  return [...(aggregates?.warnings ?? []), ...(floor ? [floor] : [])];
}
