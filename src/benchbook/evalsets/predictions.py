"""Per-item predictions that were made elsewhere, read from JSONL, CSV and Parquet (SPEC A5)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from benchbook.canonical import canonical_json
from benchbook.errors import InputError, UsageError
from benchbook.evalsets.items import Item, KnownIds, other_expected
from benchbook.evalsets.parquet import ParquetError, ParquetFile
from benchbook.evalsets.table_columns import (
    EXPECTED,
    ITEM_ID,
    ColumnFinder,
    KnownColumn,
    count_at,
    id_at,
    optional_text_at,
    output_column,
    value_at,
)
from benchbook.evalsets.tables import TableForm, read_table, table_form, without_nonfinite
from benchbook.text import quoted, storable

PREDICTION_COLUMNS: Mapping[str, KnownColumn] = {
    "item_id": ITEM_ID,
    "predicted": output_column("predicted"),
    "expected": EXPECTED,
    "eval_time_ms": KnownColumn(("eval_time_ms",)),
}


# For `eval_time_ms`, which is never summed, so that any value of a column is kept.
_MOST_MS = 2**63 - 1
_MS_WORDS = "whole milliseconds"

_TEXT_TYPES = (pl.String, pl.Categorical, pl.Enum, pl.Null)


class ForeignParquet:
    """A Parquet file of somebody else, of which whole columns are read."""

    def __init__(self, file: ParquetFile) -> None:
        self._file = file
        self.schema = file.schema
        self.n_rows = file.n_rows

    def select(self, asked: Mapping[str, pl.Expr]) -> pl.DataFrame:
        """The values of these, by their names."""
        columns = [expression.alias(name) for name, expression in asked.items()]
        empty = self.schema.to_frame().select(columns)
        return pl.concat([empty, *self._file.frames(columns)])

    def frames(self, asked: Mapping[str, pl.Expr]) -> Iterator[pl.DataFrame]:
        """The same, some rows at a time."""
        return self._file.frames([expression.alias(name) for name, expression in asked.items()])


@contextmanager
def foreign_parquet(path: Path) -> Iterator[ForeignParquet]:
    """The file, to be read within the block.

    Raises: InputError, UsageError for whatever keeps the file from being read.
    """
    try:
        yield ForeignParquet(ParquetFile(path))
    except (ParquetError, pl.exceptions.PolarsError) as error:
        raise InputError(path, found=f"no readable Parquet ({error})", expected="a Parquet file") from None
    except OSError as error:
        raise UsageError(f"{path}: can't be read ({error.strerror or error})") from None


def read_parquet_columns(
    path: Path, given: Mapping[str, str], wanted: pl.Schema, *, own_keys: bool = False
) -> tuple[dict[str, str], pl.DataFrame]:
    """`(columns, frame)`: the file's name by ours, and a frame of `wanted`, whose `line` is the row's number from 1.

    Raises: InputError for a column of another type, and a row without an id; UsageError.
    """
    with foreign_parquet(path) as file:
        schema = file.schema
        columns = _parquet_columns(path, schema, given)
        asked = {ours: _column(schema, theirs) for ours, theirs in columns.items()}
        if own_keys and (others := [name for name in schema if name not in columns.values()]):
            _refuse_unwritable(path, schema, others)
            asked["own_keys"] = pl.struct(others).struct.json_encode()
        rows = file.select(asked)
    return columns, _as_wanted(path, rows.with_row_index("line", offset=1), columns, wanted)


def _parquet_frames(path: Path, given: Mapping[str, str], wanted: pl.Schema) -> Iterator[pl.DataFrame]:
    """The same rows, some at a time. Of several faults the one that is met first need not be the file's first."""
    with foreign_parquet(path) as file:
        columns = _parquet_columns(path, file.schema, given)
        line = 1
        for rows in file.frames({ours: _column(file.schema, theirs) for ours, theirs in columns.items()}):
            yield _as_wanted(path, rows.with_row_index("line", offset=line), columns, wanted)
            line += len(rows)


def _parquet_columns(path: Path, schema: pl.Schema, given: Mapping[str, str]) -> dict[str, str]:
    finder = ColumnFinder(path, PREDICTION_COLUMNS, given, "--columns")
    finder.note_names(None, _names(schema))
    return finder.finish()


def _as_wanted(path: Path, rows: pl.DataFrame, columns: Iterable[str], wanted: pl.Schema) -> pl.DataFrame:
    for name in columns:
        rows = _numbers(path, rows, name) if wanted[name] == pl.Int64 else _texts(path, rows, name)
    lacking = [pl.lit(None, dtype).alias(name) for name, dtype in wanted.items() if name not in rows.columns]
    frame = rows.with_columns(lacking).select(wanted.names()).cast(wanted)
    _refuse_first(path, frame, "item_id", pl.col("item_id").is_null(), "a text")
    return frame


