"""Rows of other people's files, with the line that each stood on: JSONL, CSV, Parquet."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import msgspec

from benchbook.canonical import decode_json
from benchbook.errors import InputError, UsageError
from benchbook.evalsets.lines import MAX_LINE_BYTES, read_lines, utf8_fault
from benchbook.evalsets.repeated_keys import repeated_key
from benchbook.text import shorten

__all__ = ["TableForm", "read_table", "table_form"]

MAX_CELL = 1 << 26  # characters of a CSV cell


TableForm = Literal["jsonl", "csv", "parquet"]

_ENDINGS: dict[str, TableForm] = {".jsonl": "jsonl", ".ndjson": "jsonl", ".csv": "csv", ".parquet": "parquet"}


def table_form(path: str | Path) -> TableForm:
    """What a file's name says it is.

    Raises: UsageError.
    """
    form = _ENDINGS.get(Path(path).suffix.lower())
    if form is None:
        raise UsageError(f"{path}: can't tell its form; expected a name that ends in {', '.join(_ENDINGS)}")
    return form


def read_table(path: str | Path, form: TableForm | None = None) -> Iterator[tuple[int, dict[str, Any]]]:
    """`(line, row)` for each row: the line counts from 1 as it stands in the file (for Parquet: the row's number).

    `form` is by default what the name says. Raises: InputError naming the line; UsageError.
    """
    path = Path(path)
    readers = {"jsonl": _jsonl, "csv": _csv, "parquet": _parquet}
    try:
        yield from readers[form or table_form(path)](path)
    except OSError as error:
        raise UsageError(f"{path}: can't be read ({error.strerror or error})") from None


def _jsonl(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Lone surrogates are kept: a model may have written them."""
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
            raise InputError(path, line=number, found=f"no JSON object ({error})", expected="one a line") from None
        if (name := repeated_key(data, row)) is not None:
            raise InputError(path, line=number, field=name, found="the field more than once", expected="one of them")
        yield number, row


def _csv(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Cells are text; an empty one is null."""
    csv.field_size_limit(MAX_CELL)
    with path.open("rb") as raw:
        reader = csv.DictReader(io.TextIOWrapper(raw, encoding="utf-8-sig", newline=""), strict=True)
        try:
            if twice := [name for name, n in Counter(reader.fieldnames or ()).items() if n > 1]:
                found = f"the column {shorten(repr(twice[0]), 60)} more than once"
                raise InputError(path, line=1, found=found, expected="one of them")
            for row in reader:
                if None in row or None in row.values():
                    fields = len(reader.fieldnames or ())
                    raise InputError(path, line=reader.line_num, found="another number of cells", expected=str(fields))
                yield reader.line_num, {name: value or None for name, value in row.items()}
        except csv.Error as error:
            raise InputError(path, line=reader.line_num, found=f"no CSV ({error})", expected="RFC 4180") from None
        except UnicodeDecodeError as error:
            raise InputError(path, line=_bad_line(path), found=f"no UTF-8 ({error.reason})", expected="UTF-8") from None


def _bad_line(path: Path) -> int | None:
    """The first line that is not UTF-8. The reader's own count is behind: a file is decoded a stretch at a time."""
    with path.open("rb") as file:
        return next((number for number, data in enumerate(file, 1) if utf8_fault(data) is not None), None)


def _parquet(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(path) as file:
            number = 0
            for batch in file.iter_batches(batch_size=1024):
                for row in batch.to_pylist():
                    number += 1
                    yield number, row
    except pa.ArrowException as error:
        raise InputError(path, found=f"no readable Parquet ({error})", expected="a Parquet file") from None
