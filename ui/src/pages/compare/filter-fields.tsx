import { useId } from "react";
import { useTyped } from "../../parts/use-typed";
import type { Changes } from "../../router";
import { Inline } from "../../text/model-text";
import { visible } from "../../text/visible";
import type { Chip, FilterName, Filters } from "./item-filters";

/** What is filtered, each with a button that takes it away. */
export function FilterChips({ chips, onTake, onClear }: { chips: readonly Chip[]; onTake: (names: readonly FilterName[]) => void; onClear: () => void }) {
  if (chips.length === 0) return null;
  return (
    <ul className="filter-chips" aria-label="Filters that are set">
      {chips.map((chip) => (
        <li key={chip.takes[0]}>
          <button type="button" className="small" aria-label={`Take away: ${visible(chip.text)}`} onClick={() => onTake(chip.takes)}>
            <Inline text={chip.text} /> <span aria-hidden="true">×</span>
          </button>
        </li>
      ))}
      <li>
        <button type="button" className="plain small" onClick={onClear}>
          Clear filters
        </button>
      </li>
    </ul>
  );
}

/** The least and the most that a number may be, in A, in B and between them. */
export function Limits({ filters, letters, title, onChange }: { filters: Filters; letters: readonly [string, string]; title: string | null; onChange: (changes: Changes) => void }) {
  const [a, b] = letters;
  const name = title ?? "Score";
  return (
    <details className="choose limits">
      <summary className="button">Limits</summary>
      <fieldset>
        <legend className="small quiet">{name}</legend>
        {([["a", a], ["b", b], ["difference", `${b} − ${a}`]] as const).map(([of, said]) => (
          <div key={of}>
            <span className="small">{said}</span>
            <Limit label={`${name}, ${said}, at least`} placeholder="at least" value={filters[`${of}_min`]} onChange={(value) => onChange({ [`${of}_min`]: value })} />
            <Limit label={`${name}, ${said}, at most`} placeholder="at most" value={filters[`${of}_max`]} onChange={(value) => onChange({ [`${of}_max`]: value })} />
          </div>
        ))}
      </fieldset>
    </details>
  );
}

function Limit({ label, placeholder, value, onChange }: { label: string; placeholder: string; value: string; onChange: (value: string) => void }) {
  const id = useId();
  const [text, setText] = useTyped(value, (typed) => onChange(typed.trim().replace(",", ".").replace("−", "-")), 250);
  return <input id={id} type="text" inputMode="decimal" maxLength={24} aria-label={label} placeholder={placeholder} aria-invalid={text !== "" && !Number.isFinite(Number(text.replace(",", ".").replace("−", "-")))} value={text} onChange={(event) => setText(event.target.value)} />;
}
