"""The objects of a file of JSON lines, with NaN and the infinities that Python and pandas write among its numbers."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from benchbook.canonical import decode_json
from benchbook.errors import InputError
from benchbook.evalsets.lines import MAX_LINE_BYTES, read_lines, utf8_fault
from benchbook.evalsets.repeated_keys import repeated_key

__all__ = ["json_rows", "without_nonfinite"]

_MAX_DIGITS = 1_000  # of a whole number; a longer one is beyond a double, and read as one


def json_rows(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """`(line, object)` for each line that is not blank. Lone surrogates are kept: a model may have written them.

    Raises: InputError naming the line; UsageError where the file can't be read.
    """
    decoder = msgspec.json.Decoder(dict[str, Any])
    for number, data, _, _ in read_lines(path):
        if data is None:
            limit = f"at most {MAX_LINE_BYTES >> 20} MiB"
            raise InputError(path, line=number, found="a longer line", expected=limit)
        if not data.strip():
            continue
        if (fault := utf8_fault(data)) is not None:
            raise InputError(path, line=number, found=fault)
        try:
            row = decode_json(data, decoder)
        except msgspec.DecodeError as error:
            row = _with_any_number(data)
            if not isinstance(row, dict):
                raise InputError(path, line=number, found=f"no JSON object ({error})", expected="one a line") from None
        if (name := repeated_key(data, row)) is not None:
            raise InputError(path, line=number, field=name, found="the field more than once", expected="one of them")
        yield number, row


def _with_any_number(data: bytes) -> Any:
    """The value of a line whose numbers JSON does not have, or a double does not hold; None for what is no JSON."""
    try:
        return json.loads(data, parse_int=_whole)
    except (ValueError, RecursionError):
        return None


def _whole(digits: str) -> float:
    return int(digits) if len(digits) <= _MAX_DIGITS else float(digits)


def without_nonfinite(value: Any) -> Any:
    """A JSON value with null for NaN and the infinities, at any depth."""
    match value:
        case float() if not math.isfinite(value):
            return None
        case dict():
            return {name: without_nonfinite(content) for name, content in value.items()}
        case list():
            return [without_nonfinite(content) for content in value]
        case _:
            return value
