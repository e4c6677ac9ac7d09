"""Downloads of a comparison: the items that fit a filter as JSON lines, CSV or Parquet, and the report."""

from __future__ import annotations

import csv
import io
import tempfile
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import msgspec

from benchbook.library.comparing import compare_records
from benchbook.server.comparisons import found_runs, item_condition, item_list
from benchbook.server.operations import Bytes, Request, Stream, pieces_of
from benchbook.text import visible
from benchbook.views.csv_files import inert

if TYPE_CHECKING:
    import polars

_AT_ONCE = 2_000


def item_lines(call: Request) -> Stream:
    parts, names = _parts(call, "items-ndjson")

    def lines() -> Iterator[bytes]:
        for part in parts:
            yield msgspec.json.Encoder().encode_lines(part.to_dicts())

    return Stream(lines(), f"{names}.ndjson")


def item_csv(call: Request) -> Stream:
    """The items as CSV (RFC 4180). No cell is a formula to a spreadsheet; invisible characters are escaped."""
    parts, names = _parts(call, "items-csv")

    def lines() -> Iterator[bytes]:
        header = True
        for part in parts:
            text = io.StringIO(newline="")
            writer = csv.writer(text, lineterminator="\r\n")
            if header:
                writer.writerow(part.columns)
                header = False
            writer.writerows([_cell(value) for value in row] for row in part.iter_rows())
            yield text.getvalue().encode("utf-8")

    return Stream(lines(), f"{names}.csv")


def _cell(value: Any) -> Any:
    return visible(inert(value)) if isinstance(value, str) else value


def item_parquet(call: Request) -> Stream:
    frame, names = _chosen(call, "items-parquet")
    file = tempfile.TemporaryFile(prefix="benchbook-items-")  # noqa: SIM115 - closed when it was sent
    frame.write_parquet(file, compression="zstd")
    length = file.tell()
    file.seek(0)

    return Stream(pieces_of(file), f"{names}.parquet", length)


def report(call: Request) -> Bytes:
    """The report of `benchbook compare`, as a file: its styles are inline, which this server's pages may not have."""
    runs = found_runs(call, "report")
    page = compare_records([found.record for found in runs]).to_html()
    call.headers["content-disposition"] = 'attachment; filename="comparison.html"'
    return Bytes(page.encode("utf-8"))


def _parts(call: Request, what: str) -> tuple[Iterator[polars.DataFrame], str]:
    frame, names = _chosen(call, what)
    return (frame[start : start + _AT_ONCE] for start in range(0, max(len(frame), 1), _AT_ONCE)), names


def _chosen(call: Request, what: str) -> tuple[polars.DataFrame, str]:
    runs = found_runs(call, what)
    frame = item_list(call.services, runs).frame.drop("change")
    condition = item_condition(call.query)
    names = "-".join(found.row.record_path for found in runs)
    return (frame if condition is None else frame.filter(condition)), f"items-{names}"
