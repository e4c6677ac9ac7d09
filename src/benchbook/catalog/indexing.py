"""Filling the catalog from records: one, those that changed, or all of them.

Those that did not change are known first, by size and time of their files; of the others the newest is read first.
Each record is one transaction: whoever reads sees a run as it was or as it is. Nothing but the records' content goes
in, no time of indexing either, so that a rebuilt catalog holds the same as one that grew step by step.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Protocol

from sqlalchemy import Connection, delete, insert, select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import DBAPIError

from benchbook.catalog.database import Catalog, aggregates, predictions, runs, to_stored
from benchbook.catalog.numbers import Aggregate
from benchbook.catalog.observing import Observation, damaged, observe
from benchbook.catalog.stamps import stamp_of
from benchbook.errors import RecordError, UsageError
from benchbook.evalsets.parquet import ParquetError, ParquetFile
from benchbook.record.folder import Record, record_folders, written_ns
from benchbook.record.growing import GrowingJournals

BATCH = 1_024
# position, item_id, expected, predicted, correctness, eval_time_ms, own
PredictionRow = tuple[int, str, str | None, str | None, float, int | None, str | None]
_COLUMNS = ("position", "item_id", "expected", "predicted", "correctness", "eval_time_ms", "own")
_CORRECTNESS = _COLUMNS.index("correctness")


def read_predictions(samples: Path, score: str = "correctness") -> Iterator[PredictionRow]:
    """The rows of a samples.parquet with predictions, whose column `score` is what they were worth; an item that is not
    answered yet has no row yet (A5).

    Raises: RecordError for a file that is no such table.
    """
    columns = ["sample", *(score if name == "correctness" else name for name in _COLUMNS[1:])]
    try:
        table = ParquetFile(samples)
        missing = [name for name in columns if name not in table.schema]
        if missing:
            raise RecordError(f"{samples}: lacks the columns {', '.join(missing)}")
        for frame in table.frames(columns):
            rows = frame.iter_rows(buffer_size=BATCH)
            yield from (row for row in rows if row[_CORRECTNESS] is not None)
    except (OSError, ParquetError) as error:
        raise RecordError(f"{samples}: not a readable table ({error})") from None


def insert_predictions(connection: Connection, run_id: str, rows: Iterator[PredictionRow]) -> int:
    """Add `rows`, none of which is there yet; returns how many. PostgreSQL takes them by COPY."""
    if connection.dialect.name == "postgresql":
        return _copy(connection, run_id, rows)
    added = 0
    while batch := [{"run_id": run_id, **dict(zip(_COLUMNS, row, strict=True))} for row in islice(rows, BATCH)]:
        connection.execute(insert(predictions), batch)
        added += len(batch)
    return added


def _copy(connection: Connection, run_id: str, rows: Iterator[PredictionRow]) -> int:
    import psycopg

    driver: Any = connection.connection.driver_connection
    names = ", ".join(("run_id", *_COLUMNS))
    stored_run = to_stored(run_id)
    added = 0
    try:
        with driver.cursor() as cursor, cursor.copy(f"COPY {predictions.name} ({names}) FROM STDIN") as copy:
            for row in rows:
                copy.write_row((stored_run, *(to_stored(one) if isinstance(one, str) else one for one in row)))
                added += 1
    except psycopg.Error as error:  # past SQLAlchemy, which would have wrapped it so
        raise DBAPIError(None, None, error) from None
    return added


@dataclass(frozen=True, slots=True)
class Indexed:
    """The result of a refresh: run ids in order. `damaged` are those of `read` that could not be read."""

    read: tuple[str, ...] = ()
    unchanged: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    damaged: tuple[str, ...] = ()


class Watching(Protocol):
    """Whoever waits for a folder to be indexed."""

    def indexed(self, done: int, total: int) -> None:
        """Take note that so many of the folder's records are as the catalog has them. Called after each."""

    def wanted(self) -> Iterable[str]:
        """The runs that are asked for: they are read before all others."""

    @property
    def is_over(self) -> bool:
        """True once nobody waits any more: the rest is left as it is."""


def refresh(
    catalog: Catalog, runs_folder: str | Path, watching: Watching | None = None, growing: GrowingJournals | None = None
) -> Indexed:
    """Read the records of a folder whose files changed since they were indexed, and remove runs that are gone.

    Raises: UsageError for a folder that is none.
    """
    return _index_folder(catalog, Path(runs_folder), watching, growing, everything=False)


def rebuild(catalog: Catalog, runs_folder: str | Path) -> Indexed:
    """Read every record of a folder, and let nothing stay in the catalog that is not in one of them.

    Raises: UsageError for a folder that is none.
    """
    return _index_folder(catalog, Path(runs_folder), everything=True)


