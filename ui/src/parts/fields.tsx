import { useId, type Ref } from "react";
import { useTyped } from "./use-typed";

interface SearchProps {
  label: string;
  value: string;
  onChange: (text: string) => void;
  placeholder?: string;
  inputRef?: Ref<HTMLInputElement>;
}

export function SearchField({ label, value, onChange, placeholder, inputRef }: SearchProps) {
  const id = useId();
  const [text, setText] = useTyped(value, onChange);
  return (
    <div className="field grow">
      <label htmlFor={id}>{label}</label>
      <input id={id} ref={inputRef} type="search" maxLength={200} value={text} placeholder={placeholder} onChange={(event) => setText(event.target.value)} />
    </div>
  );
}

interface ChoiceProps {
  label: string;
  value: string;
  options: readonly { value: string; text: string }[];
  onChange: (value: string) => void;
}

export function Choice({ label, value, options, onChange }: ChoiceProps) {
  const id = useId();
  const known = options.some((option) => option.value === value);
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <select id={id} value={value} onChange={(event) => onChange(event.target.value)}>
        {!known && <option value={value}>{value}</option>}
        {options.map((option) => (
          <option key={option.value} value={option.value}>
            {option.text}
          </option>
        ))}
      </select>
    </div>
  );
}
