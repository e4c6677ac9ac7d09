"""Many predictions at once, in bounded memory: from a record's table into the database."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, insert
from sqlalchemy.exc import DBAPIError

from benchbook.catalog.schema import predictions
from benchbook.catalog.stored_text import to_stored
from benchbook.errors import RecordError

__all__ = ["PredictionRow", "insert_predictions", "read_predictions"]

BATCH = 1_024
# position, item_id, expected, predicted, correctness, eval_time_ms, own
PredictionRow = tuple[int, str, str, str | None, float, int | None, str | None]
_SAMPLE_COLUMNS = ("sample", "item_id", "expected", "predicted", "correctness", "eval_time_ms", "own")
_CORRECTNESS = _SAMPLE_COLUMNS.index("correctness")
_COLUMNS = ("position", *_SAMPLE_COLUMNS[1:])


def read_predictions(samples: Path) -> Iterator[PredictionRow]:
    """The rows of a samples.parquet of answer_correctness@v1; an item that is not answered yet has no row yet (A5).

    Raises: RecordError for a file that is no such table.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(samples) as file:
            missing = [name for name in _SAMPLE_COLUMNS if name not in file.schema_arrow.names]
            if missing:
                raise RecordError(f"{samples}: lacks the columns {', '.join(missing)}")
            for batch in file.iter_batches(batch_size=BATCH, columns=list(_SAMPLE_COLUMNS)):
                rows = zip(*(batch.column(name).to_pylist() for name in _SAMPLE_COLUMNS), strict=True)
                yield from (row for row in rows if row[_CORRECTNESS] is not None)
    except (OSError, ValueError, pa.ArrowException) as error:
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
