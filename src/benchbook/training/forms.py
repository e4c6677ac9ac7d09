"""The forms of training logs: what a file is by its name, and its rows."""

from __future__ import annotations

import codecs
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Literal

import jiter

from benchbook.errors import InputError, UsageError
from benchbook.evalsets.line_json import JSON_WHITE_SPACE, type_name
from benchbook.evalsets.lines import MAX_LINE_BYTES, encoding_fault, ends_a_line, read_lines
from benchbook.evalsets.tables import csv_rows
from benchbook.training.event_files import event_rows
from benchbook.training.points import LogRow, decode_log_json

__all__ = ["MAX_STATE_BYTES", "LogForm", "jsonl_rows", "log_rows", "recognise", "trainer_state_rows"]


def jsonl_rows(path: Path, on_half: Callable[[int], None]) -> Iterator[LogRow]:
    """The objects in their order; blank lines are passed over.

    A last line that is the beginning of an object, and has no end, is not read: its writer may be at work, or was
    killed. `on_half` is told its number.

    Raises: InputError naming the line; UsageError where the file can't be read.
    """
    if (fault := encoding_fault(path)) is not None:
        raise InputError(path, found=fault)
    lines = read_lines(path)
    for line in lines:
        if line.data is None:
            limit = f"at most {MAX_LINE_BYTES // 1024**2} MiB"
            raise InputError(path, line=line.number, found="a longer line", expected=limit)
        if not line.data.strip(JSON_WHITE_SPACE):
            continue
        try:
            value = decode_log_json(line.data, path, line.number)
        except InputError:
            if _is_begun(line.data) and next(lines, None) is None and not ends_a_line(path):
                on_half(line.number)
                return
            raise
        if not isinstance(value, dict):
            raise InputError(path, line=line.number, found=type_name(value), expected="an object")
        yield LogRow(line.number, value)


def _is_begun(data: bytes) -> bool:
    """Whether a line is the first part of an object, and nothing else is wrong with it."""
    if not data.lstrip(JSON_WHITE_SPACE).startswith(b"{"):
        return False
    try:
        whole = codecs.getincrementaldecoder("utf-8")().decode(data)  # without a character of which half is there
        jiter.from_json(whole.encode(), catch_duplicate_keys=True)
    except ValueError as error:
        return str(error).startswith("EOF while parsing")
    return False


# One JSON value is read whole. Room for some 400,000 entries; they take about five times as much as Python objects.
MAX_STATE_BYTES = 64 * 1024**2
_BOM = b"\xef\xbb\xbf"


def trainer_state_rows(path: Path) -> Iterator[LogRow]:
    """The entries in their order; `line` is the entry's number from 1.

    Raises: InputError for what is no such file, or a larger one; UsageError where it can't be read.
    """
    state = decode_log_json(_bytes(path), path)
    history = state.get("log_history") if isinstance(state, dict) else None
    if not isinstance(history, list):
        found = type_name(history) if isinstance(state, dict) and "log_history" in state else "nothing"
        raise InputError(path, field="log_history", found=found, expected="an array, as in trainer_state.json")
    for number, entry in enumerate(history, start=1):
        if not isinstance(entry, dict):
            raise InputError(path, field=f"log_history[{number}]", found=type_name(entry), expected="an object")
        yield LogRow(number, entry)


def _bytes(path: Path) -> bytes:
    if (fault := encoding_fault(path)) is not None:
        raise InputError(path, found=fault)
    try:
        with path.open("rb") as file:
            data = file.read(MAX_STATE_BYTES + 1)
    except OSError as error:
        raise UsageError(f"{path}: can't be read ({error.strerror or error})") from None
    if len(data) > MAX_STATE_BYTES:
        raise InputError(
            path,
            found="a larger file",
            expected=f"at most {MAX_STATE_BYTES // 1024**2} MiB; log_history as JSONL has no limit",
        )
    return data.removeprefix(_BOM)


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
