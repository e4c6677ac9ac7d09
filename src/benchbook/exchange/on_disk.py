"""A table that is too long for memory: SQLite's own temporary file, which has no name and goes when it is closed."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from benchbook.errors import InputError


def temporary_table(*statements: str) -> sqlite3.Connection:
    """An empty database on disk, after these statements; nothing of it outlives its connection."""
    table = sqlite3.connect("", isolation_level=None, check_same_thread=False)
    for statement in ("PRAGMA journal_mode = OFF", "PRAGMA synchronous = OFF", "BEGIN", *statements):
        table.execute(statement)
    return table


@contextmanager
def put_on_disk(path: Path) -> Iterator[None]:
    """While what is in a file is put into such a table. Raises: InputError where the disk has no room for it."""
    try:
        yield
    except sqlite3.Error as error:
        found = f"more than the folder of temporary files can hold ({error})"
        raise InputError(path, found=found, expected="room there, or TMPDIR to name another") from None
