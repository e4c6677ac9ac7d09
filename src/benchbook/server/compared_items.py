"""The items of two runs side by side: the list, its filters and orders."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from benchbook.comparison.compared import compare, items_of_pair
from benchbook.comparison.items import ComparedRun, compared_columns
from benchbook.comparison.measures import CONTAINED, PASSING, SCORE
from benchbook.comparison.pairing import common_metrics, paired_items
from benchbook.comparison.records import RowsOfItems, compared_part, rows_of_items
from benchbook.evaluators.contract import ComparedMetric
from benchbook.server.comparisons import compared, found_runs, key_of
from benchbook.server.item_numbers import ItemNumber, Numbers, number_named, numbers_of
from benchbook.server.item_types import ItemRow, ItemsPage
from benchbook.server.operations import Request
from benchbook.server.questions import ItemsAsked, ItemsFilter
from benchbook.server.row_lists import SLICES, Page, RowList, all_of, asked_for, page_of_parts
from benchbook.server.samples import CUT
from benchbook.server.services import FoundRun, Services

if TYPE_CHECKING:
    import polars

_COLUMNS = {**SLICES, "item_class": "class", "reason_a": "miss_reason_a", "reason_b": "miss_reason_b"}
_ITEM_TEXTS = ("item_id", "prompt", "expected", "text_a", "text_b")


def list_items(call: Request) -> ItemsPage:
    question, runs = call.query, found_runs(call, "items")
    services = call.services
    page = _page_before_all(services, runs, question) if _asks_for_all(question) else None
    if page is None:
        rows = item_list(services, runs)
        numbers = numbers_of(runs, rows.frame)
        condition, sort = item_condition(question, numbers, rows), _sort(question, numbers)
        page = rows.page(question, condition, sort, row_columns(numbers, CUT))
    items = tuple(ItemRow(**item_values(row)) for row in page.rows)
    return ItemsPage(items=items, n=page.n, next_cursor=page.next_cursor)


def _asks_for_all(question: ItemsAsked) -> bool:
    """True if a question asks for the list as it is, without a filter or an order."""
    paging = ("run", "limit", "offset", "cursor")
    default = ItemsAsked(run=question.run)
    names = (name for name in question.__struct_fields__ if name not in paging)
    return all(getattr(question, name) == getattr(default, name) for name in names)


def _sort(question: ItemsAsked, numbers: Numbers) -> str | polars.Expr | None:
    match question.sort:
        case "position":
            return None
        case "a" | "b" | "difference":
            found: polars.Expr = getattr(number_named(numbers, question.metric), question.sort)
            return found
        case _:
            return question.sort


# ── the list ─────────────────────────────────────────────────────────────────────────────────────────────────


def item_list(services: Services, runs: Sequence[FoundRun]) -> RowList:
    """The items of two runs, side by side."""
    known: RowList | None = services.kept.peek(("items", *key_of(runs)))
    return known or make_item_list(services, runs, *(compared(services, found) for found in runs))


def make_item_list(services: Services, runs: Sequence[FoundRun], a: ComparedRun, b: ComparedRun) -> RowList:
    """The same of runs that are at hand."""

    def make() -> RowList:
        if a.spec.partition("@")[0] != b.spec.partition("@")[0]:
            compare(a, b)  # says why they can't be compared
        items, _ = items_of_pair(a, b)
        return RowList(_listed(items, 0), _list_name(runs))

    return services.kept.get(("items", *key_of(runs)), make, lambda rows: rows.n_bytes)


def _page_before_all(services: Services, runs: Sequence[FoundRun], question: ItemsAsked) -> Page | None:
    """A page of the unfiltered list, made of its own rows alone: possible where two runs have the same items, row by
    row. None where the whole list is at hand already, or has to be made.
    """
    if services.kept.peek(("items", *key_of(runs))) is not None:
        return None
    a, b = (known_rows(services, found) for found in runs)
    if a is None or a != b:
        return None

    def part(first: int, end: int) -> polars.DataFrame:
        left, right = (compared_part(found.record, a.evaluator, first, end) for found in runs)
        columns = compared_columns(a.evaluator)
        items, _ = paired_items(left, right, common_metrics(columns, columns))
        listed = _listed(items, first)
        return listed.select(row_columns(numbers_of(runs, listed), CUT))

    return page_of_parts(_list_name(runs), question, a.n_items, part)


def known_rows(services: Services, found: FoundRun) -> RowsOfItems | None:
    """The answer of `rows_of_items` for a run: where two have the same, their items are alike row by row."""
    key = ("rows of items", found.name)
    return services.kept.get(key, lambda: rows_of_items(found.record), lambda _: 300)


def _listed(items: polars.DataFrame, first: int) -> polars.DataFrame:
    """Items with their positions, counted from `first`, and with the column that they are sorted by."""
    import polars as pl

    change = (pl.col("score_nano_b") - pl.col("score_nano_a")).abs().neg()
    found = items.with_columns(change=pl.when(pl.col("class") == "expected_changed").then(None).otherwise(change))
    return found.with_row_index("position", first)


def _list_name(runs: Sequence[FoundRun]) -> str:
    return " ".join(key_of(runs))


# ── its filters ──────────────────────────────────────────────────────────────────────────────────────────────


def item_condition(wanted: ItemsFilter, numbers: Numbers, rows: RowList) -> polars.Expr | None:
    """The condition that a filter sets on the rows of that list; None where all of them fit.

    Raises: ProblemError (422) for a metric that the runs don't have.
    """
    import polars as pl

    found = asked_for(wanted, _COLUMNS)
    if wanted.reason:
        reasons = [pl.col(name).eq_missing(pl.lit(wanted.reason)) for name in ("miss_reason_a", "miss_reason_b")]
        found.append(pl.any_horizontal(*reasons))
    if wanted.text_changed is not None:
        found.append(_text_changed() == wanted.text_changed)
    found += _by_number(wanted, numbers)
    if wanted.text:
        found.append(pl.lit(rows.containing(wanted.text, _ITEM_TEXTS)))
    return all_of(found)


def _by_number(wanted: ItemsFilter, numbers: Numbers) -> list[polars.Expr]:
    number = number_named(numbers, wanted.metric)
    found = []
    for values, least, most in (
        (number.a, wanted.a_min, wanted.a_max),
        (number.b, wanted.b_min, wanted.b_max),
        (number.difference, wanted.difference_min, wanted.difference_max),
    ):
        if least is not None:
            found.append(values >= least)
        if most is not None:
            found.append(values <= most)
    match wanted.moved:
        case "lost":
            found.append(number.lost)
        case "won":
            found.append(number.won)
        case "same":
            found.append(number.difference == 0)
        case None:
            pass
    return found


# ── its columns ──────────────────────────────────────────────────────────────────────────────────────────────


def row_columns(numbers: Numbers, cut: int | None) -> list[Any]:
    """The columns of an `ItemRow`; texts have `cut` characters at most."""
    import polars as pl

    texts = [pl.col(name) if cut is None else pl.col(name).str.slice(0, cut) for name in _ITEM_TEXTS[1:]]
    score = numbers[SCORE.name]
    return [
        pl.col("position", "class", "item_id", "section", "category", "difficulty", "miss_reason_a", "miss_reason_b"),
        *texts,
        score.a.alias("score_a"),
        score.b.alias("score_b"),
        score.difference.alias("difference"),
        *_truths("passed", PASSING, numbers),
        *_truths("contained", CONTAINED, numbers),
        _text_changed().alias("text_changed"),
        *(getattr(one, run).alias(f"{one.name}|{run}") for one in _beside(numbers) for run in "ab"),
    ]


def _truths(name: str, metric: ComparedMetric, numbers: Numbers) -> list[Any]:
    """A truth of each item in A and in B under its name in a row; null where these runs have none of that kind."""
    import polars as pl

    there = metric.name in numbers
    return [(pl.col(f"{metric.column}_{run}") if there else pl.lit(None)).alias(f"{name}_{run}") for run in "ab"]


def _beside(numbers: Numbers) -> list[ItemNumber]:
    """The numbers that both runs measured beside the score."""
    return [one for one in numbers.values() if one.name not in (SCORE.name, PASSING.name, CONTAINED.name)]


def item_values(values: dict[str, Any]) -> dict[str, Any]:
    """A row of `row_columns` by the names of an `ItemRow`."""
    found: dict[str, Any] = {"metrics_a": {}, "metrics_b": {}}
    for name, value in values.items():
        metric, bar, run = name.rpartition("|")
        if bar:
            found[f"metrics_{run}"][metric] = value
        else:
            found["item_class" if name == "class" else name] = value
    return found


def _text_changed() -> polars.Expr:
    """True where both runs answered, and not alike."""
    import polars as pl

    return (
        pl.col("text_a").ne_missing(pl.col("text_b"))
        & pl.col("sample_a").is_not_null()
        & pl.col("sample_b").is_not_null()
        & pl.col("unanswered_why_a").is_null()
        & pl.col("unanswered_why_b").is_null()
    )
