"""Every writer, as a crash-point test needs it: what it does, what must be there afterwards, and how to go on."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchbook.record.facts import Reply
from benchbook.record.journal import JournalWriter
from benchbook.record.reading import read_journal
from crashing import Act, Say


def _nothing(folder: Path) -> None:
    """Nothing is there at first."""


def _files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


@dataclass(frozen=True, kw_only=True)
class Writer:
    """`kept` reads with what users read with: of what was acknowledged all must be in it, whatever happened.

    `again` is the second go; by default the same once more. It leaves what an undisturbed go does, as `seen` shows it.
    """

    modules: tuple[str, ...]  # of src/benchbook, which it tests
    act: Act
    kept: Callable[[Path], Collection[str]]
    prepare: Callable[[Path], None] = _nothing
    again: Act | None = None
    seen: Callable[[Path], Any] = _files


# ── the journal ──────────────────────────────────────────────────────────────────────────────────────────

_TEXTS = [f"answer {number} " + "x" * 100 for number in range(3)]


def _journal(folder: Path) -> None:
    (folder / "journal").mkdir()


def _append(folder: Path, say: Say) -> None:
    """Each fact is synced by itself; each but the first rolls the segment."""
    with JournalWriter(folder / "journal", segment_bytes=200) as writer:
        for number in range(len(_texts(folder)), len(_TEXTS)):
            writer.append(Reply(sample=number, role="candidate", text=_TEXTS[number]))
            writer.sync()
            say(_TEXTS[number])


def _append_all(folder: Path, say: Say) -> None:
    """Facts are acknowledged when the writer was closed, as at the end of a run."""
    with JournalWriter(folder / "journal") as writer:
        for number in range(len(_texts(folder)), len(_TEXTS)):
            writer.append(Reply(sample=number, role="candidate", text=_TEXTS[number]))
    for text in _TEXTS:
        say(text)


def writer_has(folder: Path) -> int:
    return len(_texts(folder))


def _texts(folder: Path) -> list[str]:
    return [line.fact.text or "" for line in read_journal(folder / "journal") if isinstance(line.fact, Reply)]


WRITERS = {
    "journal": Writer(
        modules=("record/journal.py",), prepare=_journal, act=_append, kept=_texts, seen=_texts,
    ),
    "journal-at-its-end": Writer(
        modules=("record/journal.py",), prepare=_journal, act=_append_all, kept=_texts, seen=_texts,
    ),
}  # fmt: skip
