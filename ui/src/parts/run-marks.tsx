import { useState } from "react";
import { useMe } from "../api/use-me";
import type { RunRow } from "../api/types";
import { NOTHING } from "../numbers";
import { Inline } from "../text/model-text";
import { Tag } from "./chips";
import { Wrong } from "./states";
import { TagEditor } from "./tag-editor";
import { useMarks, type MarksHeld, type Texts } from "./use-marks";

/** What people wrote on a run, to be changed: the record stays as it is. Rows of a list of facts. */
export function RunMarks({ row, onChanged }: { row: RunRow; onChanged: () => void }) {
  const held = useMarks(row.run_id, onChanged);
  const may = useMe().data?.scopes.includes("label") ?? false;
  const { marks } = held;
  const own = row.tags.filter((tag) => marks !== null && !marks.tags.includes(tag)); // that the run was begun with
  const shown = marks ?? row;
  return (
    <>
      <dt>Tags</dt>
      <dd>
        {may && marks !== null ? (
          <TagEditor tags={marks.tags} onAdd={(tag) => held.change({ add_tags: [tag] })} onTake={(tag) => void held.change({ remove_tags: [tag] })} />
        ) : (
          <span className="tag-editor">{shown.tags.length === 0 ? NOTHING : shown.tags.map((tag) => <Tag key={tag} name={tag} />)}</span>
        )}
        {own.length > 0 && marks !== null && <span className="tag-editor">begun with {own.map((tag) => <Tag key={tag} name={tag} />)}</span>}
      </dd>
      <dt>Name, note</dt>
      <dd>{may && marks !== null ? <TextsEditor held={held} seen={marks} /> : <TextsShown {...shown} />}</dd>
      {may && marks !== null && (
        <>
          <dt>Archived</dt>
          <dd>
            {marks.archived ? "yes: left out of lists of runs" : "no"}{" "}
            <button type="button" className="small" onClick={() => void held.change({ archived: !marks.archived })}>
              {marks.archived ? "Restore" : "Archive"}
            </button>
          </dd>
        </>
      )}
      {held.error !== null && (
        <>
          <dt className="unseen">Problem</dt>
          <dd><Wrong error={held.error} /></dd>
        </>
      )}
    </>
  );
}

function TextsShown({ name, note }: Texts) {
  if (name === "" && note === "") return <span className="quiet">{NOTHING}</span>;
  return (
    <>
      {name !== "" && <div className="strong"><Inline text={name} /></div>}
      {note !== "" && <div className="note"><Inline text={note} /></div>}
    </>
  );
}

/** Name and note, in a form while they are written. What somebody else wrote meanwhile is shown, and nothing is lost. */
function TextsEditor({ held, seen }: { held: MarksHeld; seen: Texts }) {
  const [draft, setDraft] = useState<{ seen: Texts; mine: Texts; theirs: Texts | null } | null>(null);
  if (draft === null) {
    return (
      <>
        <TextsShown {...seen} />
        <button type="button" className="small" onClick={() => setDraft({ seen, mine: { name: seen.name, note: seen.note }, theirs: null })}>
          {seen.name === "" && seen.note === "" ? "Write" : "Edit"}
        </button>
      </>
    );
  }
  const { mine, theirs } = draft;
  const type = (changes: Partial<Texts>) => setDraft({ ...draft, mine: { ...mine, ...changes } });
  const save = async () => {
    const other = await held.write(draft.seen, mine);
    setDraft(other === null ? null : { seen: other, mine, theirs: other });
  };
  return (
    <form
      className="texts-editor"
      onSubmit={(event) => {
        event.preventDefault();
        void save();
      }}
    >
      <input type="text" aria-label="Name" placeholder="name beside the id" maxLength={100} value={mine.name} onChange={(event) => type({ name: event.target.value })} />
      <textarea aria-label="Note" placeholder="note" maxLength={2_000} rows={3} value={mine.note} onChange={(event) => type({ note: event.target.value })} />
      {theirs !== null && (
        <div className="theirs" role="alert">
          <p>Somebody else wrote meanwhile. Save puts yours in its place.</p>
          <TextsShown {...theirs} />
          <button type="button" className="small" onClick={() => type(joined(mine, theirs))}>
            Take theirs in
          </button>
        </div>
      )}
      <div className="actions">
        <button type="submit" className="primary">
          Save
        </button>
        <button type="button" onClick={() => setDraft(null)}>
          {theirs === null ? "Cancel" : "Keep theirs"}
        </button>
      </div>
    </form>
  );
}

/** Both texts: a name of one's own goes before theirs, and notes stand below each other. */
function joined(mine: Texts, theirs: Texts): Texts {
  const note = [...new Set([theirs.note, mine.note].filter((text) => text !== ""))].join("\n");
  return { name: mine.name === "" ? theirs.name : mine.name, note };
}