def _texts(path: Path, rows: pl.DataFrame, name: str) -> pl.DataFrame:
    """The column as texts. Ids may be whole numbers; a column of NaN alone, as pandas writes nulls, is null."""
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
    """The column as whole numbers; floats count if they are whole, and NaN is null."""
    column, dtype = pl.col(name), rows.schema[name]
    if dtype.is_float():
        rows = rows.with_columns(column.fill_nan(None))
        _refuse_first(path, rows, name, column.is_infinite(), f"{_MS_WORDS}, or nothing")
        _refuse_first(path, rows, name, column != column.floor(), f"{_MS_WORDS}, or nothing")
    elif not (dtype.is_integer() or dtype == pl.Null):
        raise InputError(path, field=name, found=f"a column of {dtype}", expected=_MS_WORDS)
    if dtype != pl.Null:
        _refuse_first(path, rows, name, column < 0, f"{_MS_WORDS}, or nothing")
        _refuse_first(path, rows, name, column.cast(pl.Int64, strict=False).is_null() & column.is_not_null(), _MS_WORDS)
    return rows.with_columns(column.cast(pl.Int64))


def _refuse_unwritable(path: Path, schema: pl.Schema, names: list[str]) -> None:
    """Refuse columns with bytes: own keys are kept as JSON, which has none, and Polars would end the process."""
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
    """Raises: InputError for the first row for which `is_wrong` holds."""
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


