"""The folders of people's labels among the records, and of which run each is: known without reading any run."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Collection, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock

from sqlalchemy import select

from benchbook.catalog.database import Catalog, runs
from benchbook.errors import BenchbookError
from benchbook.record.facts import LabelsStarted
from benchbook.record.folder import Record, is_of_labels
from benchbook.record.reading import read_journal, segment_files

_SURE_NS = 2_000_000_000  # a folder that changed so lately may have changed again at the same time by its clock


@dataclass(frozen=True, slots=True)
class LabelFolder:
    """A folder of labels. `run_id` is that of the run they were drawn from, None where that can't be read."""

    path: Path
    run_id: str | None

    def stamp(self) -> str:
        """A text that changes with every label."""
        parts = [self.path.name]
        with suppress(OSError, BenchbookError):
            for segment in segment_files(Record(self.path).journal):
                found = segment.stat()
                parts.append(f"{segment.name} {found.st_size} {found.st_mtime_ns}")
        return "\n".join(parts)


def stamp_of_labels(folders: Collection[LabelFolder]) -> str:
    """A short name of these labels as they stand; empty where there are none."""
    if not folders:
        return ""
    return hashlib.sha256("\n\n".join(one.stamp() for one in folders).encode("utf-8", "surrogatepass")).hexdigest()[:16]


@dataclass(slots=True)
class LabelFolders:
    """The folders of labels in a folder of records. It is listed again when a folder was added to it or taken from it:
    no record of a run that the catalog has is opened, and no folder of labels twice.
    """

    folder: Path
    catalog: Catalog
    _listed_at: int = -1  # when the folder was changed last before it was listed
    _found: tuple[LabelFolder, ...] = ()
    _open: tuple[Path, ...] = ()  # those that are neither a run nor labels: one may be about to be copied there
    _lock: Lock = field(default_factory=Lock)

    def all(self, *, is_indexing: bool = False) -> tuple[LabelFolder, ...]:
        """All of them, by name. `is_indexing`: the catalog lacks runs yet, so what is none there may be one: until it
        has them all, only folders with an anchor are opened, which no run has."""
        with self._lock:
            try:
                changed = self.folder.stat().st_mtime_ns
            except OSError:
                return ()
            if changed == self._listed_at:
                self._look_at(self._open, is_indexing=is_indexing)
            else:
                self._found, self._open = (), ()
                self._look_at(tuple(self._candidates()), is_indexing=is_indexing)
                is_sure = not is_indexing and time.time_ns() - changed > _SURE_NS
                self._listed_at = changed if is_sure else -1
            return self._found

    def _candidates(self) -> Iterator[Path]:
        """The folders here that the catalog knows no run by."""
        with self.catalog.read() as connection:
            known = set(connection.scalars(select(runs.c.run_id)))
        with os.scandir(self.folder) as entries:
            for entry in entries:
                if not entry.name.startswith(".") and entry.name not in known and entry.is_dir():
                    yield self.folder / entry.name

    def _look_at(self, paths: tuple[Path, ...], *, is_indexing: bool) -> None:
        found, others = list(self._found), []
        for path in paths:
            record = Record(path)
            if (not is_indexing or record.anchor.is_file()) and is_of_labels(record):
                found.append(LabelFolder(path, _run_of(record)))
            else:
                others.append(path)
        self._found, self._open = tuple(sorted(found, key=lambda one: one.path.name)), tuple(others)


def _run_of(record: Record) -> str | None:
    with suppress(BenchbookError, OSError):
        for line in read_journal(record.journal):
            return line.fact.run_id if isinstance(line.fact, LabelsStarted) else None
    return None
