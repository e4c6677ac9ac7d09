"""Opening: addresses, tables, what an error says, and several who use one catalog at once."""

from __future__ import annotations

import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from threading import Barrier, Thread
from typing import Any

import pytest
from sqlalchemy import delete, insert, inspect

from benchbook.catalog import database
from benchbook.catalog.database import VERSION, Catalog, metadata, open_catalog, runs, versions
from benchbook.catalog.indexing import index_record, rebuild, refresh
from benchbook.catalog.queries import list_runs
from benchbook.errors import BenchbookError, ConfigError, UsageError
from catalog.making import content, correctness_row, made, predictions_of

# ── tables ───────────────────────────────────────────────────────────────────────────────────────────────────


def shape(catalog: Catalog) -> dict[str, Any]:
    """Tables, columns, keys and indexes, as the database itself tells them."""
    with catalog.read() as connection:
        inspector = inspect(connection)
        return {
            table: {
                "columns": sorted(
                    (column["name"], str(column["type"]), column["nullable"]) for column in inspector.get_columns(table)
                ),
                "key": inspector.get_pk_constraint(table)["constrained_columns"],
                "foreign": [
                    (one["constrained_columns"], one["referred_table"], one["options"])
                    for one in inspector.get_foreign_keys(table)
                ],
                "indexes": sorted((one["name"], one["column_names"]) for one in inspector.get_indexes(table)),
            }
            for table in inspector.get_table_names()
        }


def test_the_tables_are_those_of_schema(fresh_address: Callable[[], str]) -> None:
    with open_catalog(fresh_address()) as opened, open_catalog(fresh_address()) as created:
        with created.write() as connection:
            metadata.drop_all(connection)
            metadata.create_all(connection)
        assert shape(opened) == shape(created)
        assert set(shape(opened)) == {
            "catalog_versions", "runs", "aggregates", "tunix_run_predictions", "marks", "mark_tags",
        }  # fmt: skip


def test_a_catalog_of_an_older_benchbook_is_filled_again_by_its_records(address: str, tmp_path: Path) -> None:
    made(tmp_path / "runs", "a")
    with open_catalog(address) as old:
        refresh(old, tmp_path / "runs")
        now = shape(old)
        with old.write() as connection:  # as two steps of an older Benchbook left it
            connection.execute(delete(versions))
            connection.execute(insert(versions), [{"version": 1}, {"version": 2}])
            connection.exec_driver_sql("DROP INDEX runs_by_dataset")
    with open_catalog(address) as opened:
        assert shape(opened) == now
        assert list_runs(opened).runs == ()
        assert refresh(opened, tmp_path / "runs").read == ("a",)
        assert len(predictions_of(opened, "a")) == 4
    with open_catalog(address) as again:
        assert [one.run_id for one in list_runs(again).runs] == ["a"]


def test_a_catalog_of_a_newer_benchbook_is_refused(address: str) -> None:
    with open_catalog(address) as catalog, catalog.write() as connection:
        connection.execute(insert(versions), {"version": VERSION + 1})
    with pytest.raises(UsageError, match=rf"is of version {VERSION + 1}, and this Benchbook knows"):
        open_catalog(address)


def test_tables_that_can_not_be_made_leave_the_old_ones(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with open_catalog(address) as catalog:
        now = shape(catalog)

    def broken(*_: object, **__: object) -> None:
        raise BenchbookError("the power went")

    with monkeypatch.context() as patch:
        patch.setattr(database, "VERSION", VERSION + 1)
        patch.setattr(metadata, "create_all", broken)
        with pytest.raises(BenchbookError, match="the power went"):
            open_catalog(address)
    with open_catalog(address) as catalog:
        assert shape(catalog) == now


# ── addresses and errors ─────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "address",
    [
        "mysql://u:sesame@h/db",
        "postgresql://u:sesame@h",
        "postgresql://u:sesame@h:port/db",
        "postgresql+asyncpg://u:sesame@h/db",
        "postgres:sesame@h/db",
        "postgresql:u:sesame@h/db",
        "sqlite://",
        "sqlite:///:memory:",
        "sqlite:///file:a?mode=memory&password=sesame",
        "sqlite://sesame@host/a",
        "https://u:sesame@h/db",
    ],
)
def test_an_address_that_is_none(address: str) -> None:
    with pytest.raises(ConfigError, match=r"catalog url: found .*; expected a file's path, sqlite:///PATH or") as error:
        open_catalog(address)
    assert "sesame" not in str(error.value)


@pytest.mark.parametrize(
    "address",
    [
        "postgresql://u:open%20sesame@127.0.0.1:1/db",
        "postgresql://127.0.0.1:1/db?user=u&password=open%20sesame",
        "postgresql://u:open%20sesame@/db?host=/nowhere-open%20sesame",
    ],
)
def test_a_server_that_is_not_there(address: str) -> None:
    pytest.importorskip("psycopg")
    with pytest.raises(BenchbookError, match=r"^postgresql://.*/db: connection ") as error:
        open_catalog(address)
    assert "sesame" not in str(error.value)
    assert error.value.__cause__ is None
    assert error.value.exit_code == 3


