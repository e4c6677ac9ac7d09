"""Each item's way through three runs or more."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from benchbook.comparison.leaderboard import History, history
from benchbook.comparison.pairing import COMPARED
from benchbook.server.compared_items import item_list
from benchbook.server.comparison_types import HistoryPage, HistoryRow, HistorySummary
from benchbook.server.comparisons import compared, found_runs, key_of
from benchbook.server.operations import Request
from benchbook.server.questions import HistoryAsked
from benchbook.server.row_lists import RowList, all_of, asked_for, contains
from benchbook.server.samples import CUT

if TYPE_CHECKING:
    import polars


def history_summary(call: Request) -> HistorySummary:
    found, _ = _history(call, "history-summary")
    return HistorySummary(
        by=found.by,
        runs=found.runs,
        counts=dict(found.counts),
        n_right=found.n_right,
        n_left_out=found.n_left_out,
    )


def history_page(call: Request) -> HistoryPage:
    _, rows = _history(call, "history")
    page = rows.page(call.query, _history_condition(call.query), None, _history_columns())
    places = _places_in_list(call, [row["item_id"] for row in page.rows])
    items = tuple(HistoryRow(**row, item=places.get(row["item_id"])) for row in page.rows)
    return HistoryPage(items=items, n=page.n, next_cursor=page.next_cursor)


def _places_in_list(call: Request, item_ids: Sequence[str]) -> dict[str, int]:
    """The positions of some items in the list of the first two runs, by their ids: both have each of them."""
    import polars as pl

    services = call.services
    frame = item_list(services, [services.finished(name) for name in call.query.run[:2]]).frame
    found = frame.filter(pl.col("item_id").is_in(item_ids) & pl.col("class").is_in(COMPARED))
    return dict(found.select("item_id", "position").iter_rows())


def _history(call: Request, what: str) -> tuple[History, RowList]:
    runs = found_runs(call, what)
    services, by = call.services, call.query.by

    def make() -> tuple[History, RowList]:
        found = history([compared(services, one) for one in runs], by=by)
        return found, RowList(found.items.with_row_index("position"), f"{by} {' '.join(key_of(runs))}")

    return services.kept.get(("history", by, *key_of(runs)), make, lambda made: made[1].n_bytes)


def _history_columns() -> list[Any]:
    import polars as pl

    return [pl.all().exclude("prompt", "expected"), pl.col("prompt").str.slice(0, CUT)]


def _history_condition(wanted: HistoryAsked) -> polars.Expr | None:
    found = asked_for(wanted, {"history": "history"})
    if wanted.text:
        found.append(contains(wanted.text, "item_id", "prompt", "expected"))
    return all_of(found)
