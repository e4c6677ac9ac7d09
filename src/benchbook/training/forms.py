"""The forms of training logs: what a file is by its name, and its rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Literal

from benchbook.errors import InputError, UsageError
from benchbook.evalsets.csv_rows import csv_rows
from benchbook.evalsets.lines import MAX_LINE_BYTES, encoding_fault
from benchbook.training.event_files import event_rows
from benchbook.training.jsonl_log import jsonl_rows
from benchbook.training.log_rows import LogRow
from benchbook.training.trainer_state import trainer_state_rows

__all__ = ["LogForm", "log_rows", "recognise"]

LogForm = Literal["trainer_state", "jsonl", "csv", "tensorboard"]


def _csv_rows(path: Path, on_half: Callable[[int], None]) -> Iterator[LogRow]:
    if (fault := encoding_fault(path)) is not None:
        raise InputError(path, found=fault)
    try:
        yield from (LogRow(line, row) for line, row in csv_rows(path, max_cell=MAX_LINE_BYTES, on_half=on_half))
    except OSError as error:
        raise UsageError(f"{path}: can't be read ({error.strerror or error})") from None


_READERS: Mapping[LogForm, Callable[[Path, Callable[[int], None]], Iterator[LogRow]]] = {
    "trainer_state": lambda path, _: trainer_state_rows(path),
    "jsonl": jsonl_rows,
    "csv": _csv_rows,
    "tensorboard": lambda path, _: event_rows(path),
}
_ENDINGS: Mapping[str, LogForm] = {
    ".json": "trainer_state",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".csv": "csv",
    ".tsv": "csv",
}


def recognise(path: str | Path) -> LogForm:
    """What a log is by its name; a folder is taken to hold event files.

    Raises: UsageError where the name says nothing, or nothing is there.
    """
    path = Path(path)
    if not path.exists():
        raise UsageError(f"{path}: there is no such file")
    if path.is_dir() or "tfevents" in path.name:
        return "tensorboard"
    form = _ENDINGS.get(path.suffix.lower())
    if form is None:
        expected = f"a name that ends in {', '.join(_ENDINGS)}, or has tfevents in it"
        raise UsageError(
            f"{path}: can't tell its form; expected {expected}, or that you say which: {', '.join(_READERS)}"
        )
    return form


def log_rows(path: str | Path, form: LogForm, on_half: Callable[[int], None] = lambda _: None) -> Iterator[LogRow]:
    """The rows of a log in their order, held one at a time (of trainer_state, the whole file).

    A log of lines may still be written: a last one of which half is there is not read, and `on_half` told its number.

    Raises: InputError naming the line; UsageError.
    """
    return _READERS[form](Path(path), on_half)