@pytest.mark.xdist_group("postgres")
def test_a_database_that_can_not_hold_every_text(postgresql: str) -> None:
    import psycopg

    with psycopg.connect(postgresql, autocommit=True) as connection:
        connection.execute("CREATE DATABASE latin ENCODING 'LATIN1' TEMPLATE template0 LOCALE 'C'")
    address = postgresql.replace("/postgres?", "/latin?")
    with pytest.raises(ConfigError, match="/latin, whose encoding is LATIN1; expected a database in UTF8"):
        open_catalog(address)


def test_sqlite_by_path_and_by_url(tmp_path: Path) -> None:
    for address in (tmp_path / "a b%20é.sqlite", f"sqlite:///{tmp_path}/c.sqlite", str(tmp_path / "d?e#f")):
        with open_catalog(address) as catalog:
            assert list_runs(catalog).runs == ()
    assert {"a b%20é.sqlite", "c.sqlite", "d?e#f"} <= {path.name for path in tmp_path.iterdir()}
    with sqlite3.connect(tmp_path / "c.sqlite") as connection:
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    connection.close()


def test_files_that_are_no_catalog(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"no database" * 100)
    with pytest.raises(BenchbookError, match="/a: file is not a database"):
        open_catalog(tmp_path / "a")
    with pytest.raises(BenchbookError, match="unable to open database file"):
        open_catalog(tmp_path / "nowhere" / "b")
    other = sqlite3.connect(tmp_path / "c")
    other.execute("CREATE TABLE runs (a INTEGER)")
    other.close()
    with pytest.raises(BenchbookError, match="/c: table runs already exists"):
        open_catalog(tmp_path / "c")


def test_an_error_tells_no_value(catalog: Catalog) -> None:
    with pytest.raises(BenchbookError) as error, catalog.write() as connection:
        connection.execute(insert(runs), {"run_id": "what a model said", "state": None})
    assert "what a model said" not in str(error.value)
    assert "INSERT" not in str(error.value)


# ── at once ──────────────────────────────────────────────────────────────────────────────────────────────────


def test_two_processes_that_begin_and_write_at_once(address: str, tmp_path: Path) -> None:
    folder = tmp_path / "runs"
    for number in range(6):
        made(folder, f"r{number}", [correctness_row(position) for position in range(50)])
    code = (
        "import sys; from benchbook.catalog.database import open_catalog\n"
        "from benchbook.catalog.indexing import rebuild\n"
        "sys.stdin.readline()\n"
        "with open_catalog(sys.argv[1]) as catalog:\n"
        "    for _ in range(3): rebuild(catalog, sys.argv[2])"
    )
    words = [sys.executable, "-c", code, address, str(folder)]
    both = [subprocess.Popen(words, stdin=subprocess.PIPE, stderr=subprocess.PIPE) for _ in range(2)]
    for process in both:
        assert process.stdin is not None
        process.stdin.write(b"\n")
        process.stdin.flush()
    assert [process.communicate(timeout=300)[1].decode() for process in both] == ["", ""]
    with open_catalog(address) as catalog:
        found = content(catalog)
        assert len(found["tunix_run_predictions"]) == 300
        rebuild(catalog, folder)
        assert content(catalog) == found


def test_a_reader_sees_what_was_while_a_writer_works(catalog: Catalog, folder: Path) -> None:
    made(folder, "a")
    refresh(catalog, folder)
    before = content(catalog)
    with catalog.write() as connection:
        connection.execute(runs.delete())
        assert content(catalog) == before
    assert list_runs(catalog).runs == ()


def test_writers_of_the_same_record_leave_it_once(catalog: Catalog, folder: Path) -> None:
    record = made(folder, "a")
    together = Barrier(4)

    def write() -> None:
        together.wait()
        index_record(catalog, record)

    threads = [Thread(target=write) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [one.run_id for one in list_runs(catalog).runs] == ["a"]
    assert [one.position for one in predictions_of(catalog, "a")] == [0, 1, 2, 3]


def test_a_writer_that_waits_too_long_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benchbook.catalog.database.BUSY_SECONDS", 0.05)
    with open_catalog(tmp_path / "a") as one, open_catalog(tmp_path / "a") as other:
        waits = pytest.raises(BenchbookError, match="database is locked")
        with one.write(), waits, other.write():
            pass


def test_a_record_that_vanishes_is_removed(catalog: Catalog, folder: Path) -> None:
    made(folder, "a")
    refresh(catalog, folder)
    shutil.rmtree(folder / "a")
    assert rebuild(catalog, folder).removed == ("a",)
    assert {name: rows for name, rows in content(catalog).items() if rows} == {"catalog_versions": [(VERSION,)]}
