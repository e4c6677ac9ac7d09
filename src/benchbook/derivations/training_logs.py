"""Training logs among a record's inputs: which they are, and the table that follows from them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from benchbook.errors import UsageError
from benchbook.records.facts import RunStarted
from benchbook.records.folder import Record
from benchbook.training.columns import resolve_columns
from benchbook.training.forms import LogForm, recognise
from benchbook.training.reading import read_training_metrics
from benchbook.training.table import TRAINING_TABLE, TrainingMetricRow, training_rows, write_training_table

__all__ = ["TrainingLog", "find_training_logs", "training_files", "write_training"]


class TrainingLog(msgspec.Struct, frozen=True, kw_only=True):
    """One log, as the first fact names it. `source` is its name among the inputs; `columns`: ours -> the file's."""

    source: str
    name: str
    form: LogForm
    columns: dict[str, str]


def find_training_logs(paths: Sequence[str]) -> list[tuple[TrainingLog, Path]]:
    """The logs with their files, each read once so that faults are told now. A folder has TensorBoard's event files.

    Raises: InputError naming the line; ConfigError; UsageError.
    """
    files = [file for path in paths for file in _files(Path(path))]
    return [(_log(f"training_metrics_{number}", file), file) for number, file in enumerate(files, start=1)]


def _files(path: Path) -> list[Path]:
    if not path.is_dir():
        return [path]
    found = sorted(file for file in path.rglob("*tfevents*") if file.is_file())
    if not found:
        raise UsageError(f"{path}: there is no TensorBoard event file in this folder")
    return found


def _log(source: str, path: Path) -> TrainingLog:
    form = recognise(path)
    columns = resolve_columns(path, form)
    for _ in read_training_metrics(path, form, columns):
        pass
    return TrainingLog(source=source, name=path.name, form=form, columns=columns)


def training_files(started: RunStarted) -> tuple[str, ...]:
    """The derived table, where logs were imported."""
    return (TRAINING_TABLE,) if started.identity.get("training_metrics") else ()


def write_training(record: Record, started: RunStarted, target: Path) -> None:
    """Write training_metrics.parquet into the folder `target`, where logs were imported.

    Raises: InputError, RecordError.
    """
    logs = msgspec.convert(started.identity.get("training_metrics", []), list[TrainingLog])
    if logs:
        write_training_table(target / TRAINING_TABLE, _rows(record, started, logs))


def _rows(record: Record, started: RunStarted, logs: Sequence[TrainingLog]) -> Iterator[TrainingMetricRow]:
    for log in logs:
        points = read_training_metrics(record.input(started.inputs[log.source]), log.form, log.columns)
        yield from training_rows(log.source, points)
