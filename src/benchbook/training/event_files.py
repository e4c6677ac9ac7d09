"""TensorBoard's event files, through the `tensorboard` package (an extra: `pip install 'benchbook[tensorboard]'`)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

from benchbook.errors import InputError, UsageError
from benchbook.training.points import LogRow

__all__ = ["EVENT_STEP", "EVENT_TIME", "event_files", "event_rows"]


# What an event says of itself, beside its tags.
EVENT_STEP, EVENT_TIME = "event.step", "event.wall_time"

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


def event_rows(path: Path) -> Iterator[LogRow]:
    """What was logged at one step without a break, as a row: tags, and EVENT_STEP and EVENT_TIME (of the first).

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
    """Whether a whole record follows the `n_records` that were read; a part of one is no damage.

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
