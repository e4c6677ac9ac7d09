import { useState } from "react";
import { keepChoice, keptChoice } from "../../parts/kept";
import type { Changes } from "../../router";
import { toggled, type ItemColumn } from "./item-columns";

export const LINES = [1, 3, 6] as const;
type Lines = (typeof LINES)[number];

/** How the table is shown: by the address, else as it was last chosen in this browser. */
export interface ItemView {
  cols: string;
  lines: Lines;
  pictures: boolean;
}

export function viewOf(query: URLSearchParams, narrow: boolean): ItemView {
  const found = (name: string) => query.get(name) ?? keptChoice(`items.${name}`);
  const lines = LINES.find((one) => String(one) === found("lines")) ?? 1;
  const pictures = query.get("pictures") ?? (narrow ? "off" : keptChoice("items.pictures")); // a phone has no room for them
  return { cols: found("cols"), lines, pictures: pictures !== "off" };
}

interface Props {
  view: ItemView;
  all: readonly ItemColumn[];
  shown: readonly ItemColumn[];
  narrow: boolean;
  onChange: (changes: Changes) => void;
}

/** Which columns, how high rows are, and whether there are pictures. */
export function ViewChoices({ view, all, shown, narrow, onChange }: Props) {
  const [open, setOpen] = useState(false);
  const keep = (name: string, value: string) => {
    keepChoice(`items.${name}`, value);
    onChange({ [name]: value === "" ? null : value });
  };
  return (
    <div className="view-choices">
      <div className="joined" role="group" aria-label="Lines of a row">
        <span className="small quiet" aria-hidden="true">Lines of a row</span>
        {LINES.map((one) => (
          <button key={one} type="button" className="small" aria-pressed={view.lines === one} aria-label={`${one} ${one === 1 ? "line" : "lines"}`} onClick={() => keep("lines", one === 1 ? "" : String(one))}>
            {one}
          </button>
        ))}
      </div>
      <button type="button" className="small" aria-pressed={view.pictures} onClick={() => keep("pictures", view.pictures ? "off" : narrow ? "on" : "")}>
        Pictures
      </button>
      {!narrow && (
        <details className="choose" onToggle={(event) => setOpen(event.currentTarget.open)}>
          <summary className="button small">Columns</summary>
          {open && (
            <fieldset>
              <legend className="unseen">Columns</legend>
              {all.map((one) => (
                <label key={one.name}>
                  <input type="checkbox" checked={shown.includes(one)} onChange={() => keep("cols", toggled(all, shown, one.name))} /> {one.title}
                </label>
              ))}
            </fieldset>
          )}
        </details>
      )}
    </div>
  );
}
