"""Rows of other people's files, with the line that each stood on: JSONL, CSV, Parquet.

The one reader of tables: recorded outputs, predictions, labels, prompts, judgements and eval sets come through here.
What a value may be is in `table_values`, which column holds what in `table_columns`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal

from benchbook.errors import InputError, UsageError
from benchbook.evalsets.csv_rows import csv_rows
from benchbook.evalsets.json_rows import json_rows
from benchbook.evalsets.lines import encoding_fault

__all__ = ["TABLE_ENDINGS", "WORKBOOK_ENDINGS", "TableForm", "read_table", "table_columns", "table_form"]

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
    """What a file's name says it is.

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
    """`(line, row)` for each row: the line counts from 1 as it stands in the file (for Parquet: the row's number).

    `form` is by default what the name says. Cells of CSV are text, an empty one is null. NaN and the infinities come
    as floats, out of JSONL too: `table_values` says what becomes of them.

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


def table_columns(path: str | Path, form: TableForm | None = None) -> list[str]:
    """The columns of all rows together, in the order in which they come. Raises: as `read_table`."""
    names: dict[str, None] = {}
    for _, row in read_table(path, form):
        names |= dict.fromkeys(row)
    return list(names)


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
