"""Marks in the catalog: an index of the file that they lie in (record/marks.py), for filters of runs."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from threading import Lock
from typing import Any

from sqlalchemy import Connection, bindparam, delete, insert, select
from sqlalchemy.dialects import postgresql, sqlite

from benchbook.catalog.database import Catalog, mark_tags, marks
from benchbook.record.marks import NO_MARKS, Edit, MarkFile, Marks, searched


class IndexedMarks:
    """The marks of runs, and their index in the catalog, which follows whoever writes."""

    def __init__(self, runs: Path, catalog: Catalog) -> None:
        self._file = MarkFile(runs)
        self._catalog = catalog
        self._lock = Lock()
        self._waiting: dict[str, Marks] = {}  # for the catalog
        self._file.take_changed()
        index_all_marks(catalog, self._file.all())

    def of(self, run_id: str) -> Marks:
        return self._file.of(run_id)

    def change(self, run_ids: Collection[str], edit: Edit) -> dict[str, Marks]:
        """Change the marks of runs, and return them. Raises: OSError, with nothing changed; whatever `edit` raises."""
        return self._file.change(run_ids, edit)

    def index(self) -> None:
        """Bring the catalog up to date, for a list that goes by marks. Raises: BenchbookError."""
        with self._lock:
            self._waiting |= self._file.take_changed()
            if self._waiting:
                index_marks(self._catalog, self._waiting)
                self._waiting = {}


def index_marks(catalog: Catalog, found: Mapping[str, Marks]) -> None:
    """Put the marks of some runs in the place of those that were there."""
    if not found:
        return
    # In one order: of two writers one waits, and never both.
    there = {run_id: found[run_id] for run_id in sorted(found) if found[run_id] != NO_MARKS}
    tags = [{"run_id": run_id, "tag": tag} for run_id, one in there.items() for tag in one.tags]
    with catalog.write() as connection:
        _upsert(connection, [_row(run_id, one) for run_id, one in there.items()])
        for table, run_ids in ((mark_tags, there), (marks, found.keys() - there.keys())):
            if run_ids:
                named = [{"named": run_id} for run_id in sorted(run_ids)]
                connection.execute(delete(table).where(table.c.run_id == bindparam("named")), named)
        if tags:
            connection.execute(insert(mark_tags), tags)


def index_all_marks(catalog: Catalog, found: Mapping[str, Marks]) -> None:
    """Let the catalog have these marks and no others; what is there already is left alone."""
    with catalog.read() as connection:
        there = {row.run_id: row.version for row in connection.execute(select(marks.c.run_id, marks.c.version))}
    wanted = dict.fromkeys(there.keys() - found.keys(), NO_MARKS)
    wanted |= {run_id: one for run_id, one in found.items() if there.get(run_id, NO_MARKS.version) != one.version}
    index_marks(catalog, wanted)


def _row(run_id: str, one: Marks) -> dict[str, Any]:
    return {"run_id": run_id, "version": one.version, "archived": int(one.archived), "search": searched(one)}


def _upsert(connection: Connection, rows: list[dict[str, Any]]) -> None:
    """First of all: in PostgreSQL another writer of these marks waits here."""
    if rows:
        new = (postgresql if connection.dialect.name == "postgresql" else sqlite).insert(marks)
        others = {name: new.excluded[name] for name in rows[0] if name != "run_id"}
        connection.execute(new.on_conflict_do_update(index_elements=[marks.c.run_id], set_=others), rows)
