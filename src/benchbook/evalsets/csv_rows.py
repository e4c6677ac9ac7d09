"""Rows of CSV as spreadsheets and pandas write it: separated by commas, semicolons or tabs, with a header."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple, TextIO

from benchbook.errors import InputError
from benchbook.evalsets.lines import ends_a_line, utf8_fault
from benchbook.text import quoted

__all__ = ["csv_rows"]

MAX_CELL = 1 << 26  # characters
_SEPARATORS = (",", ";", "\t")
_DECLARES = "sep="  # the line that Excel reads, and some programs write, before the header


class _Form(NamedTuple):
    separator: str
    n_before: int  # lines before the header


def csv_rows(
    path: Path, *, max_cell: int = MAX_CELL, on_half: Callable[[int], None] | None = None
) -> Iterator[tuple[int, dict[str, str | None]]]:
    """`(line, row)` for each row in which a cell is filled. Cells are text; an empty one is null.

    The line is the one on which the row ends. Columns without a name, such as spreadsheets leave at the right, are
    passed over where nothing stands in them. With `on_half`, a last row that has too few cells and no line end is not
    read, for it is still being written; `on_half` is told its line.

    Raises: InputError naming the line; OSError.
    """
    csv.field_size_limit(max_cell)
    try:
        form = _form_of(path)
        with _opened(path) as text:
            yield from _rows(path, text, form, on_half)
    except UnicodeDecodeError as error:
        expected = "UTF-8; from a spreadsheet, save it as CSV UTF-8"
        raise InputError(path, line=_bad_line(path), found=f"no UTF-8 ({error.reason})", expected=expected) from None


def _rows(
    path: Path, text: TextIO, form: _Form, on_half: Callable[[int], None] | None
) -> Iterator[tuple[int, dict[str, str | None]]]:
    reader = _reader(text, form)
    try:
        names: list[str] = next(reader, [])
        _refuse_repeated(path, names, form.n_before + 1)
        nameless = [place for place, name in enumerate(names) if not name] if names.count("") > 1 else []
        for cells in reader:
            if not any(cells):
                continue
            line = reader.line_num + form.n_before
            if len(cells) != len(names):
                if on_half and len(cells) < len(names) and next(reader, None) is None and not ends_a_line(path):
                    on_half(line)
                    return
                found = f"another number of cells than in the header ({len(cells)})"
                raise InputError(path, line=line, found=found, expected=str(len(names)))
            row = {name: cell or None for name, cell in zip(names, cells, strict=True)}
            if nameless:
                _drop_nameless(path, line, row, [cells[place] for place in nameless])
            yield line, row
    except csv.Error as error:
        line = reader.line_num + form.n_before
        raise InputError(path, line=line, found=f"no CSV ({error})", expected="RFC 4180") from None


def _opened(path: Path) -> TextIO:
    return path.open(encoding="utf-8-sig", newline="")


def _reader(text: TextIO, form: _Form) -> Any:
    for _ in range(form.n_before):
        text.readline()
    return csv.reader(text, delimiter=form.separator, strict=True)


def _refuse_repeated(path: Path, names: Sequence[str], line: int) -> None:
    for name, n in Counter(names).items():
        if n > 1 and name:
            found = f"the column {quoted(name)} more than once"
            raise InputError(path, line=line, field=quoted(name)[1:-1], found=found, expected="one of them")


def _drop_nameless(path: Path, line: int, row: dict[str, str | None], cells: Sequence[str]) -> None:
    if filled := [cell for cell in cells if cell]:
        found = f"{quoted(filled[0])} in a column without a name"
        raise InputError(path, line=line, found=found, expected="a name in the header")
    del row[""]


def _form_of(path: Path) -> _Form:
    """By a comma, if header and first row have as many cells by it; else by what makes most cells."""
    with _opened(path) as text:
        first = text.readline().rstrip("\r\n")
    if len(first) == len(_DECLARES) + 1 and first.lower().startswith(_DECLARES):
        return _Form(first[-1], 1)
    widths = {separator: _widths(path, separator) for separator in _SEPARATORS}
    fitting = [one for one, (header, row) in widths.items() if header > 1 and row in (header, None)]
    if fitting[:1] == [","]:
        return _Form(",", 0)
    return _Form(max(fitting or _SEPARATORS, key=lambda one: widths[one][0]), 0)


def _widths(path: Path, separator: str) -> tuple[int, int | None]:
    """How many cells the header has, and the first row; None where there is no row."""
    found: list[int] = []
    with _opened(path) as text, suppress(csv.Error):
        for cells in _reader(text, _Form(separator, 0)):
            if cells:
                found.append(len(cells))
            if len(found) == 2:
                break
    return (found[0] if found else 0), (found[1] if len(found) > 1 else None)


def _bad_line(path: Path) -> int | None:
    """The first line that is not UTF-8. The reader's own count is behind: a file is decoded a stretch at a time."""
    with path.open("rb") as file:
        return next((number for number, data in enumerate(file, 1) if utf8_fault(data) is not None), None)
