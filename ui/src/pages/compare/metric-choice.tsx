import { useId } from "react";
import type { MetricOption } from "../../api/types";

interface Props {
  value: string;
  options: readonly MetricOption[];
  onChange: (name: string) => void;
}

/** What rows, cards, slices and charts are by: what is tested item by item, then each run's own aggregates. */
export function MetricChoice({ value, options, onChange }: Props) {
  const id = useId();
  const groups = [
    { title: "By items, with a test", found: options.filter((one) => one.by_items) },
    { title: "Of each run as a whole", found: options.filter((one) => !one.by_items) },
  ];
  return (
    <div className="field">
      <label htmlFor={id}>Metric</label>
      <select id={id} value={value} onChange={(event) => onChange(event.target.value)}>
        {options.length === 0 && <option value={value}>{value}</option>}
        {groups.filter((group) => group.found.length > 0).map((group) => (
          <optgroup key={group.title} label={group.title}>
            {group.found.map((one) => (
              <option key={one.name} value={one.name}>
                {one.title}
              </option>
            ))}
          </optgroup>
        ))}
      </select>
    </div>
  );
}
