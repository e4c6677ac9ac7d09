import { useState } from "react";
import { errorOf, send, type ApiError } from "../api/client";
import { useMe } from "../api/use-me";
import { visible } from "../text/visible";
import { Tag } from "./chips";
import { Wrong } from "./states";

/** A run's tags, to be added and taken away. They are people's: the record stays as it is. */
export function TagEditor({ run, tags, onChanged }: { run: string; tags: readonly string[]; onChanged: () => void }) {
  const [text, setText] = useState("");
  const [error, setError] = useState<ApiError | null>(null);
  const may = useMe().data?.scopes.includes("label") ?? false;
  const put = (wanted: readonly string[]) =>
    send("PUT /runs/{run_id}/tags", { run_id: run }, { tags: [...wanted] }).then(
      () => {
        setText("");
        setError(null);
        onChanged();
      },
      (reason: unknown) => setError(errorOf(reason)),
    );
  if (!may) return tags.length === 0 ? <span className="quiet">–</span> : <span className="tag-editor">{tags.map((tag) => <Tag key={tag} name={tag} />)}</span>;
  return (
    <form
      className="tag-editor"
      onSubmit={(event) => {
        event.preventDefault();
        if (text.trim() !== "") void put([...new Set([...tags, text.trim()])]);
      }}
    >
      {tags.map((tag) => (
        <span key={tag}>
          <Tag name={tag} />
          <button type="button" className="plain" aria-label={`Take tag ${visible(tag)} away`} onClick={() => void put(tags.filter((one) => one !== tag))}>
            ×
          </button>
        </span>
      ))}
      <input type="text" value={text} maxLength={60} aria-label="New tag" placeholder="new tag" onChange={(event) => setText(event.target.value)} />
      <button type="submit" disabled={text.trim() === ""}>
        Add
      </button>
      {error !== null && <Wrong error={error} />}
    </form>
  );
}
