"""Per-item predictions that were made elsewhere, read from JSONL, CSV and Parquet (SPEC A5)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from benchbook.canonical import canonical_json
from benchbook.errors import InputError
from benchbook.evalsets.prediction_columns import column_names, resolve_prediction_columns, value_at
from benchbook.evalsets.prediction_parquet import read_parquet_columns
from benchbook.evalsets.tabular import TableForm, read_table, table_form
from benchbook.text import shorten, storable

__all__ = ["Predictions", "read_predictions"]

_SCHEMA = pl.Schema(
    {
        "line": pl.Int64,
        "item_id": pl.String,
        "predicted": pl.String,
        "expected": pl.String,
        "eval_time_ms": pl.Int64,
        "own_keys": pl.String,
    }
)
_TEXTS = ("item_id", "predicted", "expected")
_BATCH = 65_536


@dataclass(frozen=True, slots=True)
class Predictions:
    """A file's predictions. `columns` maps our names to the file's, and is to be recorded.

    `frame` has a row for each of the file's: `line` (for Parquet the row's number, from 1), `item_id`, and `predicted`,
    `expected`, `eval_time_ms`, null where the file says nothing. `own_keys` is what else the row holds (SPEC A5), a
    JSON object as text; null where it was not asked for, or there is nothing else.
    """

    path: Path
    form: TableForm
    columns: Mapping[str, str]
    frame: pl.DataFrame


def read_predictions(
    path: str | Path,
    *,
    form: TableForm | None = None,
    columns: Mapping[str, str] | None = None,
    own_keys: bool = False,
) -> Predictions:
    """Read JSONL (plain rows, or the trace form of Tunix), CSV or Parquet; `form` is by default what the name says.

    `columns` maps our names to the file's where they are not known ones; `own_keys`: keep what else a row holds.

    Raises: InputError naming the line; ConfigError for `columns` that do not fit; UsageError.
    """
    path = Path(path)
    form = form or table_form(path)
    if form == "parquet":
        found, frame = read_parquet_columns(path, columns or {}, _SCHEMA, own_keys=own_keys)
    else:
        found, frame = _read_rows(path, form, columns or {}, own_keys=own_keys)
    if frame.is_empty():
        raise InputError(path, found="no predictions", expected="a row for each item")
    return Predictions(path, form, found, frame)


def _read_rows(
    path: Path, form: TableForm, given: Mapping[str, str], *, own_keys: bool
) -> tuple[dict[str, str], pl.DataFrame]:
    columns: dict[str, str] = {}
    frames = [_SCHEMA.to_frame()]
    batch: list[tuple[Any, ...]] = []
    for line, row in _rows_alike(path, form, given, columns):
        batch.append((*_prediction(path, line, row, columns), _own_keys(row, columns) if own_keys else None))
        if len(batch) == _BATCH:
            frames.append(pl.DataFrame(batch, _SCHEMA, orient="row"))
            batch.clear()
    frames.append(pl.DataFrame(batch, _SCHEMA, orient="row"))
    return columns, pl.concat(frames)


def _rows_alike(
    path: Path, form: TableForm, given: Mapping[str, str], columns: dict[str, str]
) -> Iterator[tuple[int, dict[str, Any]]]:
    """The rows; the first one fills `columns`.

    Raises: InputError for a row that says something in a column that the first did not have. It would go unread.
    """
    first: dict[str, Any] | None = None
    for line, row in read_table(path, form):
        if first is None:
            columns.update(resolve_prediction_columns(path, line, column_names(row), given))
            first = row
        elif row.keys() != first.keys():
            _refuse_other_columns(path, line, row, given, columns)
        yield line, row


def _refuse_other_columns(
    path: Path, line: int, row: Mapping[str, Any], given: Mapping[str, str], columns: Mapping[str, str]
) -> None:
    names = column_names(row)
    for ours, theirs in given.items():
        if ours in ("item_id", "predicted") and theirs not in names:
            raise InputError(path, line=line, field=ours, found="nothing", expected=theirs)
    here = {ours: theirs for ours, theirs in given.items() if theirs in names}
    for ours, theirs in resolve_prediction_columns(path, line, names, here).items():
        if columns.get(ours) != theirs:
            expected = columns.get(ours) or "no such column, as in the first row"
            raise InputError(path, line=line, field=ours, found=theirs, expected=expected)


def _prediction(path: Path, line: int, row: Mapping[str, Any], columns: Mapping[str, str]) -> tuple[Any, ...]:
    texts = [value_at(row, columns[name]) if name in columns else None for name in _TEXTS]
    for name, value in zip(_TEXTS, texts, strict=True):
        if not isinstance(value, str) and (value is not None or name == "item_id"):
            expected = "a text" if name == "item_id" else "a text, or nothing"
            found = "nothing" if value is None else shorten(repr(value), 60)
            raise InputError(path, line=line, field=name, found=found, expected=expected)
    texts = [None if value is None else storable(value) for value in texts]  # Polars holds no lone surrogate
    time = value_at(row, columns["eval_time_ms"]) if "eval_time_ms" in columns else None
    return (line, *texts, _milliseconds(path, line, time))


def _own_keys(row: Mapping[str, Any], columns: Mapping[str, str]) -> str | None:
    read = columns.values()
    own = {name: value for name, value in row.items() if name not in read}
    return canonical_json(own).decode() if own else None


def _milliseconds(path: Path, line: int, value: Any) -> int | None:
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 19:  # a CSV cell
        return int(value)
    if value is None or (type(value) is int and 0 <= value < 2**63):
        return value
    raise InputError(
        path, line=line, field="eval_time_ms", found=shorten(repr(value), 60), expected="whole milliseconds, or nothing"
    )
