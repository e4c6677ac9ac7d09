import { useEffect, useId, useRef, useState } from "react";
import { useKeys } from "../../parts/use-keys";
import { COLUMNS, type RunColumn } from "./columns";

interface Props {
  columns: readonly RunColumn[];
  onChange: (columns: readonly RunColumn[] | null) => void; // null: those that fit
}

/** Which columns the list has. The choice stands in the address, and this browser begins with it next time. */
export function ColumnChoice({ columns, onChange }: Props) {
  const [open, setOpen] = useState(false);
  const box = useRef<HTMLDivElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  const id = useId();
  useKeys(
    open
      ? {
          Escape: () => {
            setOpen(false);
            button.current?.focus();
          },
        }
      : {},
  );
  useEffect(() => {
    if (!open) return;
    const elsewhere = (event: PointerEvent) => event.target instanceof Node && box.current?.contains(event.target) === false && setOpen(false);
    document.addEventListener("pointerdown", elsewhere);
    return () => document.removeEventListener("pointerdown", elsewhere);
  }, [open]);
  const turned = (one: RunColumn, on: boolean) => onChange(COLUMNS.filter((other) => (other === one ? on : columns.includes(other))));
  return (
    <div ref={box} className="column-choice">
      <button ref={button} type="button" aria-expanded={open} aria-controls={open ? id : undefined} onClick={() => setOpen(!open)}>
        Columns
      </button>
      {open && (
        <fieldset id={id}>
          <legend className="unseen">Columns</legend>
          {COLUMNS.map((one) => (
            <label key={one.id}>
              <input type="checkbox" checked={columns.includes(one)} disabled={one.id === "run"} onChange={(event) => turned(one, event.target.checked)} />
              {one.name}
            </label>
          ))}
          <button type="button" className="plain" onClick={() => onChange(null)}>
            As at first
          </button>
        </fieldset>
      )}
    </div>
  );
}
