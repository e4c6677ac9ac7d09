"""Tables on disk: nothing is left of them, and a full disk is told."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchbook.errors import InputError
from benchbook.exchange.on_disk import put_on_disk, temporary_table


def test_a_table_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SQLITE_TMPDIR", str(tmp_path))
    table = temporary_table("PRAGMA cache_size = 10", "CREATE TABLE t (x BLOB)")
    for _ in range(300):
        table.execute("INSERT INTO t VALUES (?)", (b"x" * 4096,))
    assert table.execute("SELECT count(*) FROM t").fetchone() == (300,)
    table.close()
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_is_told(tmp_path: Path) -> None:
    table = temporary_table("PRAGMA max_page_count = 10", "CREATE TABLE t (x BLOB)")
    with (
        pytest.raises(InputError, match="more than the folder of temporary files can hold"),
        put_on_disk(tmp_path / "log"),
    ):
        table.execute("INSERT INTO t VALUES (?)", (b"x" * (1 << 20),))
    table.close()
