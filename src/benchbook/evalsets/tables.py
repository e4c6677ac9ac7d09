"""Reads rows of users' files, each with its line: JSONL, CSV, Parquet.

The one reader of tables: recorded outputs, predictions, labels, prompts, judgements and eval sets come through here.
The meaning of columns, and the values that they may have, are in `table_columns`.
"""

from __future__ import annotations

import csv
import json
import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal, NamedTuple, TextIO

import msgspec

from benchbook.canonical import decode_json
from benchbook.errors import InputError, UsageError
from benchbook.evalsets.lines import encoding_fault, ends_a_line, filled_lines, repeated_key, utf8_fault
from benchbook.evalsets.parquet import ParquetError, ParquetFile
from benchbook.text import quoted

_MAX_CELL = 1 << 26  # characters
_SEPARATORS = (",", ";", "\t")
_DECLARES = "sep="  # the line that Excel reads, and some programs write, before the header


class _Form(NamedTuple):
    separator: str
    n_before: int  # lines before the header


def csv_rows(
    path: Path, *, max_cell: int = _MAX_CELL, on_half: Callable[[int], None] | None = None
) -> Iterator[tuple[int, dict[str, str | None]]]:
    """Yield `(line, row)` for each row with a filled cell. Cells are text; an empty one is null.

    The line is the one on which the row ends. Columns without a name, such as spreadsheets leave at the right, are
    skipped if they are empty. With `on_half`, a last row with too few cells and no line end is not read, since it is
    still being written; `on_half` gets its line.

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
    """The form of a CSV file: with commas, if header and first row then match; else with what gives most cells."""
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
    """The numbers of cells in the header and in the first row; None if there is no row."""
    found: list[int] = []
    with _opened(path) as text, suppress(csv.Error):
        for cells in _reader(text, _Form(separator, 0)):
            if cells:
                found.append(len(cells))
            if len(found) == 2:
                break
    return (found[0] if found else 0), (found[1] if len(found) > 1 else None)


def _bad_line(path: Path) -> int | None:
    """The first line that is not UTF-8. The reader's own count lags behind, as it decodes in larger blocks."""
    with path.open("rb") as file:
        return next((number for number, data in enumerate(file, 1) if utf8_fault(data) is not None), None)


_MAX_DIGITS = 1_000  # of a whole number; a longer one is read as a double, and is infinity


def json_rows(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield `(line, object)` for each line that is not blank. Lone surrogates are kept: a model may have written them.

    Raises: InputError naming the line; UsageError if the file can't be read.
    """
    decoder = msgspec.json.Decoder(dict[str, Any])
    for number, data in filled_lines(path):
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
    """The value of a line with numbers that JSON lacks or a double can't hold; None if it is not JSON otherwise."""
    try:
        return json.loads(
            data.decode("utf-8"), parse_int=_whole
        )  # of bytes, it would take a byte-order mark for nothing
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


TableForm = Literal["jsonl", "csv", "parquet"]

TABLE_ENDINGS: Mapping[str, TableForm] = {
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".csv": "csv",
    ".tsv": "csv",
    ".parquet": "parquet",
}
WORKBOOK_ENDINGS = (".xlsx", ".xlsm", ".xls", ".ods")


def table_form(path: str | Path) -> TableForm:
    """The form of a table by its file's name.

    Raises: UsageError.
    """
    ending = Path(path).suffix.lower()
    if ending in WORKBOOK_ENDINGS:
        raise UsageError(f"{path}: a workbook; save its sheet as CSV (UTF-8) and give that")
    form = TABLE_ENDINGS.get(ending)
    if form is None:
        raise UsageError(f"{path}: can't tell its form; expected a name that ends in {', '.join(TABLE_ENDINGS)}")
    return form


def read_table(path: str | Path, form: TableForm | None = None) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield `(line, row)` for each row: its line in the file, from 1 (for Parquet: the row's number).

    By default the name gives the form. Cells of CSV are text, an empty one is null. NaN and the infinities come as
    floats, from JSONL too.

    Raises: InputError naming the line; UsageError.
    """
    path = Path(path)
    form = form or table_form(path)
    readers = {"jsonl": json_rows, "csv": csv_rows, "parquet": _parquet}
    try:
        if form != "parquet" and (wide := encoding_fault(path)) is not None:
            raise InputError(path, found=wide)
        yield from readers[form](path)
    except OSError as error:
        raise UsageError(f"{path}: can't be read ({error.strerror or error})") from None


def table_columns(path: str | Path) -> list[str]:
    """The columns of all rows together, in the order of first appearance. Raises as `read_table` does."""
    names: dict[str, None] = {}
    for _, row in read_table(path):
        names |= dict.fromkeys(row)
    return list(names)


def _parquet(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    try:
        frames = ParquetFile(path).frames()
        yield from enumerate((row for frame in frames for row in frame.iter_rows(named=True, buffer_size=1024)), 1)
    except ParquetError as error:
        raise InputError(path, found=f"no readable Parquet ({error})", expected="a Parquet file") from None
