import type { LeafDifference } from "../../api/types";
import { counted } from "../../format";
import { Inline } from "../../text/model-text";
import { oneLine } from "../../text/visible";

/** A JSON value on a line; what a run has no such leaf for is said, and is not null. */
export function leafText(found: unknown, there: boolean, width = 300): string {
  if (!there) return "(none)";
  return oneLine(typeof found === "string" ? found : JSON.stringify(found), width);
}

/** What the two runs' manifests have differently, leaf by leaf. */
export function Metadata({ leaves, a, b }: { leaves: readonly LeafDifference[]; a: string; b: string }) {
  return (
    <details className="part-details">
      <summary>
        Metadata <span className="quiet">({leaves.length === 0 ? "nothing differs" : counted(leaves.length, "value differs", "values differ")})</span>
      </summary>
      {leaves.length > 0 && (
        <div className="table leaves" tabIndex={0} role="region" aria-label="Metadata that differs">
          <table>
            <thead>
              <tr>
                <th scope="col">What</th>
                <th scope="col">{a}</th>
                <th scope="col">{b}</th>
              </tr>
            </thead>
            <tbody>
              {leaves.map((leaf) => (
                <tr key={leaf.path}>
                  <th scope="row">
                    <Inline text={leaf.path} className="mono" />
                  </th>
                  <td>
                    <Inline text={leafText(leaf.a, leaf.in_a)} />
                  </td>
                  <td>
                    <Inline text={leafText(leaf.b, leaf.in_b)} />
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </details>
  );
}
