"""Marks: what people write on runs to keep order, beside the records, which stay as they are.

They lie in a file of lines that only grow; the last line that says something of a run holds, whoever wrote it: this
server, another over the same folder, or the command line. A change is made of what stands there when it is written, so
that nobody's is lost.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from threading import RLock
from typing import Annotated, TypeAlias

import msgspec
from msgspec import UNSET, Meta, UnsetType, structs

from benchbook.canonical import canonical_json, ready
from benchbook.errors import UsageError
from benchbook.record.journal import utc_now
from benchbook.record.lines import STATE_FOLDER, LineFile
from benchbook.text import quoted

MOST_TAGS = 50
Tag: TypeAlias = Annotated[str, Meta(min_length=1, max_length=60)]
DisplayName: TypeAlias = Annotated[str, Meta(max_length=100, description="beside the run's id; empty for none")]
Note: TypeAlias = Annotated[str, Meta(max_length=2_000, description="a short text; empty for none")]


class Marks(msgspec.Struct, frozen=True, kw_only=True):
    """A run's marks. Empty texts are none; tags are in alphabetical order."""

    name: str = ""
    note: str = ""
    tags: tuple[str, ...] = ()
    archived: bool = False

    @property
    def version(self) -> str:
        """A name for what stands here: who changes a text says which one they saw."""
        return hashlib.sha256(canonical_json(self)).hexdigest()[:16]


NO_MARKS = Marks()


class MarksChange(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A change of marks; what is left out stays. Tags are added and taken away one by one, so that who else does the
    same loses none."""

    name: DisplayName | UnsetType = UNSET
    note: Note | UnsetType = UNSET
    add_tags: Annotated[tuple[Tag, ...], Meta(max_length=MOST_TAGS)] = ()
    remove_tags: Annotated[tuple[Tag, ...], Meta(max_length=MOST_TAGS)] = ()
    archived: bool | UnsetType = UNSET

    @property
    def replaces_text(self) -> bool:
        """True if something that was written would be gone."""
        return self.name is not UNSET or self.note is not UNSET

    def of(self, before: Marks) -> Marks:
        """The marks after the change. Raises: UsageError for too many tags."""
        tags = {*before.tags, *self.add_tags} - {*self.remove_tags}
        if len(tags) > max(MOST_TAGS, len(before.tags)):
            raise UsageError(f"found {len(tags)} tags; expected at most {MOST_TAGS} on a run")
        return Marks(
            name=before.name if isinstance(self.name, UnsetType) else self.name.strip(),
            note=before.note if isinstance(self.note, UnsetType) else self.note.strip(),
            tags=tuple(sorted(tags)),
            archived=before.archived if isinstance(self.archived, UnsetType) else self.archived,
        )


class _Line(msgspec.Struct, frozen=True, kw_only=True):
    """One change. What is missing stays as it was: lines of older versions have tags alone."""

    at: str
    run_id: str
    tags: tuple[str, ...]
    name: str | UnsetType = UNSET
    note: str | UnsetType = UNSET
    archived: bool | UnsetType = UNSET

    def of(self, before: Marks) -> Marks:
        given = structs.asdict(self)
        return structs.replace(
            before, **{name: given[name] for name in Marks.__struct_fields__ if given[name] is not UNSET}
        )


Edit: TypeAlias = Callable[[str, Marks], Marks]  # the run's id and its marks: those that it has from now on


class MarkFile:
    """The marks of the runs in a folder. Safe to share between threads."""

    def __init__(self, runs: str | Path) -> None:
        self._file = LineFile(Path(runs) / STATE_FOLDER / "tags.jsonl")
        self._lock = RLock()
        self._marks: dict[str, Marks] = {}
        self._changed: set[str] = set()  # since `take_changed` was called
        self._read = 0  # bytes of the file
        self._decoder = msgspec.json.Decoder(ready(_Line))
        self._read_on()

    def of(self, run_id: str) -> Marks:
        self._read_on()
        return self._marks.get(run_id, NO_MARKS)

    def all(self) -> Mapping[str, Marks]:
        """Every run that was ever marked."""
        self._read_on()
        with self._lock:
            return dict(self._marks)

    def take_changed(self) -> Mapping[str, Marks]:
        """The marks of runs that changed since this was asked, by whomever."""
        self._read_on()
        with self._lock:
            changed, self._changed = self._changed, set()
            return {run_id: self._marks.get(run_id, NO_MARKS) for run_id in changed}

    def change(self, run_ids: Collection[str], edit: Edit) -> dict[str, Marks]:
        """Change the marks of runs, of all of them or, after an error, of none; returns them.

        Raises: OSError; whatever `edit` raises.
        """
        made: dict[str, Marks] = {}

        def lines() -> Sequence[_Line]:
            at, marks = utc_now(), self.all()
            made.update({run_id: edit(run_id, marks.get(run_id, NO_MARKS)) for run_id in run_ids})
            changed = (run_id for run_id, after in made.items() if after != marks.get(run_id, NO_MARKS))
            return [_Line(at=at, run_id=run_id, **structs.asdict(made[run_id])) for run_id in changed]

        self._file.append_made(lines)
        return made

    def _read_on(self) -> None:
        """Read the lines that came since; all of them where the file is another one."""
        if self._file.size == self._read:
            return
        with self._lock:
            if self._file.size < self._read:
                self._changed |= self._marks.keys()
                self._marks, self._read = {}, 0
            lines, after = self._file.lines(self._read)
            for line in lines:
                with suppress(msgspec.DecodeError):  # of another version, or torn by one before this
                    found = self._decoder.decode(line)
                    self._marks[found.run_id] = found.of(self._marks.get(found.run_id, NO_MARKS))
                    self._changed.add(found.run_id)
            self._read = after


def marks_words(marks: Marks) -> str:
    """Marks in a line, for messages: who wrote what."""
    tags = ", ".join(quoted(tag) for tag in marks.tags) or "none"
    texts = [f"{what} {quoted(text, 200)}" for what, text in (("name", marks.name), ("note", marks.note)) if text]
    return "; ".join([*texts, f"tags {tags}", *(["archived"] if marks.archived else [])])


def searched(marks: Marks) -> str:
    """The text in which free text is looked for, case-folded."""
    return "\n".join((marks.name, marks.note, *marks.tags)).casefold()
