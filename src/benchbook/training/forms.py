"""The forms of training logs: what a file is by its name, and its rows.

TensorBoard's event files are read by the `tensorboard` package (an extra: `pip install 'benchbook[tensorboard]'`).
"""

from __future__ import annotations

import codecs
import os
import re
from collections.abc import Callable, Iterator, Mapping
from itertools import groupby
from pathlib import Path
from typing import Any, Literal, NamedTuple

import jiter

from benchbook.errors import InputError, UsageError
from benchbook.evalsets.lines import (
    JSON_WHITE_SPACE,
    MAX_LINE_BYTES,
    encoding_fault,
    ends_a_line,
    read_lines,
    type_name,
)
from benchbook.evalsets.tables import csv_rows
from benchbook.training.curves import LogRow, decode_log_json

# What an event says of itself, beside its tags.
EVENT_STEP, EVENT_TIME = "event.step", "event.wall_time"

MLFLOW_VALUE = "value"  # of the metric that a file is named after
_MLFLOW_LINE = re.compile(rb"\d{10,16} \S+ -?\d+\s")

_STAMP = re.compile(r"tfevents\.(\d+)")
_SCALARS = "scalars"  # the name of the plugin whose tensors are scalars


class _Scalar(NamedTuple):
    tag: str
    step: int
    wall_time: float
    value: float


def event_files(path: Path) -> list[Path]:
    """The event files of a folder in the order in which they were begun, or the one that `path` is.

    Raises: UsageError where there are none.
    """
    if not path.is_dir():
        return [path]
    found = [file for file in path.iterdir() if "tfevents" in file.name and file.is_file()]
    if not found:
        below = sorted({str(file.parent.relative_to(path)) for file in path.glob("*/*tfevents*")})
        hint = f"; there are some in {', '.join(below[:5])}: give one of these folders" if below else ""
        raise UsageError(f"{path}: no TensorBoard event files in this folder{hint}")
    return sorted(found, key=lambda file: (_began(file), file.name))


def _event_rows(path: Path) -> Iterator[LogRow]:
    """A row for all that was logged at one step without a break: tags, and EVENT_STEP and EVENT_TIME (of the first).

    A file that ends within a record is read up to there: its writer may be at work, or was killed.

    Raises: InputError for a damaged file; UsageError where one can't be read, or `tensorboard` is not installed.
    """
    for file in event_files(path):
        for step, scalars in groupby(_scalars(file), key=lambda one: one.step):
            row: dict[str, Any] = {}
            for one in scalars:
                if one.tag in row:  # the same step once more: a restart
                    yield LogRow(None, row)
                    row = {}
                row.setdefault(EVENT_TIME, one.wall_time)
                row[EVENT_STEP] = step
                row[one.tag] = one.value
            yield LogRow(None, row)


def _began(file: Path) -> int:
    stamp = _STAMP.search(file.name)
    return int(stamp[1]) if stamp and len(stamp[1]) < 20 else 0


def _scalars(file: Path) -> Iterator[_Scalar]:
    tags_of_scalars: set[str] = set()  # a writer says what a tag is with its first value alone
    for event in _events(file):
        for value in event.summary.value:
            number = _number(value, tags_of_scalars)
            if number is not None:
                yield _Scalar(value.tag, event.step, event.wall_time, number)


def _number(value: Any, tags_of_scalars: set[str]) -> float | None:
    if value.WhichOneof("value") == "simple_value":
        return float(value.simple_value)
    if value.metadata.plugin_data.plugin_name == _SCALARS:
        tags_of_scalars.add(value.tag)
    if value.tag not in tags_of_scalars or value.WhichOneof("value") != "tensor":
        return None
    from tensorboard.util.tensor_util import make_ndarray

    tensor = make_ndarray(value.tensor)
    return float(tensor.item()) if tensor.size == 1 and tensor.dtype.kind in "fiu" else None


def _events(file: Path) -> Iterator[Any]:
    """The events of one file, all of them or an error: the loader itself stops at damage without a word."""
    loader, decode_error = _loader(file)
    n_records = 0
    try:
        for event in loader.Load():
            n_records += 1
            yield event
    except decode_error as error:
        found = f"record {n_records + 1} is no event ({error})"
        raise InputError(file, found=found, expected="a TensorBoard event file") from None
    if _is_damaged(file, n_records):
        found = f"record {n_records + 1} is damaged: its checksum does not fit"
        raise InputError(file, found=found, expected="a TensorBoard event file")


def _loader(file: Path) -> tuple[Any, type[Exception]]:
    try:
        from google.protobuf.message import DecodeError  # type: ignore[import-untyped]
        from tensorboard.backend.event_processing.event_file_loader import LegacyEventFileLoader
    except ImportError:
        raise UsageError(f"{file}: event files need an extra: pip install 'benchbook[tensorboard]'") from None
    try:
        with file.open("rb"):  # in words of ours where it can't be
            return LegacyEventFileLoader(str(file)), DecodeError
    except OSError as error:
        raise UsageError(f"{file}: can't be read ({error.strerror or error})") from None


