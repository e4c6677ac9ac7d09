"""A record's `training_metrics.parquet`: every point that was imported, and out of which input."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec

from benchbook.training.points import MetricPoint

__all__ = ["TRAINING_TABLE", "TrainingMetricRow", "read_training_table", "training_rows", "write_training_table"]


TRAINING_TABLE = "training_metrics.parquet"


class TrainingMetricRow(msgspec.Struct, frozen=True, kw_only=True):
    """A row: a point (see `MetricPoint`) and `source`, the input's name in the record."""

    source: str
    name: str
    step: int
    tokens: int | None
    time_s: float | None
    value: float | None
    segment: int
    line: int | None

    def point(self) -> MetricPoint:
        """The point without its source."""
        fields = {name: getattr(self, name) for name in MetricPoint.__struct_fields__}
        return MetricPoint(**fields)


def training_rows(source: str, points: Iterable[MetricPoint]) -> Iterator[TrainingMetricRow]:
    """The rows of one input's points, in their order."""
    for point in points:
        fields = {name: getattr(point, name) for name in MetricPoint.__struct_fields__}
        yield TrainingMetricRow(source=source, **fields)


def write_training_table(path: Path, rows: Iterable[TrainingMetricRow]) -> None:
    """Write the table, whole or not at all, in bounded memory: a fault in a log that is being read leaves no table.

    Raises: RecordError where it can't be written, and what reading the rows raises.
    """
    from benchbook.record.tables import write_table

    write_table(path, TrainingMetricRow, rows)


def read_training_table(path: Path) -> Iterator[TrainingMetricRow]:
    """The rows of the table.

    Raises: RecordError.
    """
    from benchbook.record.tables import read_rows

    yield from read_rows(path, TrainingMetricRow)
