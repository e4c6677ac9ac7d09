import { useState } from "react";
import { address, ApiError, segment, send } from "../api/client";
import { Inline } from "../text/model-text";
import { visible } from "../text/visible";
import { Tag } from "./chips";

/** A run's tags, to be added and taken away. They are people's: the record stays as it is. */
export function TagEditor({ run, tags, onChanged }: { run: string; tags: readonly string[]; onChanged: () => void }) {
  const [text, setText] = useState("");
  const [error, setError] = useState<ApiError | null>(null);
  const put = (wanted: readonly string[]) =>
    send<unknown>("PUT", address(`/runs/${segment(run)}/tags`), { tags: wanted }).then(
      () => {
        setText("");
        setError(null);
        onChanged();
      },
      (reason: unknown) => setError(reason instanceof ApiError ? reason : new ApiError(0, String(reason), null)),
    );
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
      {error !== null && (
        <span role="alert" className="wrong small">
          <Inline text={`${error.message} ${error.detail ?? ""}`} />
        </span>
      )}
    </form>
  );
}