def _is_damaged(file: Path, n_records: int) -> bool:
    """True if a whole record follows the `n_records` that were read; a part of one is no damage.

    A record is its length (8 bytes), a checksum of that (4), its data, and a checksum of them (4).
    """
    from tensorboard.compat.tensorflow_stub.pywrap_tensorflow import masked_crc32c

    with file.open("rb") as stream:
        size = stream.seek(0, 2)
        stream.seek(0)
        for _ in range(n_records):
            stream.seek(int.from_bytes(stream.read(12)[:8], "little") + 4, 1)
        head = stream.read(12)
        if len(head) < 12:
            return False
        if masked_crc32c(head[:8]) != int.from_bytes(head[8:], "little"):
            return True
        return stream.tell() + int.from_bytes(head[:8], "little") + 4 <= size


def jsonl_rows(path: Path, on_half: Callable[[int], None]) -> Iterator[LogRow]:
    """The objects in their order; blank lines are passed over.

    A last line that is the beginning of an object, and has no end, is not read: its writer may be at work, or was
    killed. `on_half` gets its number.

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
    """True if a line is the first part of an object, and nothing else is wrong with it."""
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


LogForm = Literal["trainer_state", "jsonl", "csv", "tensorboard", "mlflow", "mlflow_csv"]


def _is_csv_of_mlflow(path: Path) -> bool:
    """True if a table has a metric's name, value and step in each row."""
    try:
        first = next((row for _, row in csv_rows(path)), {})
    except (InputError, OSError):  # said where it is read
        return False
    return {"key", "value", "step"} <= first.keys()


def _mlflow_csv_rows(path: Path, on_half: Callable[[int], None]) -> Iterator[LogRow]:
    """A row with the metric under its own name. Raises: InputError for the rows of more than one run."""
    run = None
    for line, row in _csv_rows(path, on_half):
        if run not in (None, found := row.get("run_id")):
            expected = "the metrics of one run"
            raise InputError(path, line=line, field="run_id", found="another run than before", expected=expected)
        run = found
        if (key := row["key"]) is None:
            raise InputError(path, line=line, field="key", found="nothing", expected="a metric's name")
        yield LogRow(line, {key: row["value"], "step": row["step"], "timestamp": _in_seconds(row.get("timestamp"))})


def _mlflow_rows(path: Path, on_half: Callable[[int], None]) -> Iterator[LogRow]:
    """The lines of a metric's file below `mlruns`: `timestamp value step`, which the file is named after."""
    if (fault := encoding_fault(path)) is not None:
        raise InputError(path, found=fault)
    lines = read_lines(path)
    for line in lines:
        parts = (line.data or b"").decode("utf-8", "replace").split()
        if not parts and line.data is not None:
            continue
        if len(parts) != 3:
            if len(parts) < 3 and next(lines, None) is None and not ends_a_line(path):
                on_half(line.number)
                return
            raise InputError(path, line=line.number, found=f"{len(parts)} words", expected="timestamp value step")
        yield LogRow(line.number, {MLFLOW_VALUE: parts[1], "step": parts[2], "timestamp": _in_seconds(parts[0])})


def _in_seconds(ms: str | None) -> float | str | None:
    """MLflow's milliseconds since 1970 as seconds; what is no such number as it is."""
    return int(ms) / 1000 if ms is not None and ms.isascii() and ms.isdigit() and len(ms) < 20 else ms


def is_of_mlflow(path: Path) -> bool:
    """True for a metric's file below `mlruns`: it lies in a folder `metrics`, and begins as one."""
    if "metrics" not in path.parts[:-1] or not path.is_file():
        return False
    try:
        with path.open("rb") as file:
            return _MLFLOW_LINE.match(file.read(200)) is not None
    except OSError:
        return False


def mlflow_files(folder: Path) -> list[Path]:
    """The files of a run's metrics below a folder. Raises: UsageError where they are of several runs."""
    found = sorted(file for file in folder.rglob("*") if is_of_mlflow(file))
    runs = sorted({str(file)[: str(file).rindex(f"{os.sep}metrics{os.sep}")] for file in found})
    if len(runs) > 1:
        raise UsageError(f"{folder}: has the metrics of several runs; give the folder of one, such as {runs[0]}")
    return found


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
    "mlflow": _mlflow_rows,
    "mlflow_csv": _mlflow_csv_rows,
    "tensorboard": lambda path, _: _event_rows(path),
}
_ENDINGS: Mapping[str, LogForm] = {
    ".json": "trainer_state",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".csv": "csv",
    ".tsv": "csv",
}


def recognise(path: str | Path) -> LogForm:
    """The form of a log, by its name, and by how it begins where MLflow wrote it; a folder is one of event files.

    Raises: UsageError where the name says nothing, or nothing is there.
    """
    path = Path(path)
    if not path.exists():
        raise UsageError(f"{path}: there is no such file")
    if path.is_dir() or "tfevents" in path.name:
        return "tensorboard"
    form = _ENDINGS.get(path.suffix.lower())
    if form == "csv" and _is_csv_of_mlflow(path):
        return "mlflow_csv"
    if is_of_mlflow(path):
        return "mlflow"
    if form is None:
        expected = f"a name that ends in {', '.join(_ENDINGS)}, or has tfevents in it"
        raise UsageError(
            f"{path}: can't tell its form; expected {expected}, or that you say which: {', '.join(_READERS)}"
        )
    return form


def log_rows(path: str | Path, form: LogForm, on_half: Callable[[int], None] = lambda _: None) -> Iterator[LogRow]:
    """The rows of a log in their order, held one at a time (of trainer_state, the whole file).

    A log of lines may still be growing: half of a last line is not read, and `on_half` gets that line's number.

    Raises: InputError naming the line; UsageError.
    """
    return _READERS[form](Path(path), on_half)
