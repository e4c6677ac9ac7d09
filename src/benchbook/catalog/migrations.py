"""The steps from an empty database to today's tables, each in one transaction (docs/decisions/0012).

A step is frozen once it is released: it spells out its tables as they were, and never uses `schema`. What a step can't
know it leaves to the records: it empties `stamp`, and the next refresh reads them again.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sqlalchemy import (
    BigInteger,
    Column,
    Connection,
    Double,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    Table,
    func,
    insert,
    inspect,
    select,
    text,
    update,
)
from sqlalchemy.schema import CreateColumn

from benchbook.catalog.schema import StoredText
from benchbook.errors import UsageError

__all__ = ["NEWEST", "STEPS", "apply_next", "version_of"]


_versions = Table("catalog_versions", MetaData(), Column("version", Integer, primary_key=True, autoincrement=False))


def _runs_and_aggregates(connection: Connection) -> None:
    metadata = MetaData()
    Table(
        "runs",
        metadata,
        Column("run_id", StoredText, primary_key=True),
        Column("record_path", StoredText, nullable=False),
        Column("spec", StoredText),
        Column("state", StoredText, nullable=False),
        Column("error", StoredText),
        Column("started_utc", StoredText),
        Column("ended_utc", StoredText),
        Column("dataset_id", StoredText),
        Column("dataset_sha256", StoredText),
        Column("model_id", StoredText),
        Column("model_version", StoredText),
        Column("evaluator_model_id", StoredText),
        Column("decision", StoredText),
        Column("primary_name", StoredText),
        Column("primary_nano", BigInteger),
        Column("primary_low_nano", BigInteger),
        Column("primary_high_nano", BigInteger),
        Column("n_items", BigInteger),
        Column("n_planned", BigInteger),
        Column("n_attempted", BigInteger),
        Column("n_scored", BigInteger),
        Column("n_unscored", BigInteger),
        Column("journal_sha256", StoredText),
        Column("manifest_sha256", StoredText),
        Column("tags", StoredText, nullable=False),
        Column("search", StoredText, nullable=False),
        Column("stamp", StoredText, nullable=False),
        Index("runs_by_started", "started_utc", "run_id"),
        Index("runs_by_primary", "primary_nano", "run_id"),
        Index("runs_by_model", "model_id", "run_id"),
        Index("runs_by_dataset", "dataset_id", "run_id"),
        Index("runs_by_score_on", "dataset_sha256", "spec", "primary_nano", "run_id"),
    )
    Table(
        "aggregates",
        metadata,
        Column("run_id", StoredText, ForeignKey("runs.run_id", ondelete="CASCADE"), primary_key=True),
        Column("name", StoredText, primary_key=True),
        Column("value_nano", BigInteger),
        Column("value_text", StoredText),
        Index("aggregates_by_value", "name", "value_nano"),
    )
    metadata.create_all(connection, checkfirst=False)


def _predictions(connection: Connection) -> None:
    metadata = MetaData()
    runs = Table("runs", metadata, Column("run_id", StoredText, primary_key=True), Column("stamp", StoredText))
    table = Table(
        "tunix_run_predictions",
        metadata,
        Column("run_id", StoredText, ForeignKey("runs.run_id", ondelete="CASCADE"), primary_key=True),
        Column("position", BigInteger, primary_key=True, autoincrement=False),
        Column("item_id", StoredText, nullable=False),
        Column("expected", StoredText, nullable=False),
        Column("predicted", StoredText),
        Column("correctness", Double, nullable=False),
        Column("eval_time_ms", BigInteger),
        Column("own", StoredText),
        Index("predictions_by_correctness", "run_id", "correctness", "position"),
    )
    table.create(connection, checkfirst=False)
    _add_column(connection, runs, Column("predictions_unavailable", StoredText))
    connection.execute(update(runs).values(stamp=""))


def _add_column(connection: Connection, table: Table, column: Column[Any]) -> None:
    """SQLAlchemy writes no ALTER TABLE of its own; it does write a column, in the words of each database."""
    table.append_column(column)
    connection.execute(text(f"ALTER TABLE {table.name} ADD COLUMN {CreateColumn(column).compile(connection)}"))


STEPS: tuple[Callable[[Connection], None], ...] = (_runs_and_aggregates, _predictions)
NEWEST = len(STEPS)


def version_of(connection: Connection) -> int:
    """The number of the last step that was made; 0 for an empty database."""
    if not inspect(connection).has_table(_versions.name):
        return 0
    return connection.scalar(select(func.max(_versions.c.version))) or 0


def apply_next(connection: Connection) -> int:
    """Make the next step, if there is one, in the transaction of `connection`; returns the version that is left.

    Raises: UsageError for a catalog that a newer Benchbook made.
    """
    version = version_of(connection)
    if version > NEWEST:
        raise UsageError(
            f"the catalog is of version {version}, and this Benchbook knows {NEWEST}: update Benchbook, or rebuild "
            "into another database"
        )
    if version == NEWEST:
        return version
    if version == 0:
        _versions.create(connection, checkfirst=False)
    STEPS[version](connection)
    connection.execute(insert(_versions).values(version=version + 1))
    return version + 1
