"""The JSON value on a line, by RFC 8259 and nothing else, or what is wrong with it."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import jiter
import msgspec

from benchbook.evalsets.findings import Fault
from benchbook.evalsets.lines import utf8_fault
from benchbook.text import shorten

__all__ = [
    "JSON_WHITE_SPACE",
    "LineJson",
    "Pairs",
    "read_line_json",
    "repeated_key",
    "row_without_repeats",
    "type_name",
]


class Pairs(list[tuple[str, Any]]):
    """An object as its pairs, duplicates and all: what `json` makes of one by `object_pairs_hook`."""


def row_without_repeats(data: bytes) -> dict[str, Any] | None:
    """The object on a line, none of whose keys is there twice at any depth; None where a closer look must tell."""
    try:
        row = jiter.from_json(data, catch_duplicate_keys=True, allow_inf_nan=False, cache_mode="keys")
    except ValueError:
        return None
    return row if isinstance(row, dict) else None


def repeated_key(data: bytes, names: Iterable[str]) -> str | None:
    """The first of `names` that the object on a line has more than once; None too for what is no object."""
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
    """A line's value. `repeated` maps the path of each key that an object has more than once to what to say of it."""

    value: Any
    repeated: Mapping[str, str] = {}


def read_line_json(data: bytes) -> LineJson | Fault:
    """Read one line. One whose keys alone are at fault has a value too, so that the rest of it can be checked."""
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


def _malformed(data: bytes, message: str) -> str:
    if data.lstrip(JSON_WHITE_SPACE).startswith(b"\xef\xbb\xbf"):
        return "a byte-order mark stands before the object; only the file may start with one"
    if b"}\r{" in data:
        return "the lines seem to end in CR alone; expected LF"
    if data.strip(JSON_WHITE_SPACE) == b"[":
        return "no JSON: an array that begins here; expected one object a line, and no array around them"
    if message.startswith("recursion limit"):
        return "no JSON: nested too deeply, in more than 200 levels"
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
