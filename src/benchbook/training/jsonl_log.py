"""Logs of one JSON object a line, also with the metrics in an object of their own (`m44_v1_metrics.jsonl`)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from benchbook.errors import InputError
from benchbook.evalsets.line_json import JSON_WHITE_SPACE, type_name
from benchbook.evalsets.lines import MAX_LINE_BYTES, encoding_fault, read_lines
from benchbook.training.log_rows import LogRow, decode_log_json

__all__ = ["jsonl_rows"]


def jsonl_rows(path: Path) -> Iterator[LogRow]:
    """The objects in their order; blank lines are passed over.

    Raises: InputError naming the line; UsageError where the file can't be read.
    """
    if (fault := encoding_fault(path)) is not None:
        raise InputError(path, found=fault)
    for line in read_lines(path):
        if line.data is None:
            limit = f"at most {MAX_LINE_BYTES // 1024**2} MiB"
            raise InputError(path, line=line.number, found="a longer line", expected=limit)
        if not line.data.strip(JSON_WHITE_SPACE):
            continue
        value = decode_log_json(line.data, path, line.number)
        if not isinstance(value, dict):
            raise InputError(path, line=line.number, found=type_name(value), expected="an object")
        yield LogRow(line.number, value)
