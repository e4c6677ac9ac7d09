"""Many rows at once as CSV, by Polars: the bytes that `csv_files` writes row by row, at a tenth of the time.

A text that might be a formula, or has something invisible, is made inert by the rule that stands there.
"""

from __future__ import annotations

from collections.abc import Sequence
from io import BytesIO
from typing import TYPE_CHECKING, NamedTuple

from benchbook.text import visible
from benchbook.unseen import SUSPECT
from benchbook.views.csv_files import LINE_END, cell, inert

if TYPE_CHECKING:
    import polars

# Most texts begin with a letter or a digit, behind which no spreadsheet sees a formula; the others are looked at.
_LOOKED_AT = rf"^[^\p{{L}}\p{{N}}]|{SUSPECT}"
_WRITTEN = "cell"
_QUOTED_FOR = '[,"\r\n]'
_LEAST_PLAIN, _MOST_PLAIN = 1e-4, 1e15  # between them Python and Polars write a number alike


class CsvForm(NamedTuple):
    """How cells are written: every text in quotes, so that an empty one is no null, or only where it needs them."""

    quotes_all: bool
    yes: str
    no: str


SAMPLES = CsvForm(quotes_all=True, yes="true", no="false")
ITEMS = CsvForm(quotes_all=False, yes="True", no="False")


def csv_block(frame: polars.DataFrame, columns: Sequence[str], form: CsvForm) -> bytes:
    """The lines of a table's rows, without a header."""
    import polars as pl

    if frame.is_empty():
        return b""
    frame = _with_odd_cells_written(frame.select(columns))
    if form.quotes_all and all(map(_is_written_alike, frame.dtypes)):
        written = BytesIO()
        frame.write_csv(written, include_header=False, quote_style="non_numeric", line_terminator=LINE_END)
        return written.getvalue()
    cells = [_cell(pl.col(name), dtype, form) for name, dtype in frame.schema.items()]
    ends = pl.repeat(LINE_END, pl.len())  # a column as long as the table, where all others may be nothing but nulls
    lines = frame.select((pl.concat_str(cells, separator=",") + ends).str.join(""))
    data: bytes = lines.to_series().cast(pl.Binary).item()
    return data


def _is_written_alike(dtype: polars.DataType) -> bool:
    """True for a column that Polars itself writes as `SAMPLES` has it, in half the time: it has quotes for truths."""
    import polars as pl

    return dtype.is_numeric() or dtype == pl.Null or isinstance(dtype, pl.String | pl.Enum | pl.Categorical)


def csv_head(columns: Sequence[str], form: CsvForm) -> bytes:
    """The header's line."""
    import polars as pl

    names = {str(place): [name] for place, name in enumerate(columns)}
    return csv_block(pl.DataFrame(names, dict.fromkeys(names, pl.String)), list(names), form)


def _cell(value: polars.Expr, dtype: polars.DataType, form: CsvForm) -> polars.Expr:
    """A column's cells, where none is odd any more; a null is an empty one."""
    import polars as pl

    if dtype == pl.Null:
        return pl.lit("")
    if isinstance(dtype, pl.Struct):  # a cell that is written already
        return value.struct.field(_WRITTEN)
    found: polars.Expr
    if dtype == pl.Boolean:
        found = pl.when(value.is_not_null()).then(pl.when(value).then(pl.lit(form.yes)).otherwise(pl.lit(form.no)))
    elif dtype.is_numeric():
        found = value.cast(pl.String)
    else:
        text = value.list.join("; ") if isinstance(dtype, pl.List) else value.cast(pl.String)
        found = pl.format('"{}"', text.str.replace_all('"', '""', literal=True))
        if not form.quotes_all:
            found = pl.when(text.str.contains(_QUOTED_FOR)).then(found).otherwise(text)
    return found.fill_null("")


def _with_odd_cells_written(frame: polars.DataFrame) -> polars.DataFrame:
    """The rows with those texts made inert that need it; a column that Polars writes otherwise than Python stands in
    the field of a struct, as cells."""
    import polars as pl

    odd = frame.select(_is_odd(pl.col(name), dtype) for name, dtype in frame.schema.items())
    for name, is_odd in odd.row(0, named=True).items():
        column = frame[name]
        if column.null_count() == len(column):
            frame = frame.with_columns(pl.lit(None, pl.Null).alias(name))
        elif is_odd and column.dtype == pl.String:
            places = column.str.contains(_LOOKED_AT).arg_true()
            inert_texts = [visible(inert(text)) for text in column.gather(places).to_list()]
            frame = frame.with_columns(column.clone().scatter(places, pl.Series(inert_texts, dtype=pl.String)))
        elif is_odd:
            cells = pl.Series(_WRITTEN, [cell(value) for value in column.to_list()], dtype=pl.String)
            frame = frame.with_columns(cells.to_frame().to_struct(name))
    return frame


def _is_odd(value: polars.Expr, dtype: polars.DataType) -> polars.Expr:
    """True where some cell of a column needs more than quotes."""
    import polars as pl

    if dtype == pl.String:
        return value.str.contains(_LOOKED_AT).any()
    if dtype.is_float():
        size = value.abs()
        return (~((size == 0) | ((size >= _LEAST_PLAIN) & (size < _MOST_PLAIN)))).any().alias(value.meta.output_name())
    if dtype == pl.List(pl.String):  # each text of it may start what a spreadsheet runs, but the first alone does
        joined = value.list.join("; ", ignore_nulls=False)
        return (joined.str.contains(_LOOKED_AT) | (joined.is_null() & value.is_not_null())).any()
    is_plain = dtype == pl.Boolean or dtype.is_integer() or isinstance(dtype, pl.Enum | pl.Categorical | pl.Null)
    return pl.lit(not is_plain).alias(value.meta.output_name())
