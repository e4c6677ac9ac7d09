import type { Aggregates } from "../api/client";
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
  if (aggregates === null) return [];
  const floor = "floor_warning" in aggregates ? aggregates.floor_warning : null; // A7's stands before all others
  return floor ? [floor, ...aggregates.warnings] : aggregates.warnings;
}
