"""The list of runs beyond a page: its totals, what it can be filtered by, and all that fit as a file."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from itertools import chain
from types import NoneType
from typing import Any, get_args, get_origin, get_type_hints

import msgspec
from msgspec import structs

from benchbook.catalog.queries import MOST_ROWS
from benchbook.catalog.totals import FilterValues, filter_values, totals
from benchbook.evaluators.exact import as_float
from benchbook.server.operations import Request, Stream, file_stream
from benchbook.server.runs import filter_of, listed, run_answer
from benchbook.server.types import RunRow, RunTotalsAnswer, encoded
from benchbook.views.csv_files import csv_report

_COLUMNS = tuple(name for name in RunRow.__struct_fields__ if name != "loss")  # which is drawn, and no number


def get_totals(call: Request) -> RunTotalsAnswer:
    found = structs.asdict(totals(call.services.catalog, filter_of(call.services, call.query)))
    return RunTotalsAnswer(cost_usd=as_float(found.pop("cost_nano")), **found)


def get_filters(call: Request) -> FilterValues:
    call.services.marks.index()
    return filter_values(call.services.catalog)


def run_lines(call: Request) -> Stream:
    return Stream((b"".join(encoded(row) + b"\n" for row in part) for part in _parts(call)), "runs.ndjson")


def run_csv(call: Request) -> Stream:
    """The runs as CSV (RFC 4180). No cell is a formula to a spreadsheet; invisible characters are escaped."""
    rows = chain.from_iterable(_parts(call))
    return Stream((line.encode("utf-8") for line in csv_report(rows, _COLUMNS)), "runs.csv")


def run_parquet(call: Request) -> Stream:
    import polars as pl

    types = {bool: pl.Boolean, int: pl.Int64, float: pl.Float64, tuple: pl.List(pl.String)}
    hints = get_type_hints(RunRow)
    schema: dict[str, Any] = {name: types.get(_kind_of(hints[name]), pl.String) for name in _COLUMNS}
    frame = pl.DataFrame(list(chain.from_iterable(_parts(call))), schema=schema)
    file = tempfile.TemporaryFile(prefix="benchbook-runs-")  # noqa: SIM115 - closed when it was sent
    frame.write_parquet(file, compression="zstd")
    return file_stream(file, "runs.parquet", file.tell())


def _kind_of(hint: Any) -> Any:
    """The type of a field that is not null: `int` of `int | None`, `tuple` of `tuple[str, ...]`."""
    kind = next((one for one in get_args(hint) if one is not NoneType), hint) if NoneType in get_args(hint) else hint
    return get_origin(kind) or kind


def _parts(call: Request) -> Iterator[list[dict[str, Any]]]:
    """The rows that fit, in their order, part by part: a run that begins meanwhile moves none of the others."""
    after: str | None = None
    while True:
        page = listed(call.services, call.query, limit=MOST_ROWS, after=after)
        rows = (msgspec.to_builtins(run_answer(call.services, row, with_loss=False)) for row in page.runs)
        yield [{name: row[name] for name in _COLUMNS} for row in rows]
        after = page.next_cursor
        if after is None:
            return
