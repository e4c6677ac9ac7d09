"""Holds a record's inputs against the hashes in its first fact, and notices when one is changed while it is used."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from io import BufferedReader
from pathlib import Path

from benchbook.errors import RecordError
from benchbook.evalsets.lines import Stamp, stamp_of
from benchbook.record.folder import Record, input_changed


class HeldInputs:
    """The inputs of a record, each held against its hash when the object is made.

    Raises: RecordError naming the file, the hash that it has, and the one that it should have.
    """

    def __init__(self, record: Record, hashes: Iterable[str]) -> None:
        self._paths = [record.input(sha256) for sha256 in sorted(set(hashes))]
        self._stamps = {path: _held(path) for path in self._paths}

    def check(self) -> None:
        """Hold them again: those that look otherwise than they did are read anew. Raises: RecordError."""
        for path in self._paths:
            with _opened(path) as file:
                is_same = stamp_of(file) == self._stamps[path]
            if not is_same:
                self._stamps[path] = _held(path)


def _held(path: Path) -> Stamp:
    with _opened(path) as file:
        stamp = stamp_of(file)
        try:
            found = hashlib.file_digest(file, "sha256").hexdigest()
        except OSError as error:
            raise RecordError(f"{path}: can't be read ({error.strerror})") from None
    if found != path.name:
        raise input_changed(path, found)
    return stamp


def _opened(path: Path) -> BufferedReader:
    try:
        return path.open("rb")
    except OSError as error:
        why = "is missing" if isinstance(error, FileNotFoundError) else f"can't be read ({error.strerror})"
        raise RecordError(f"{path}: {why}; the record was begun with it: put it back, or begin another run") from None
