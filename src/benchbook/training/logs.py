"""Training metrics out of other people's logs, one value at a time, and the logs among a record's inputs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from benchbook.canonical import ready
from benchbook.errors import InputError, UsageError
from benchbook.evalsets.table_columns import value_at
from benchbook.record.facts import RunStarted
from benchbook.record.folder import Record
from benchbook.text import shorten
from benchbook.training.columns import Unfit, resolve_columns, seconds, step, value, whole
from benchbook.training.curves import (
    TRAINING_TABLE,
    LogRow,
    MetricPoint,
    Segments,
    TrainingMetricRow,
    training_rows,
    write_training_table,
)
from benchbook.training.forms import LogForm, event_files, log_rows, mlflow_files, recognise
from benchbook.training.known_names import AXES

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

    `segments` are those of the files before, where a log has several. `on_half` gets the number of a last line of
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
    at = _read(path, row, columns["step"], step)
    if at is None:
        raise InputError(
            path, line=row.line, field=columns["step"], found="nothing", expected="the step of these metrics"
        )
    tokens = _read(path, row, columns["tokens"], _tokens) if "tokens" in columns else None
    time_s = _read(path, row, columns["time"], seconds) if "time" in columns else None
    for ours in found:
        number = _read(path, row, metrics[ours], value)
        segment = segments.of(ours, at)
        yield MetricPoint(
            name=ours, step=at, value=number, tokens=tokens, time_s=time_s, segment=segment, line=row.line
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


class TrainingLog(msgspec.Struct, frozen=True, kw_only=True):
    """One file, as the first fact names it. `source` is its name among the inputs; `columns`: ours -> the file's.

    `continues` is the source whose log goes on here: TensorBoard begins a new file where training begins again.
    `half_line` is a last line of which half was there: it is not read.
    """

    source: str
    name: str
    form: LogForm
    columns: dict[str, str]
    continues: str | None = None
    half_line: int | msgspec.UnsetType = msgspec.UNSET


def find_training_logs(
    paths: Sequence[str], columns: Mapping[str, str] | None = None
) -> list[tuple[TrainingLog, Path]]:
    """The logs with their files, each read once so that faults are found now. A folder has TensorBoard's event files,
    or the metrics of a run of MLflow's.

    `columns` maps our names to the logs' own where they are not known ones.

    Raises: InputError naming the line; ConfigError; UsageError.
    """
    found: list[tuple[TrainingLog, Path]] = []
    for files in (files for path in paths for files in _logs_of(Path(path))):
        first = None
        for file in files:
            log = _log(f"training_metrics_{len(found) + 1}", file, columns, first)
            first = first or log.source
            found.append((log, file))
    return found


def _logs_of(path: Path) -> list[list[Path]]:
    """Each log's files. The event files of one folder are one log, but for those in which nothing was logged."""
    if not path.is_dir():
        return [[path]]
    folders = sorted({file.parent for file in path.rglob("*tfevents*") if file.is_file()})
    logs = [[file for file in event_files(folder) if any(log_rows(file, "tensorboard"))] for folder in folders]
    if not any(logs):
        if of_mlflow := mlflow_files(path):
            return [[file] for file in of_mlflow]
        raise UsageError(f"{path}: there is no TensorBoard event file with values in this folder, and no MLflow metric")
    return [files for files in logs if files]


def _log(source: str, path: Path, given: Mapping[str, str] | None, continues: str | None) -> TrainingLog:
    form = recognise(path)
    columns = resolve_columns(path, form, given)
    half: list[int] = []
    for _ in read_training_metrics(path, form, columns, on_half=half.append):
        pass
    return TrainingLog(
        source=source,
        name=path.name,
        form=form,
        columns=columns,
        continues=continues,
        half_line=half[0] if half else msgspec.UNSET,
    )


def training_files(started: RunStarted) -> tuple[str, ...]:
    """The derived table, where logs were imported."""
    return (TRAINING_TABLE,) if started.identity.get("training_metrics") else ()


def write_training(record: Record, started: RunStarted, target: Path) -> None:
    """Write training_metrics.parquet into the folder `target`, where logs were imported.

    Raises: InputError, RecordError.
    """
    if logs := _logs_in(started):
        write_training_table(target / TRAINING_TABLE, _rows(record, started, logs))


def training_warnings(started: RunStarted) -> list[str]:
    """Warnings about logs that end in half a line."""
    return [
        f"Half of line {log.half_line:,} of {log.name} was there: the log was read up to it."
        for log in _logs_in(started)
        if log.half_line is not msgspec.UNSET
    ]


def _logs_in(started: RunStarted) -> list[TrainingLog]:
    return msgspec.convert(started.identity.get("training_metrics", []), ready(list[TrainingLog]))


def _rows(record: Record, started: RunStarted, logs: Sequence[TrainingLog]) -> Iterator[TrainingMetricRow]:
    segments = Segments()
    for log in logs:
        if log.continues is None:
            segments = Segments()
        path = record.input(started.inputs[log.source])
        points = read_training_metrics(path, log.form, log.columns, segments=segments)
        yield from training_rows(log.continues or log.source, points)
