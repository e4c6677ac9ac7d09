"""Logs as CSV with a header."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from benchbook.errors import InputError
from benchbook.evalsets.lines import MAX_LINE_BYTES, encoding_fault, read_lines, utf8_fault
from benchbook.text import shorten
from benchbook.training.log_rows import LogRow

__all__ = ["csv_rows"]


def csv_rows(path: Path) -> Iterator[LogRow]:
    """The rows in their order. Cells are text; an empty one is null.

    Raises: InputError naming the line; UsageError where the file can't be read.
    """
    if (fault := encoding_fault(path)) is not None:
        raise InputError(path, found=fault)
    csv.field_size_limit(MAX_LINE_BYTES)
    reader = csv.reader(_texts(path), strict=True)
    header: list[str] | None = None
    try:
        for cells in reader:
            if header is None:
                header = cells
                _refuse_repeated(path, header)
            elif cells:
                yield LogRow(reader.line_num, _values(path, reader.line_num, header, cells))
    except csv.Error as error:
        raise InputError(path, line=reader.line_num, found=f"no CSV ({error})", expected="RFC 4180") from None


def _texts(path: Path) -> Iterator[str]:
    """The file's lines as text: decoded one by one, so that a fault is named by its own line."""
    for line in read_lines(path):
        if line.data is None:
            limit = f"at most {MAX_LINE_BYTES // 1024**2} MiB"
            raise InputError(path, line=line.number, found="a longer line", expected=limit)
        if (fault := utf8_fault(line.data)) is not None:
            raise InputError(path, line=line.number, found=fault)
        yield line.data.decode("utf-8") + "\n"


def _refuse_repeated(path: Path, header: list[str]) -> None:
    for name, n in Counter(header).items():
        if n > 1:
            raise InputError(path, line=1, field=shorten(name, 60), found=f"{n} such columns", expected="one")


def _values(path: Path, line: int, header: list[str], cells: list[str]) -> dict[str, str | None]:
    if len(cells) != len(header):
        raise InputError(path, line=line, found=f"{len(cells)} cells", expected=f"{len(header)}, as in the header")
    return {name: cell or None for name, cell in zip(header, cells, strict=True)}
