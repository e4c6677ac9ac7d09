"""The items of compared runs: all of them, one whole, and its history over several runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from benchbook.comparison.compared import compare, items_of_pair
from benchbook.comparison.items import ComparedRun
from benchbook.comparison.leaderboard import History, history
from benchbook.comparison.pairing import paired_items
from benchbook.comparison.records import RowsOfItems, compared_part, compared_run, rows_of_items
from benchbook.comparison.text_difference import text_difference
from benchbook.evaluators.exact import NANO
from benchbook.server.comparison_types import (
    HistoryPage,
    HistoryRow,
    HistorySummary,
    ItemDetail,
    ItemRow,
    ItemsPage,
    Segment,
)
from benchbook.server.operations import Request
from benchbook.server.problems import ProblemError
from benchbook.server.questions import HistoryAsked, ItemsAsked, ItemsFilter
from benchbook.server.row_lists import SLICES, Page, RowList, all_of, asked_for, contains, page_of_parts
from benchbook.server.samples import CUT
from benchbook.server.services import FoundRun, Services
from benchbook.text import shorten, storable

if TYPE_CHECKING:
    import polars

_WHOLE = ("item_id_b", "context", "expected_b", "sample_a", "sample_b")
_ITEM_TEXTS = ("item_id", "prompt", "expected", "text_a", "text_b")


# ── the items of two runs ────────────────────────────────────────────────────────────────────────────────────


def list_items(call: Request) -> ItemsPage:
    question, runs = call.query, found_runs(call, "items")
    condition, sort = item_condition(question), _SORTS[question.sort]
    if condition is None and sort is None and question.order == "asc":
        page = _page_before_all(call.services, runs, question)
    else:
        page = None
    if page is None:
        page = item_list(call.services, runs).page(question, condition, sort, _row_columns(CUT))
    return ItemsPage(items=tuple(_item_row(row) for row in page.rows), n=page.n, next_cursor=page.next_cursor)


_SORTS = {"position": None, "item_id": "item_id", "change": "change"}


def get_item(call: Request) -> ItemDetail:
    rows = item_list(call.services, found_runs(call, "item"))
    position = call.number("position")
    if position is None or position >= len(rows.frame):
        raise ProblemError(
            HTTPStatus.NOT_FOUND, f"these runs have {len(rows.frame)} items; there is none of this number"
        )
    row = rows.frame[position].select(*_row_columns(None), *_WHOLE)
    values = row.to_dicts()[0]
    a, b = values["text_a"], values["text_b"]
    segments = None
    if a is not None and b is not None:
        segments = tuple(Segment(op=one.op, text=one.text) for one in text_difference(a, b))
    return ItemDetail(item_class=values.pop("class"), segments=segments, **values)


def _page_before_all(services: Services, runs: Sequence[FoundRun], question: ItemsAsked) -> Page | None:
    """A page of the unfiltered list, made of its own rows alone: possible where two runs have the same items, row by
    row. None where the whole list is at hand already, or has to be made.
    """
    if services.kept.peek(("items", *key_of(runs))) is not None:
        return None
    a, b = (_rows_of_items(services, found) for found in runs)
    if a is None or a != b:
        return None

    def part(first: int, end: int) -> polars.DataFrame:
        left, right = (compared_part(found.record, a.evaluator, first, end) for found in runs)
        items, _ = paired_items(left, right)
        return _listed(items, first)

    return page_of_parts(_list_name(runs), question, a.n_items, part, _row_columns(CUT))


def _rows_of_items(services: Services, found: FoundRun) -> RowsOfItems | None:
    key = ("rows of items", found.name)
    return services.kept.get(key, lambda: rows_of_items(found.record), lambda _: 300)


def item_list(services: Services, runs: Sequence[FoundRun]) -> RowList:
    """The items of two runs, side by side."""
    known: RowList | None = services.kept.peek(("items", *key_of(runs)))
    return known or make_item_list(services, runs, *(compared(services, found) for found in runs))


def make_item_list(services: Services, runs: Sequence[FoundRun], a: ComparedRun, b: ComparedRun) -> RowList:
    def make() -> RowList:
        if a.spec.partition("@")[0] != b.spec.partition("@")[0]:
            compare(a, b)  # says why they can't be compared
        items, _ = items_of_pair(a, b)
        return RowList(_listed(items, 0), _list_name(runs))

    return services.kept.get(("items", *key_of(runs)), make, lambda rows: rows.n_bytes)


def _listed(items: polars.DataFrame, first: int) -> polars.DataFrame:
    """Items with their positions, counted from `first`, and with the column that they are sorted by."""
    import polars as pl

    change = (pl.col("score_nano_b") - pl.col("score_nano_a")).abs().neg()
    found = items.with_columns(change=pl.when(pl.col("class") == "expected_changed").then(None).otherwise(change))
    return found.with_row_index("position", first)


def _list_name(runs: Sequence[FoundRun]) -> str:
    return " ".join(key_of(runs))


def item_condition(wanted: ItemsFilter) -> polars.Expr | None:
    """The condition that a filter sets on rows; None where all of them fit."""
    import polars as pl

    found = asked_for(wanted, SLICES)
    if wanted.item_class:
        found.append(pl.col("class") == wanted.item_class)
    if wanted.reason:
        reasons = [pl.col(name).eq_missing(pl.lit(wanted.reason)) for name in ("miss_reason_a", "miss_reason_b")]
        found.append(pl.any_horizontal(*reasons))
    if wanted.text:
        found.append(contains(wanted.text, *_ITEM_TEXTS))
    return all_of(found)


def _row_columns(cut: int | None) -> list[Any]:
    import polars as pl

    texts = [pl.col(name) if cut is None else pl.col(name).str.slice(0, cut) for name in _ITEM_TEXTS[1:]]
    changed = (
        pl.col("text_a").ne_missing(pl.col("text_b"))
        & pl.col("sample_a").is_not_null()
        & pl.col("sample_b").is_not_null()
        & pl.col("unanswered_why_a").is_null()
        & pl.col("unanswered_why_b").is_null()
    )
    return [
        pl.col("position", "class", "item_id", "section", "category", "difficulty", "miss_reason_a", "miss_reason_b"),
        *texts,
        (pl.col("score_nano_a") / NANO).alias("score_a"),
        (pl.col("score_nano_b") / NANO).alias("score_b"),
        changed.alias("text_changed"),
    ]


def _item_row(values: dict[str, Any]) -> ItemRow:
    return ItemRow(item_class=values.pop("class"), **values)


# ── histories ────────────────────────────────────────────────────────────────────────────────────────────────


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
    return HistoryPage(items=tuple(HistoryRow(**row) for row in page.rows), n=page.n, next_cursor=page.next_cursor)


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


# ── runs ready to be compared ────────────────────────────────────────────────────────────────────────────────


def found_runs(call: Request, what: str) -> list[FoundRun]:
    """The runs that the query names. Raises: ProblemError (404, 409, 422 for one that is named twice)."""
    names = call.query.run
    refuse_twice(names)
    runs = [call.services.finished(name) for name in names]
    call.is_of(*(found.state_id for found in runs), what)
    return runs


def refuse_twice(names: Sequence[str]) -> None:
    """Raises: ProblemError (422) where a run is named twice."""
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise ProblemError(HTTPStatus.UNPROCESSABLE_ENTITY, f"run {shorten(twice, 100)!r} is named twice")


def compared(services: Services, found: FoundRun) -> ComparedRun:
    """A run as a table of items, kept as long as there is room."""

    def make() -> ComparedRun:
        return replace(compared_run(found.record), name=storable(found.row.run_id))

    key = ("compared", found.name)
    return services.kept.get(key, make, lambda run: int(run.items.estimated_size()))


def key_of(runs: Sequence[FoundRun]) -> list[str]:
    return [found.name for found in runs]
