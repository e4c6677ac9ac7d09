"""What a trainer logged, as facts: one number of one metric at one step, and a record's table of them."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import jiter
import msgspec

from benchbook.errors import InputError
from benchbook.evalsets.lines import utf8_fault

__all__ = [
    "TRAINING_TABLE",
    "LogRow",
    "MetricPoint",
    "Segments",
    "TrainingMetricRow",
    "decode_log_json",
    "read_training_table",
    "training_rows",
    "write_training_table",
]


class MetricPoint(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One value of one metric.

    `tokens`: trained on so far. `time_s`: seconds, since 1970 (UTC) or since the log's own start, as the log has it.
    `value`: None where the trainer logged NaN or an infinity. `segment`: from 0, see `Segments`; within one, a metric's
    steps rise. `line`: in the file, from 1 (of trainer_state.json, the entry of its log); None for event files.
    """

    name: str
    step: int
    value: float | None
    tokens: int | None = None
    time_s: float | None = None
    segment: int = 0
    line: int | None = None


class Segments:
    """Numbers the parts of a metric's log: where its step does not go forward, training was started again."""

    def __init__(self) -> None:
        self._last: dict[Hashable, tuple[int, int]] = {}

    def of(self, metric: Hashable, step: int) -> int:
        """The segment of the metric's next value."""
        segment, last_step = self._last.get(metric, (0, step - 1))
        if step <= last_step:
            segment += 1
        self._last[metric] = (segment, step)
        return segment


_AT = re.compile(r" at line (\d+) column (\d+)$")


class LogRow(NamedTuple):
    """`line` counts from 1; None where the form has no lines."""

    line: int | None
    values: Mapping[str, Any]


def decode_log_json(data: bytes, path: Path, line: int | None = None) -> Any:
    """A JSON value, in which NaN, Infinity and -Infinity may stand: Python's trainers write them for a diverged loss.

    `line` is where `data` stands; None where it is the whole file. Raises: InputError naming the line.
    """
    try:
        return jiter.from_json(data, allow_inf_nan=True, catch_duplicate_keys=True, cache_mode="keys")
    except ValueError as error:
        message = str(error)
    at = _AT.search(message)
    where = line if line is not None else int(at[1]) if at else None
    if (fault := _not_utf8(data, line)) is not None:
        raise InputError(path, line=fault[0], found=fault[1])
    found = _AT.sub(rf" at byte {at[2]}", message) if at else message
    raise InputError(path, line=where, found=f"no JSON ({found})", expected="a JSON value, each key once")


def _not_utf8(data: bytes, line: int | None) -> tuple[int, str] | None:
    for number, part in enumerate([data] if line is not None else data.split(b"\n"), start=line or 1):
        if (fault := utf8_fault(part)) is not None:
            return number, fault
    return None


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