def _index_folder(
    catalog: Catalog,
    folder: Path,
    watching: Watching | None = None,
    growing: GrowingJournals | None = None,
    *,
    everything: bool,
) -> Indexed:
    if not folder.is_dir():
        raise UsageError(f"{folder}: there is no such folder of records")
    # First the catalog, then the folder: a record that another process adds in between is not taken for one gone.
    with catalog.read() as connection:
        stamps = {row.run_id: row.stamp for row in connection.execute(select(runs.c.run_id, runs.c.stamp))}
    records = {path.name: Record(path) for path in record_folders(folder)}
    done: dict[str, list[str]] = {"read": [], "unchanged": [], "removed": [], "damaged": []}
    if not everything:
        done["unchanged"] = [
            run_id for run_id, stamp in stamps.items() if run_id in records and _is_unchanged(records[run_id], stamp)
        ]
    for run_id in _in_turn(records, done["unchanged"], watching):
        found = index_record(catalog, records[run_id], growing)
        if found is not None:
            done["read"].append(run_id)
            done["damaged"] += [run_id] if found.row["state"] == "damaged" else []
        elif run_id in stamps:
            done["removed"].append(run_id)
    gone = sorted(stamps.keys() - records.keys())
    with catalog.write() as connection:
        for run_id in gone:
            connection.execute(delete(runs).where(runs.c.run_id == run_id))
    return Indexed(**{name: tuple(sorted([*ids, *(gone if name == "removed" else ())])) for name, ids in done.items()})


def _in_turn(records: Mapping[str, Record], known: Iterable[str], watching: Watching | None) -> Iterator[str]:
    """The records that are to be read, one by one: those that are asked for first, then the newest."""
    waiting = dict.fromkeys(records)
    for run_id in known:
        del waiting[run_id]
    if watching is None:
        yield from waiting
        return
    watching.indexed(len(records) - len(waiting), len(records))
    waiting = dict.fromkeys(sorted(waiting, key=lambda run_id: -written_ns(records[run_id])))
    while waiting and not watching.is_over:
        run_id = next((one for one in watching.wanted() if one in waiting), None) or next(iter(waiting))
        yield run_id
        del waiting[run_id]
        watching.indexed(len(records) - len(waiting), len(records))


def is_as_indexed(catalog: Catalog, record: Record) -> bool:
    """True if the record's files are those from which its row was made."""
    with catalog.read() as connection:
        stamp = connection.execute(select(runs.c.stamp).where(runs.c.run_id == record.run_id)).scalar_one_or_none()
    return stamp is not None and _is_unchanged(record, stamp)


def _is_unchanged(record: Record, stamp: str) -> bool:
    try:
        return stamp_of(record) == stamp
    except OSError:
        return False


def index_record(catalog: Catalog, record: Record, growing: GrowingJournals | None = None) -> Observation | None:
    """Put a record's row, aggregates and predictions in the place of those that were there.

    Returns None where the folder is gone, or is none of a run: what was there of it is removed.
    """
    try:
        found = observe(record, growing)
    except FileNotFoundError:
        found = None
    if found is None:
        with catalog.write() as connection:
            connection.execute(delete(runs).where(runs.c.run_id == record.run_id))
        return None
    try:
        _store(catalog, found)
    except RecordError as error:  # the table of samples can't be read to its end
        found = damaged(record, found.row["stamp"], str(error))
        _store(catalog, found)
    return found


def _store(catalog: Catalog, found: Observation) -> None:
    run_id = found.row["run_id"]
    with catalog.write() as connection:
        _upsert(connection, found.row)  # first: in PostgreSQL another writer of this run waits here
        connection.execute(delete(aggregates).where(aggregates.c.run_id == run_id))
        if rows := list(_aggregate_rows(run_id, found.aggregates)):
            connection.execute(insert(aggregates), rows)
        connection.execute(delete(predictions).where(predictions.c.run_id == run_id))
        if found.predictions is not None:
            insert_predictions(connection, run_id, read_predictions(found.predictions, found.score))


def _upsert(connection: Connection, row: Mapping[str, Any]) -> None:
    new = (postgresql if connection.dialect.name == "postgresql" else sqlite).insert(runs).values(row)
    others = {name: new.excluded[name] for name in row if name != "run_id"}
    connection.execute(new.on_conflict_do_update(index_elements=[runs.c.run_id], set_=others))


def _aggregate_rows(run_id: str, found: Mapping[str, Aggregate]) -> Iterable[dict[str, Any]]:
    for name, value in found.items():
        yield {"run_id": run_id, "name": name, "value_nano": value.nano, "value_text": value.text}
