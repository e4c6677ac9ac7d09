"""Predictions out of Parquet, whole columns at a time; those that are not asked for are not read."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl

from benchbook.errors import InputError, UsageError
from benchbook.evalsets.prediction_columns import MILLISECONDS, PREDICTION_COLUMNS
from benchbook.evalsets.table_columns import ColumnFinder
from benchbook.text import quoted

__all__ = ["read_parquet_columns"]

_TEXT_TYPES = (pl.String, pl.Categorical, pl.Enum, pl.Null)


def read_parquet_columns(
    path: Path, given: Mapping[str, str], wanted: pl.Schema, *, own_keys: bool = False
) -> tuple[dict[str, str], pl.DataFrame]:
    """`(columns, frame)`: our name -> the file's, and a frame of `wanted`, whose `line` is the row's number from 1.

    Raises: InputError for a column of another type, and a row without an id; UsageError.
    """
    try:
        lazy = pl.scan_parquet(path)
        schema = lazy.collect_schema()
        finder = ColumnFinder(path, PREDICTION_COLUMNS, given, "--columns")
        finder.note_names(None, _names(schema))
        columns = finder.finish()
        asked = {ours: _column(schema, theirs) for ours, theirs in columns.items()}
        if own_keys and (others := [name for name in schema if name not in columns.values()]):
            _refuse_unwritable(path, schema, others)
            asked["own_keys"] = pl.struct(others).struct.json_encode()
        rows = lazy.select(**asked).collect()
    except OSError as error:
        raise UsageError(f"{path}: can't be read ({error.strerror or error})") from None
    except pl.exceptions.PolarsError as error:
        raise InputError(path, found=f"no readable Parquet ({error})", expected="a Parquet file") from None
    rows = rows.with_row_index("line", offset=1)
    for name in columns:
        rows = _numbers(path, rows, name) if wanted[name] == pl.Int64 else _texts(path, rows, name)
    lacking = [pl.lit(None, dtype).alias(name) for name, dtype in wanted.items() if name not in rows.columns]
    frame = rows.with_columns(lacking).select(wanted.names()).cast(wanted)
    _refuse_first(path, frame, "item_id", pl.col("item_id").is_null(), "a text")
    return columns, frame


def _texts(path: Path, rows: pl.DataFrame, name: str) -> pl.DataFrame:
    """The column as texts: of ids whole numbers too, and one of NaN alone as nulls, which is how pandas writes them."""
    dtype = rows.schema[name]
    if dtype.is_float():
        rows = rows.with_columns(pl.col(name).fill_nan(None))
        if name == "item_id":
            _refuse_first(path, rows, name, pl.col(name) != pl.col(name).floor(), "a text")
            rows = rows.with_columns(pl.col(name).cast(pl.Int64, strict=False))
        elif rows[name].null_count() == len(rows):
            rows = rows.with_columns(pl.lit(None, pl.String).alias(name))
    if rows.schema[name] not in _TEXT_TYPES and not (name == "item_id" and rows.schema[name].is_integer()):
        raise InputError(path, field=name, found=f"a column of {dtype}", expected="texts")
    return rows.with_columns(pl.col(name).cast(pl.String))


def _numbers(path: Path, rows: pl.DataFrame, name: str) -> pl.DataFrame:
    """The column as whole numbers; floats among them if they are whole, NaN being null."""
    column, dtype = pl.col(name), rows.schema[name]
    what = MILLISECONDS["what"]
    if dtype.is_float():
        rows = rows.with_columns(column.fill_nan(None))
        _refuse_first(path, rows, name, column.is_infinite(), f"{what}, or nothing")
        _refuse_first(path, rows, name, column != column.floor(), f"{what}, or nothing")
    elif not (dtype.is_integer() or dtype == pl.Null):
        raise InputError(path, field=name, found=f"a column of {dtype}", expected=what)
    if dtype != pl.Null:
        _refuse_first(path, rows, name, column < 0, f"{what}, or nothing")
        _refuse_first(path, rows, name, column.cast(pl.Int64, strict=False).is_null() & column.is_not_null(), what)
    return rows.with_columns(column.cast(pl.Int64))


def _refuse_unwritable(path: Path, schema: pl.Schema, names: list[str]) -> None:
    """The run's own keys are kept as JSON, in which bytes have no place; Polars ends the process over them."""
    for name in names:
        if _has_bytes(schema[name]):
            expected = "values that JSON has; leave the column out"
            raise InputError(path, field=name, found=f"a column of {schema[name]}", expected=expected)


def _has_bytes(dtype: Any) -> bool:
    if isinstance(dtype, pl.Struct):
        return any(_has_bytes(field.dtype) for field in dtype.fields)
    if isinstance(dtype, pl.List | pl.Array):
        return _has_bytes(dtype.inner)
    return dtype in (pl.Binary, pl.Object)


def _refuse_first(path: Path, rows: pl.DataFrame, name: str, is_wrong: pl.Expr, expected: str) -> None:
    """Raises: InputError for the first row of which `is_wrong` holds."""
    wrong = rows.filter(is_wrong)
    if not wrong.is_empty():
        value = wrong[name][0]
        found = "nothing" if value is None else quoted(str(value))[1:-1]
        raise InputError(path, line=wrong["line"][0], field=name, found=found, expected=expected)


def _names(schema: pl.Schema) -> list[str]:
    below = [
        f"{name}.{field.name}"
        for name, dtype in schema.items()
        if isinstance(dtype, pl.Struct)
        for field in dtype.fields
    ]
    return [*schema, *below]


def _column(schema: pl.Schema, name: str) -> pl.Expr:
    if name in schema:
        return pl.col(name)
    outer, inner = name.split(".", 1)
    return pl.col(outer).struct.field(inner)