PREDICTION_SCHEMA = pl.Schema(
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
    """The predictions in a file. `columns` maps our names to the file's, and is to be recorded.

    `frame` has a row for each of the file's: `line` (for Parquet the row's number, from 1), `item_id`, and `predicted`,
    `expected`, `eval_time_ms`, null if the file has no value. `own_keys` holds the row's other fields (SPEC A5) as the
    text of a JSON object; null if they were not asked for, or there are none.
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
    """Read JSONL (plain rows, or the trace form of Tunix), CSV or Parquet; by default the name gives the form.

    `columns` maps our names to the file's if those are not known ones; `own_keys`: keep a row's other fields. In a file
    without rows every prediction is missing (A3).

    Raises: InputError naming the line; ConfigError for `columns` that do not fit; UsageError.
    """
    path = Path(path)
    form = form or table_form(path)
    if form == "parquet":
        found, frame = read_parquet_columns(path, columns or {}, PREDICTION_SCHEMA, own_keys=own_keys)
    else:
        found, frame = _read_rows(path, form, columns or {}, own_keys=own_keys)
    return Predictions(path, form, found, frame)


def prediction_frames(path: str | Path, *, columns: Mapping[str, str] | None = None) -> Iterator[pl.DataFrame]:
    """The frame of `read_predictions`, up to 65,536 rows at a time.

    Raises as it does, once it comes to the fault, which for Parquet with several need not be the same one.
    """
    path = Path(path)
    if (form := table_form(path)) == "parquet":
        yield from _parquet_frames(path, columns or {}, PREDICTION_SCHEMA)
        return
    finder = ColumnFinder(path, PREDICTION_COLUMNS, columns or {}, "--columns")
    yield from _row_frames(path, form, finder, own_keys=False)
    finder.finish()


def _read_rows(
    path: Path, form: TableForm, given: Mapping[str, str], *, own_keys: bool
) -> tuple[dict[str, str], pl.DataFrame]:
    finder = ColumnFinder(path, PREDICTION_COLUMNS, given, "--columns")
    frames = [PREDICTION_SCHEMA.to_frame(), *_row_frames(path, form, finder, own_keys=own_keys)]
    return finder.finish(), pl.concat(frames)


def _row_frames(path: Path, form: TableForm, finder: ColumnFinder, *, own_keys: bool) -> Iterator[pl.DataFrame]:
    batch: list[tuple[Any, ...]] = []
    for line, row in read_table(path, form):
        finder.note(line, row)
        columns = finder.columns
        batch.append((*_prediction(path, line, row, columns), _own_keys(row, columns) if own_keys else None))
        if len(batch) == _BATCH:
            yield pl.DataFrame(batch, PREDICTION_SCHEMA, orient="row")
            batch.clear()
    yield pl.DataFrame(batch, PREDICTION_SCHEMA, orient="row")


def _prediction(path: Path, line: int, row: Mapping[str, Any], columns: Mapping[str, str]) -> tuple[Any, ...]:
    item_id = id_at(path, line, "item_id", value_at(row, columns["item_id"]))
    texts = [optional_text_at(path, line, name, value_at(row, columns.get(name))) for name in ("predicted", "expected")]
    stored = (None if text is None else storable(text) for text in texts)  # Polars can't hold a lone surrogate
    time = value_at(row, columns.get("eval_time_ms"))
    return (line, storable(item_id), *stored, count_at(path, line, "eval_time_ms", time, most=_MOST_MS, what=_MS_WORDS))


def _own_keys(row: Mapping[str, Any], columns: Mapping[str, str]) -> str | None:
    read = columns.values()
    own = {name: value for name, value in row.items() if name not in read}
    if not own:
        return None
    try:
        return canonical_json(own).decode()
    except ValueError:  # with a lone surrogate about, NaN is not written as null
        return canonical_json(without_nonfinite(own)).decode()


_ITEM_FIELDS = ("section", "category", "difficulty", "answer_format")
_NAMED_LINES = 10


def items_frame(items: Iterable[Item]) -> pl.DataFrame:
    """The items in order: `item_id`, `expected`, section, category, difficulty, `answer_format`."""
    rows = [(item.id, item.expected_answer, *(getattr(item, name) for name in _ITEM_FIELDS)) for item in items]
    return pl.DataFrame(rows, dict.fromkeys(("item_id", "expected", *_ITEM_FIELDS), pl.String), orient="row")


def prediction_faults(predictions: Predictions, items: pl.DataFrame) -> list[InputError]:
    """The faults of predictions that don't fit the eval set, in the order of the lines.

    These are an id that no item has or that is repeated, and an expected answer that is not exactly the item's.
    `items` comes from `items_frame`.
    """
    known = items.select("item_id", wanted="expected", is_item=pl.lit(value=True))
    rows = predictions.frame.join(known, on="item_id", how="left", maintain_order="left")
    other = ~_same_expected("expected", "wanted")
    known_ids = KnownIds(items["item_id"])
    faulty = rows.filter(pl.col("is_item").is_null() | pl.col("item_id").is_duplicated() | other)
    faulty = faulty.with_columns(first=pl.col("line").min().over("item_id"), other=other)
    faults = (_fault(predictions, row, known_ids) for row in faulty.iter_rows(named=True))
    return [fault for fault in faults if fault is not None]


def align_predictions(predictions: Predictions, items: pl.DataFrame) -> pl.DataFrame:
    """`items` in order, with `predicted`, `eval_time_ms` and `own_keys` beside them.

    These are null for an item without a prediction.

    Raises: InputError for the first of `prediction_faults`, with the lines of the others.
    """
    found = predictions.frame.rename({"expected": "theirs"})
    rows = items.join(found, on="item_id", how="left", maintain_order="left")
    # One join shows whether all is well, as it nearly always is; only if not are the faults looked for.
    all_fit = len(rows) == len(items) and rows["line"].count() == len(found)
    if not all_fit or not rows.select(_same_expected("theirs", "expected").all()).item():
        raise _first_of(prediction_faults(predictions, items))
    return rows.drop("line", "theirs")


def _same_expected(theirs: str, ours: str) -> pl.Expr:
    """True for rows whose expected answer is the item's, or is missing in the file."""
    return pl.col(theirs).is_null() | pl.col(theirs).eq_missing(pl.col(ours))


def _fault(predictions: Predictions, row: Mapping[str, Any], known: KnownIds) -> InputError | None:
    path, line, item_id = predictions.path, row["line"], quoted(row["item_id"])
    if row["is_item"] is None:
        return known.unknown(path, line, row["item_id"])
    if line != row["first"]:
        found = f"{item_id} again (first on line {row['first']})"
        return InputError(path, line=line, field="item_id", found=found, expected="one prediction an item")
    if row["other"]:
        return other_expected(path, line, row["item_id"], row["expected"], row["wanted"] or "")
    return None  # the first of several lines with one id


def _first_of(faults: list[InputError]) -> InputError:
    first, others = faults[0], faults[1:]
    if not others:
        return first
    lines = ", ".join(str(fault.line) for fault in others[:_NAMED_LINES])
    lines += ", …" if len(others) > _NAMED_LINES else ""
    more = "one more fault: line" if len(others) == 1 else f"{len(others)} more faults: lines"
    if first.expected is None:
        found = f"{first.found}. And {more} {lines}"
        return InputError(first.path, line=first.line, field=first.field, found=found)
    expected = f"{first.expected}. And {more} {lines}"
    return InputError(first.path, line=first.line, field=first.field, found=first.found, expected=expected)
