"""Per-item predictions that were made elsewhere, read from JSONL, CSV and Parquet (SPEC A5)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from benchbook.canonical import canonical_json
from benchbook.evalsets.json_rows import without_nonfinite
from benchbook.evalsets.prediction_columns import MILLISECONDS, PREDICTION_COLUMNS
from benchbook.evalsets.prediction_parquet import read_parquet_columns
from benchbook.evalsets.table_columns import ColumnFinder, value_at
from benchbook.evalsets.table_values import count_at, id_at, optional_text_at
from benchbook.evalsets.tabular import TableForm, read_table, table_form
from benchbook.text import storable

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

    `columns` maps our names to the file's where they are not known ones; `own_keys`: keep what else a row holds. A file
    without rows is one in which every prediction is missing (A3).

    Raises: InputError naming the line; ConfigError for `columns` that do not fit; UsageError.
    """
    path = Path(path)
    form = form or table_form(path)
    if form == "parquet":
        found, frame = read_parquet_columns(path, columns or {}, _SCHEMA, own_keys=own_keys)
    else:
        found, frame = _read_rows(path, form, columns or {}, own_keys=own_keys)
    return Predictions(path, form, found, frame)


def _read_rows(
    path: Path, form: TableForm, given: Mapping[str, str], *, own_keys: bool
) -> tuple[dict[str, str], pl.DataFrame]:
    finder = ColumnFinder(path, PREDICTION_COLUMNS, given, "--columns")
    frames = [_SCHEMA.to_frame()]
    batch: list[tuple[Any, ...]] = []
    for line, row in read_table(path, form):
        finder.note(line, row)
        columns = finder.columns
        batch.append((*_prediction(path, line, row, columns), _own_keys(row, columns) if own_keys else None))
        if len(batch) == _BATCH:
            frames.append(pl.DataFrame(batch, _SCHEMA, orient="row"))
            batch.clear()
    frames.append(pl.DataFrame(batch, _SCHEMA, orient="row"))
    return finder.finish(), pl.concat(frames)


def _prediction(path: Path, line: int, row: Mapping[str, Any], columns: Mapping[str, str]) -> tuple[Any, ...]:
    item_id = id_at(path, line, "item_id", value_at(row, columns["item_id"]))
    texts = [optional_text_at(path, line, name, value_at(row, columns.get(name))) for name in ("predicted", "expected")]
    stored = (None if text is None else storable(text) for text in texts)  # Polars holds no lone surrogate
    time = value_at(row, columns.get("eval_time_ms"))
    return (line, storable(item_id), *stored, count_at(path, line, "eval_time_ms", time, **MILLISECONDS))


def _own_keys(row: Mapping[str, Any], columns: Mapping[str, str]) -> str | None:
    read = columns.values()
    own = {name: value for name, value in row.items() if name not in read}
    if not own:
        return None
    try:
        return canonical_json(own).decode()
    except ValueError:  # beside a lone surrogate, a NaN is not written as null
        return canonical_json(without_nonfinite(own)).decode()
