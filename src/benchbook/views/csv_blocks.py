"""Many rows at once as CSV, by Polars: the same bytes as `csv_files` writes row by row, at a tenth of the time.

A text that might be a formula, or has something invisible, is made inert by the rule that stands there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from benchbook.text import visible
from benchbook.unseen import SUSPECT
from benchbook.views.csv_files import LINE_END, cell, inert

if TYPE_CHECKING:
    import polars

# Most texts begin with a letter or a digit, behind which no spreadsheet sees a formula; the others are looked at.
_LOOKED_AT = rf"^[^\p{{L}}\p{{N}}]|{SUSPECT}"
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
    cells = pl.DataFrame([_cells(frame[name], form).alias(str(place)) for place, name in enumerate(columns)])
    lines = cells.select(pl.concat_str(pl.all(), separator=",") + LINE_END).to_series()
    data: bytes = lines.str.join("").cast(pl.Binary).item()
    return data


def csv_head(columns: Sequence[str], form: CsvForm) -> bytes:
    """The header's line."""
    import polars as pl

    names = _texts(pl.Series(columns, dtype=pl.String), form)
    return (",".join(names) + LINE_END).encode()


def _cells(values: polars.Series, form: CsvForm) -> polars.Series:
    """A column as cells; a null is an empty one."""
    import polars as pl

    dtype = values.dtype
    if dtype == pl.String or isinstance(dtype, pl.Enum | pl.Categorical):
        found = _texts(values.cast(pl.String), form)
    elif dtype == pl.Boolean:
        found = values.cast(pl.String).replace({"true": form.yes, "false": form.no})
    elif dtype.is_integer():
        found = values.cast(pl.String)
    elif dtype.is_float():
        found = _numbers(values)
    elif dtype == pl.List(pl.String) and not values.list.contains(None, nulls_equal=True).any():
        found = _texts(values.list.join("; "), form)
    else:
        found = pl.Series([cell(value) for value in values.to_list()], dtype=pl.String)
    return found.fill_null("")


def _texts(values: polars.Series, form: CsvForm) -> polars.Series:
    import polars as pl

    def where(condition: polars.Series, change: Callable[[str], str]) -> polars.Series:
        places = condition.arg_true()
        if places.is_empty():
            return values
        changed = pl.Series([change(value) for value in values.gather(places).to_list()], dtype=pl.String)
        return values.clone().scatter(places, changed)

    values = where(values.str.contains(_LOOKED_AT), lambda text: visible(inert(text)))
    quoted = pl.concat_str(pl.lit('"'), values.str.replace_all('"', '""', literal=True), pl.lit('"'))
    if form.quotes_all:
        return pl.select(quoted).to_series()
    needs = values.str.contains(_QUOTED_FOR)
    if not needs.any():
        return values
    return pl.select(pl.when(needs).then(quoted).otherwise(values)).to_series()


def _numbers(values: polars.Series) -> polars.Series:
    """Numbers as Python writes them."""
    import polars as pl

    size = values.abs()
    plain = (size == 0) | ((size >= _LEAST_PLAIN) & (size < _MOST_PLAIN))
    found = values.cast(pl.String)
    places = (~plain).fill_null(value=False).arg_true()
    if places.is_empty():
        return found
    return found.scatter(places, pl.Series([repr(one) for one in values.gather(places).to_list()], dtype=pl.String))
