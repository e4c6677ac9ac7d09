"""Logs of one JSON object a line, also with the metrics in an object of their own (`m44_v1_metrics.jsonl`)."""

from __future__ import annotations

import codecs
from collections.abc import Callable, Iterator
from pathlib import Path

import jiter

from benchbook.errors import InputError
from benchbook.evalsets.line_json import JSON_WHITE_SPACE, type_name
from benchbook.evalsets.lines import MAX_LINE_BYTES, encoding_fault, ends_a_line, read_lines
from benchbook.training.log_rows import LogRow, decode_log_json

__all__ = ["jsonl_rows"]


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
