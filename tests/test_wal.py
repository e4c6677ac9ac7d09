"""A new SQLite file that several begin at once."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from benchbook import wal
from benchbook.ask.requests import ResponseCache
from benchbook.catalog.database import open_catalog


def mode(path: Path) -> str:
    with sqlite3.connect(path) as connection:
        found: str = connection.execute("PRAGMA journal_mode").fetchone()[0]
    connection.close()
    return found


@pytest.mark.parametrize("use", [lambda path: open_catalog(path).close(), lambda path: ResponseCache(path).close()])
def test_one_that_begins_waits_for_the_other(
    use: Callable[[Path], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "new.sqlite"
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")  # for which SQLite's own time-out does not wait
    monkeypatch.setattr(wal, "sleep", lambda _: other.execute("ROLLBACK"))
    use(path)
    other.close()
    assert mode(path) == "wal"


def test_it_waits_no_longer_than_asked(tmp_path: Path) -> None:
    other = sqlite3.connect(tmp_path / "a", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    one = sqlite3.connect(tmp_path / "a", isolation_level=None, timeout=0)
    with pytest.raises(sqlite3.OperationalError, match="database is locked"):
        wal.into_wal(one)
    one.close()
    other.close()
    assert mode(tmp_path / "a") == "delete"


def test_what_is_no_database_is_not_asked_again(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"no database" * 100)
    one = sqlite3.connect(tmp_path / "a")
    with pytest.raises(sqlite3.DatabaseError, match="not a database"):
        wal.into_wal(one)
    one.close()
