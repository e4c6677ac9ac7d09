import { useState } from "react";
import { visible } from "../text/visible";
import { Tag } from "./chips";

interface Props {
  tags: readonly string[];
  onAdd: (tag: string) => Promise<boolean>;
  onTake: (tag: string) => void;
}

/** A run's tags, each to be added and taken away by itself. */
export function TagEditor({ tags, onAdd, onTake }: Props) {
  const [text, setText] = useState("");
  const tag = text.trim();
  return (
    <form
      className="tag-editor"
      onSubmit={(event) => {
        event.preventDefault();
        if (tag !== "") void onAdd(tag).then((added) => added && setText(""));
      }}
    >
      {tags.map((one) => (
        <span key={one}>
          <Tag name={one} />
          <button type="button" className="plain" aria-label={`Take tag ${visible(one)} away`} onClick={() => onTake(one)}>
            ×
          </button>
        </span>
      ))}
      <input type="text" value={text} maxLength={60} aria-label="New tag" placeholder="new tag" onChange={(event) => setText(event.target.value)} />
      <button type="submit" disabled={tag === ""}>
        Add
      </button>
    </form>
  );
}
