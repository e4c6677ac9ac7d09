"""The lines of a file, unchanged and each held in memory only up to a limit (SPEC A10); the JSON value of a line."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import jiter
import msgspec

from benchbook.errors import InputError, UsageError
from benchbook.evalsets.findings import Fault
from benchbook.text import shorten

MAX_LINE_BYTES = 16 * 1024**2  # with its line end

_BOM = b"\xef\xbb\xbf"
_WIDE = {
    b"\xff\xfe\x00\x00": "UTF-32",
    b"\x00\x00\xfe\xff": "UTF-32",
    b"\xff\xfe": "UTF-16",
    b"\xfe\xff": "UTF-16",
    b"{\x00": "UTF-16",
    b"\x00{": "UTF-16",
}


class Stamp(NamedTuple):
    """How a file looks without reading it. No write leaves it as it was: nobody can set `changed_ns`."""

    device: int
    inode: int
    size: int
    changed_ns: int


NO_STAMP = Stamp(0, 0, 0, 0)  # that of no file


def stamp_of(file: BinaryIO) -> Stamp:
    """The stamp of a file that is open."""
    return stamp_of_stat(os.fstat(file.fileno()))


def stamp_of_stat(found: os.stat_result) -> Stamp:
    return Stamp(found.st_dev, found.st_ino, found.st_size, found.st_ctime_ns)


class Line(NamedTuple):
    """A line. `number` counts from 1. `data` is without line end and byte-order mark; None if it is over the limit."""

    number: int
    data: bytes | None
    bom: bool
    crlf: bool


def read_lines(path: str | Path) -> Iterator[Line]:
    """The lines of a file. They end at LF alone: U+2028 and its kin may stand inside a JSON string.

    Raises: UsageError if the file can't be read.
    """
    try:
        with Path(path).open("rb") as file:
            number = 0
            while data := file.readline(MAX_LINE_BYTES):
                number += 1
                if len(data) == MAX_LINE_BYTES and not data.endswith(b"\n"):
                    yield Line(number, None, bom=False, crlf=_skip_rest(file))
                    continue
                bom = number == 1 and data.startswith(_BOM)
                body = data.removeprefix(_BOM) if bom else data
                crlf = body.endswith(b"\r\n")
                yield Line(number, body[:-2] if crlf else body.removesuffix(b"\n"), bom, crlf)
    except OSError as error:
        raise UsageError(f"{path}: can't be read ({error.strerror or error})") from None


def filled_lines(path: str | Path) -> Iterator[tuple[int, bytes]]:
    """The lines that are not blank, with their numbers.

    Raises: InputError naming a line that is over the limit; as `read_lines`.
    """
    for line in read_lines(path):
        if line.data is None:
            limit = f"at most {MAX_LINE_BYTES >> 20} MiB"
            raise InputError(path, line=line.number, found="a longer line", expected=limit)
        if line.data.strip():
            yield line.number, line.data


def _skip_rest(file: BinaryIO) -> bool:
    """Read past the end of a line, and return True if it ended in CR LF."""
    last = b""
    while part := file.readline(1024**2):
        last = (last + part)[-2:]
        if part.endswith(b"\n"):
            break
    return last == b"\r\n"


def encoding_fault(path: str | Path) -> str | None:
    """The fault of a file in an encoding of 16 or 32 bits, whose bytes can't be split into lines; else None.

    Raises: UsageError if the file can't be read.
    """
    try:
        with Path(path).open("rb") as file:
            start = file.read(4)
    except OSError as error:
        raise UsageError(f"{path}: can't be read ({error.strerror or error})") from None
    for mark, name in _WIDE.items():
        if start.startswith(mark):
            return f"the file is {name}, and was not read further; save it as UTF-8"
    return None


def ends_a_line(path: str | Path) -> bool:
    """True if a file's last line is whole. A file that is being written mostly ends in the middle of one.

    Raises: OSError.
    """
    with Path(path).open("rb") as file:
        size = file.seek(0, 2)
        file.seek(max(size - 1, 0))
        return file.read(1) in (b"", b"\n", b"\r")


def utf8_fault(data: bytes) -> str | None:
    """The place at which a line is not UTF-8, in words, with bytes counted from 1; None if it is."""
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        return f"byte {data[error.start]:#04x} at byte {error.start + 1} of the line; expected UTF-8"
    return None


class Pairs(list[tuple[str, Any]]):
    """A JSON object as its pairs, duplicates included; for the `object_pairs_hook` of `json`."""


def row_without_repeats(data: bytes) -> dict[str, Any] | None:
    """The object on a line without repeated keys at any depth; None if the line needs a closer look."""
    try:
        row = jiter.from_json(data, catch_duplicate_keys=True, allow_inf_nan=False, cache_mode="keys")
    except ValueError:
        return None
    return row if isinstance(row, dict) else None


def repeated_key(data: bytes, names: Iterable[str]) -> str | None:
    """The first of `names` that the object on a line has more than once; None also if it is not an object."""
    if row_without_repeats(data) is not None:
        return None
    try:
        # Numbers stay text: only the keys are of interest, and an int of over 4,300 digits would raise.
        value = json.loads(data, object_pairs_hook=Pairs, parse_int=str, parse_float=str)
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, Pairs):
        return None
    counts = Counter(name for name, _ in value)
    return next((name for name in names if counts[name] > 1), None)


JSON_WHITE_SPACE = b" \t\r\n"


class LineJson(msgspec.Struct, frozen=True):
    """A line's value. `repeated` maps the path of each key that an object has more than once to a reason in words."""

    value: Any
    repeated: Mapping[str, str] = {}


