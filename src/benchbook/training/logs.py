"""Training logs among a record's inputs: which they are, and the table that follows from them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import msgspec

from benchbook.canonical import ready
from benchbook.errors import UsageError
from benchbook.record.facts import RunStarted
from benchbook.record.folder import Record
from benchbook.training.columns import resolve_columns
from benchbook.training.event_files import event_files
from benchbook.training.forms import LogForm, log_rows, recognise
from benchbook.training.points import Segments
from benchbook.training.reading import read_training_metrics
from benchbook.training.table import TRAINING_TABLE, TrainingMetricRow, training_rows, write_training_table

__all__ = ["TrainingLog", "find_training_logs", "training_files", "training_warnings", "write_training"]


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
    """The logs with their files, each read once so that faults are told now. A folder has TensorBoard's event files.

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
        raise UsageError(f"{path}: there is no TensorBoard event file with values in this folder")
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
    """Of logs that end in half a line."""
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
