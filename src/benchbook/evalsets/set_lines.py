"""The lines of an eval set, whatever its form: the rows of a table come as the JSON lines that say the same."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal

import jiter
import msgspec

from benchbook.errors import InputError
from benchbook.evalsets.field_names import ALIASES
from benchbook.evalsets.lines import MAX_LINE_BYTES, Line, encoding_fault, read_lines
from benchbook.evalsets.table_values import is_missing
from benchbook.evalsets.tabular import TABLE_ENDINGS, WORKBOOK_ENDINGS, read_table, table_form

__all__ = ["SetForm", "set_form", "set_lines"]

SetForm = Literal["jsonl", "csv", "parquet"]

# Tables often number what they hold; elsewhere a number is as wrong as it is in JSON.
_NUMBERED = (*ALIASES["id"], "group")


def set_form(path: str | Path) -> SetForm:
    """What an eval set's name says it is: JSON lines, where it says nothing of a table.

    Raises: UsageError for a workbook.
    """
    ending = Path(path).suffix.lower()
    return table_form(path) if ending in TABLE_ENDINGS or ending in WORKBOOK_ENDINGS else "jsonl"


def set_lines(path: str | Path, form: SetForm) -> Iterator[Line]:
    """Each line of a file of JSON lines; of a table, each row as the line that says the same, numbered as it stands.

    An empty cell, a null and NaN are a field that is not there. Cells are texts; in the context's column, a JSON list
    or object is one.

    Raises: InputError for a row that can't be read, or a file of another encoding; UsageError where there is no file.
    """
    path = Path(path)
    if form == "jsonl":
        if (fault := encoding_fault(path)) is not None:
            raise InputError(path, found=fault)
        yield from read_lines(path)
        return
    to_field = _of_cell if form == "csv" else _of_value
    for number, row in read_table(path, form):
        data = _as_line(path, number, {name: to_field(name, value) for name, value in row.items()})
        yield Line(number, data if len(data) < MAX_LINE_BYTES else None, bom=False, crlf=False)


def _as_line(path: Path, number: int, row: Mapping[str, Any]) -> bytes:
    filled = {name: value for name, value in row.items() if not is_missing(value)}
    try:
        return msgspec.json.encode(filled)
    except (TypeError, ValueError, UnicodeEncodeError, RecursionError) as error:
        raise InputError(path, line=number, found=f"what JSON has no form for ({error})") from None


def _of_cell(name: str, cell: str | None) -> Any:
    if cell is None or name not in ALIASES["context"] or cell.lstrip()[:1] not in ("[", "{"):
        return cell
    try:
        jiter.from_json(cell.encode(), allow_inf_nan=False)
    except ValueError:
        return cell  # a text that begins like JSON
    return msgspec.Raw(cell.encode())  # as it was written: a key that is there twice is told


def _of_value(name: str, value: Any) -> Any:
    if name in _NUMBERED and isinstance(value, int | float) and not isinstance(value, bool) and value == value // 1:
        return str(int(value))
    return value
