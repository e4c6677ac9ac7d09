"""Training metrics out of other people's logs, one value at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeVar

from benchbook.errors import InputError
from benchbook.evalsets.table_columns import value_at
from benchbook.text import shorten
from benchbook.training.columns import AXES, Unfit, seconds, value, whole
from benchbook.training.forms import LogForm, log_rows
from benchbook.training.points import LogRow, MetricPoint, Segments

__all__ = ["read_training_metrics"]


_Number = TypeVar("_Number")


def read_training_metrics(
    path: str | Path,
    form: LogForm,
    columns: Mapping[str, str],
    *,
    segments: Segments | None = None,
    on_half: Callable[[int], None] = lambda _: None,
) -> Iterator[MetricPoint]:
    """Each value that was logged, in the order of the file, held a row at a time (but see `trainer_state_rows`).

    `columns` is what `resolve_columns` gave. A null is a value that was not logged, and no point. NaN and the
    infinities are points whose value is None: that a loss diverged is a fact, but no number to draw or to compute with.

    `segments` are those of the files before, where a log has several. `on_half` is told the number of a last line of
    which half is there; the log is read up to it.

    Raises: InputError naming line and field; UsageError.
    """
    path = Path(path)
    metrics = {ours: theirs for ours, theirs in columns.items() if ours not in AXES}
    segments = segments or Segments()
    n_points = 0
    for row in log_rows(path, form, on_half):
        for point in _points(path, row, columns, metrics, segments):
            n_points += 1
            yield point
    if not n_points:
        raise InputError(path, found="no metrics", expected="a number beside a step")


def _points(
    path: Path, row: LogRow, columns: Mapping[str, str], metrics: Mapping[str, str], segments: Segments
) -> Iterator[MetricPoint]:
    found = {ours: value_at(row.values, theirs) for ours, theirs in metrics.items()}
    found = {ours: number for ours, number in found.items() if number is not None}
    if not found:
        return
    step = _read(path, row, columns["step"], whole)
    if step is None:
        raise InputError(
            path, line=row.line, field=columns["step"], found="nothing", expected="the step of these metrics"
        )
    tokens = _read(path, row, columns["tokens"], _tokens) if "tokens" in columns else None
    time_s = _read(path, row, columns["time"], seconds) if "time" in columns else None
    for ours in found:
        number = _read(path, row, metrics[ours], value)
        segment = segments.of(ours, step)
        yield MetricPoint(
            name=ours, step=step, value=number, tokens=tokens, time_s=time_s, segment=segment, line=row.line
        )


def _tokens(found: Any) -> int:
    return whole(found, least=0)


def _read(path: Path, row: LogRow, name: str, read: Callable[[Any], _Number]) -> _Number | None:
    found = value_at(row.values, name)
    if found is None:
        return None
    try:
        return read(found)
    except Unfit as error:
        raise InputError(
            path, line=row.line, field=shorten(name, 60), found=shorten(repr(found), 60), expected=str(error)
        ) from None
