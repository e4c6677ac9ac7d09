"""A table that is too long for memory: SQLite's own temporary file, which has no name and goes when it is closed."""

from __future__ import annotations

import sqlite3


def temporary_table(*statements: str) -> sqlite3.Connection:
    """An empty database on disk, after these statements; nothing of it outlives its connection."""
    table = sqlite3.connect("", isolation_level=None, check_same_thread=False)
    for statement in ("PRAGMA journal_mode = OFF", "PRAGMA synchronous = OFF", "BEGIN", *statements):
        table.execute(statement)
    return table
