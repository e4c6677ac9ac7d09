"""The rows of a training log, whatever its form: what was logged together, under the file's own names."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import jiter

from benchbook.errors import InputError
from benchbook.evalsets.lines import utf8_fault

__all__ = ["LogRow", "decode_log_json"]

_AT = re.compile(r" at line (\d+) column (\d+)$")


class LogRow(NamedTuple):
    """`line` counts from 1; None where the form has no lines."""

    line: int | None
    values: Mapping[str, Any]


def decode_log_json(data: bytes, path: Path, line: int | None = None) -> Any:
    """A JSON value, in which NaN, Infinity and -Infinity may stand: Python's trainers write them for a diverged loss.

    `line` is where `data` stands; None where it is the whole file. Raises: InputError naming the line.
    """
    try:
        return jiter.from_json(data, allow_inf_nan=True, catch_duplicate_keys=True, cache_mode="keys")
    except ValueError as error:
        message = str(error)
    at = _AT.search(message)
    where = line if line is not None else int(at[1]) if at else None
    if (fault := _not_utf8(data, line)) is not None:
        raise InputError(path, line=fault[0], found=fault[1])
    found = _AT.sub(rf" at byte {at[2]}", message) if at else message
    raise InputError(path, line=where, found=f"no JSON ({found})", expected="a JSON value, each key once")


def _not_utf8(data: bytes, line: int | None) -> tuple[int, str] | None:
    for number, part in enumerate([data] if line is not None else data.split(b"\n"), start=line or 1):
        if (fault := utf8_fault(part)) is not None:
            return number, fault
    return None
