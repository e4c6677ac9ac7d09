"""Predictions out of Parquet, whole columns at a time; those that are not asked for are not read."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl

from benchbook.errors import InputError, UsageError
from benchbook.evalsets.prediction_columns import resolve_prediction_columns

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
        columns = resolve_prediction_columns(path, None, _names(schema), given)
        asked = {ours: _column(schema, theirs) for ours, theirs in columns.items()}
        if own_keys and (others := [name for name in schema if name not in columns.values()]):
            _refuse_unwritable(path, schema, others)
            asked["own_keys"] = pl.struct(others).struct.json_encode()
        rows = lazy.select(**asked).collect()
    except OSError as error:
        raise UsageError(f"{path}: can't be read ({error.strerror or error})") from None
    except pl.exceptions.PolarsError as error:
        raise InputError(path, found=f"no readable Parquet ({error})", expected="a Parquet file") from None
    for name, dtype in rows.schema.items():
        is_text = wanted[name] == pl.String
        if not (dtype in _TEXT_TYPES if is_text else dtype.is_integer() or dtype == pl.Null):
            expected = "texts" if is_text else "whole milliseconds"
            raise InputError(path, field=name, found=f"a column of {dtype}", expected=expected)
    lacking = [pl.lit(None, dtype).alias(name) for name, dtype in wanted.items() if name not in (*asked, "line")]
    frame = rows.with_columns(lacking).with_row_index("line", offset=1).select(wanted.names()).cast(wanted)
    _refuse_rows(path, frame)
    return columns, frame


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


def _refuse_rows(path: Path, frame: pl.DataFrame) -> None:
    for name, is_wrong, found, expected in (
        ("item_id", pl.col("item_id").is_null(), "nothing", "a text"),
        ("eval_time_ms", pl.col("eval_time_ms") < 0, "a negative number", "whole milliseconds, or nothing"),
    ):
        wrong = frame.filter(is_wrong)
        if not wrong.is_empty():
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