def read_line_json(data: bytes) -> LineJson | Fault:
    """Read one line. If only its keys are at fault it still gets a value, so that the rest can be checked."""
    try:
        return LineJson(jiter.from_json(data, catch_duplicate_keys=True, allow_inf_nan=False, cache_mode="keys"))
    except ValueError as error:
        message = str(error)
    if (fault := utf8_fault(data)) is not None:
        return Fault(None, "bad_utf8", fault)
    if message.startswith("Detected duplicate key"):
        try:
            jiter.from_json(data, allow_inf_nan=False)
        except ValueError as error:
            message = str(error)
        else:
            # Numbers as floats: an int of over 4,300 digits would raise, and only its type is of interest.
            value = json.loads(data, object_pairs_hook=Pairs, parse_int=float)
            return LineJson(_plain(value), dict(_repeated(value)))
    return Fault(None, "malformed_json", _malformed(data, message))


AS_CSV = "where it is CSV, its name has to end in .csv"


def is_like_csv(data: bytes) -> bool:
    """True if a line is none of JSON, and may be one of a table."""
    return b"{" not in data and any(separator in data for separator in (b",", b";", b"\t"))


def _malformed(data: bytes, message: str) -> str:
    if data.lstrip(JSON_WHITE_SPACE).startswith(b"\xef\xbb\xbf"):
        return "a byte-order mark stands before the object; only the file may start with one"
    if b"}\r{" in data:
        return "the lines seem to end in CR alone; expected LF"
    if data.strip(JSON_WHITE_SPACE) == b"[":
        return "no JSON: an array that begins here; expected one object a line, and no array around them"
    if message.startswith("recursion limit"):
        return "no JSON: nested too deeply, in more than 200 levels"
    if is_like_csv(data):
        return f"no JSON; {AS_CSV}"
    return f"no JSON: {message.replace(' at line 1 column ', ' at byte ')}"


def _repeated(value: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """`(path, reason)` for each key that an object has more than once, at any depth."""
    if isinstance(value, Pairs):
        for name, n in Counter(name for name, _ in value).items():
            if n > 1:
                yield shorten(path + name, 80), f"{n} times in one object"
        for name, content in value:
            yield from _repeated(content, f"{path}{name}.")
    elif isinstance(value, list):
        for content in value:
            yield from _repeated(content, path)


def _plain(value: Any) -> Any:
    if isinstance(value, Pairs):
        return {name: _plain(content) for name, content in value}
    return [_plain(content) for content in value] if isinstance(value, list) else value


def type_name(value: Any) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case int() | float():
            return "a number"
        case str():
            return "a string"
        case list():
            return "an array"
        case _:
            return "an object"
