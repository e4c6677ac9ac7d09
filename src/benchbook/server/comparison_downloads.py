"""Downloads of a comparison: the items that fit a filter as JSON lines, CSV or Parquet, and the report."""

from __future__ import annotations

import shutil
import tempfile
import weakref
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from benchbook.library.comparing import RunComparison, compare_records
from benchbook.server.by_people import LabelsOfRuns, labels_of, worths_of
from benchbook.server.compared_items import item_condition, item_list
from benchbook.server.comparisons import found_runs
from benchbook.server.item_numbers import numbers_of
from benchbook.server.operations import Bytes, Request, Stream, file_stream
from benchbook.server.services import FoundRun
from benchbook.views.csv_blocks import ITEMS, csv_block, csv_head

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
        for place, part in enumerate(parts):
            head = b"" if place else csv_head(part.columns, ITEMS)
            yield head + csv_block(part, part.columns, ITEMS)

    return Stream(lines(), f"{names}.csv")


def item_parquet(call: Request) -> Stream:
    """The items as a table. It is kept for a while: who reads it by parts asks many times."""
    runs = found_runs(call, "items-parquet")
    key = ("items-parquet", *(found.name for found in runs), call.query)
    made = call.services.kept.get(key, lambda: _TableFile(_chosen(call, runs)), lambda made: made.length)
    return file_stream(made.path.open("rb"), f"{_names(runs)}.parquet", made.length)


class _TableFile:
    """A Parquet file that is removed when nobody has this object any more; whoever has it open can read on."""

    def __init__(self, frame: polars.DataFrame) -> None:
        folder = tempfile.mkdtemp(prefix="benchbook-items-")
        weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        self.path = Path(folder) / "items.parquet"
        frame.write_parquet(self.path, compression="zstd")
        self.length = self.path.stat().st_size


def report(call: Request) -> Bytes:
    """The report of `benchbook compare`, as a file: its styles are inline, which this server's pages may not have."""
    labels = labels_of(call.services, call.query.run)
    runs = found_runs(call, "report", *labels.of_state)
    runs.sort(key=lambda found: found.row.run_id != call.query.baseline)  # the others stay as they are
    page = _report(call, runs, labels).to_html()
    call.headers["content-disposition"] = 'attachment; filename="comparison.html"'
    return Bytes(page.encode("utf-8"))


def _report(call: Request, runs: Sequence[FoundRun], labels: LabelsOfRuns) -> RunComparison:
    """The comparison, as people would judge, too, where labels that are here correct it."""
    found = compare_records([found.record for found in runs], metric=call.query.metric)
    return found.with_worths(worths) if (worths := worths_of(call.services, runs, labels)) else found


def _parts(call: Request, what: str) -> tuple[Iterator[polars.DataFrame], str]:
    runs = found_runs(call, what)
    frame = _chosen(call, runs)
    return (frame[start : start + _AT_ONCE] for start in range(0, max(len(frame), 1), _AT_ONCE)), _names(runs)


def _chosen(call: Request, runs: Sequence[FoundRun]) -> polars.DataFrame:
    rows = item_list(call.services, runs)
    return rows.fitting(item_condition(call.query, numbers_of(runs, rows.frame), rows)).drop("change")


def _names(runs: Sequence[FoundRun]) -> str:
    return "items-" + "-".join(found.row.record_path for found in runs)
