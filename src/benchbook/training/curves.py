"""Training logs as facts: one number of one metric at one step; a record's table of them; and curves by name.

A curve has each step once, and apart from that what was trained again later.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import jiter
import msgspec

from benchbook.errors import InputError
from benchbook.evalsets.lines import utf8_fault

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


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


Place = tuple[float, float | None]  # where on an axis, and the value there: None where it was not finite


@dataclass(frozen=True, slots=True)
class Curve:
    """`points`: steps rise, and nothing in it was replaced. `replaced`: older segments' points that were, by segment.

    The points of a segment from the first step of any later segment on were trained again, and do not count.
    """

    name: str
    points: tuple[MetricPoint, ...]
    replaced: tuple[tuple[MetricPoint, ...], ...] = ()

    @property
    def n_not_finite(self) -> int:
        """Points that were logged as NaN or an infinity."""
        return sum(point.value is None for point in self.points)


def curves(points: Iterable[MetricPoint]) -> dict[str, Curve]:
    """The curve of each metric of one log, in the order in which they first occur."""
    by_name: dict[str, list[MetricPoint]] = {}
    for point in points:
        by_name.setdefault(point.name, []).append(point)
    return {name: _curve(name, found) for name, found in by_name.items()}


def _curve(name: str, points: list[MetricPoint]) -> Curve:
    """The curve of one metric: of each segment, the points before the first step of any later one."""
    by_segment = sorted(points, key=lambda point: (point.segment, point.step))
    segments = [list(found) for _, found in groupby(by_segment, key=lambda point: point.segment)]
    kept: list[list[MetricPoint]] = []
    replaced: list[tuple[MetricPoint, ...]] = []
    limit: int | None = None
    for segment in reversed(segments):
        counts = [point for point in segment if limit is None or point.step < limit]
        if len(counts) < len(segment):
            replaced.append(tuple(segment[len(counts) :]))
        kept.append(counts)
        limit = segment[0].step if limit is None else min(limit, segment[0].step)
    main = tuple(point for segment in reversed(kept) for point in segment)
    return Curve(name, main, tuple(reversed(replaced)))


_LEAST = 5


def thin(places: Sequence[Place], most: int) -> list[Place]:
    """At most `most` of the places (below 5 it counts as 5), in their order; all of them where they are no more.

    Of each stretch its lowest, its highest and one value that was not finite stay, so a single spike is still there.
    """
    if len(places) <= max(most, _LEAST):
        return list(places)
    import numpy as np

    values = np.array([value for _, value in places], dtype=np.float64)  # a None becomes NaN
    return [places[index] for index in telling_places(values, most)]


def telling_places(values: NDArray[np.float64], most: int) -> list[int]:
    """Which of a curve's values `thin` keeps, by their index; NaN is a value that was not finite."""
    import numpy as np

    n, most = len(values), max(most, _LEAST)
    if n <= most:
        return list(range(n))
    gaps = np.isnan(values)
    low, high = np.where(gaps, np.inf, values), np.where(gaps, -np.inf, values)
    n_stretches = (most - 2) // 3
    edges = 1 + np.arange(n_stretches + 1) * (n - 2) // n_stretches
    kept = {0, n - 1}
    for start, end in zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True):
        gap = int(gaps[start:end].argmax())
        if gaps[start + gap]:
            kept.add(start + gap)
        if not gaps[start:end].all():
            kept.add(start + int(low[start:end].argmin()))
            kept.add(end - 1 - int(high[start:end][::-1].argmax()))  # the last of equal ones
    return sorted(kept)
