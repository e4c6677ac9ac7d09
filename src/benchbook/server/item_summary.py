"""A filtered list of compared items as pictures that filter show it: bins, a grid, slices, what was lost and won."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple, get_args

import msgspec

from benchbook.comparison.measures import SCORE
from benchbook.comparison.slices import MOST_SLICES
from benchbook.server.compared_items import item_condition, item_list
from benchbook.server.comparisons import found_runs, key_of
from benchbook.server.item_numbers import ItemNumber, Numbers, number_named, numbers_of
from benchbook.server.item_types import Field, ItemBin, ItemCell, ItemMoves, ItemSlice, ItemsSummary, ReasonCount
from benchbook.server.operations import Request
from benchbook.server.questions import ItemsFilter
from benchbook.server.row_lists import RowList

if TYPE_CHECKING:
    import polars

FEW = 12  # numbers that get a bin each; of more, that many stretches of the whole
_FIELDS: tuple[Field, ...] = get_args(Field)
_MOVES = ("lost", "won", "same")


def summarize_items(call: Request) -> ItemsSummary:
    question, runs = call.query, found_runs(call, "items-summary")
    services = call.services

    def make() -> ItemsSummary:
        rows = item_list(services, runs)
        numbers = numbers_of(runs, rows.frame)
        kept_as = ("items unfiltered", *key_of(runs))
        unfiltered = services.kept.get(kept_as, lambda: _unfiltered(rows.frame, numbers), lambda _: 1 << 12)
        return _summary(question, numbers, rows, unfiltered)

    key = ("items summary", *key_of(runs), msgspec.json.encode(question))
    return services.kept.get(key, make, lambda _: 1 << 14)


class _Unfiltered(NamedTuple):
    """The parts of a summary that no filter changes: the reasons, and the numbers that any item has."""

    reasons: tuple[ReasonCount, ...]
    numbers: tuple[ItemNumber, ...]


def _unfiltered(rows: polars.DataFrame, numbers: Numbers) -> _Unfiltered:
    known = rows.select(**{one.name: one.difference.is_not_null().any() for one in numbers.values()}).row(0, named=True)
    shown = tuple(one for one in numbers.values() if one.name == SCORE.name or known[one.name])
    return _Unfiltered(_reasons(rows), shown)


def _summary(question: ItemsFilter, numbers: Numbers, rows: RowList, unfiltered: _Unfiltered) -> ItemsSummary:
    number = number_named(numbers, question.metric)
    condition = item_condition(question, numbers, rows)
    differences = {_difference(one): one.difference for one in numbers.values()}
    chosen = rows.frame.lazy() if condition is None else rows.frame.lazy().filter(condition)
    fitting = chosen.select(*_FIELDS, number.a.alias("a"), number.b.alias("b"), **differences).collect()
    bins_a, bins_b, cells = _grid(fitting)
    return ItemsSummary(
        n=len(fitting),
        metric=number.name,
        differences=_bins(fitting[_difference(number)])[0],
        bins_a=bins_a,
        bins_b=bins_b,
        cells=cells,
        slices=tuple(_slices(fitting, number)),
        moves=_moves(fitting, unfiltered.numbers),
        reasons=unfiltered.reasons,
    )


def _difference(number: ItemNumber) -> str:
    """The name of the column with a number's differences."""
    return f"difference {number.name}"


# ── bins ─────────────────────────────────────────────────────────────────────────────────────────────────────


def _bins(values: polars.Series) -> tuple[tuple[ItemBin, ...], polars.Series]:
    """Bins of all that is known of `values`, and of each value the place of its bin.

    Few numbers get a bin each; of more, the bins are stretches of one width, and 0 has one of its own where numbers lie
    on both sides of it: it is what most differences are.
    """
    import polars as pl

    values = values.fill_nan(None)
    single = values.drop_nulls().unique().sort()
    if len(single) <= FEW:
        edges = [(value, value) for value in single]
        place = values.replace_strict(single, pl.int_range(len(single), dtype=pl.Int32, eager=True), default=None)
    else:
        edges, place = _stretches(values, float(single[0]), float(single[-1]))
    found = pl.DataFrame({"place": place, "value": values}).drop_nulls().group_by("place").agg(
        n=pl.len(), low=pl.col("value").min(), high=pl.col("value").max()
    )  # fmt: skip
    there = {row["place"]: row for row in found.iter_rows(named=True)}
    nothing = {"n": 0, "low": None, "high": None}
    bins = tuple(
        ItemBin(start=start, end=end, **{name: there.get(at, nothing)[name] for name in nothing})
        for at, (start, end) in enumerate(edges)
    )
    return bins, place


def _stretches(values: polars.Series, least: float, most: float) -> tuple[list[tuple[float, float]], polars.Series]:
    import polars as pl

    if least < 0 < most:
        reach, half = max(-least, most), FEW // 2
        width = reach / half
        edges = [(width * step, width * (step + 1)) for step in range(-half, half)]
        edges.insert(half, (0.0, 0.0))
        steps = (values / width).floor().clip(-half, half - 1).cast(pl.Int32) + half
        place = pl.select(pl.when(values == 0).then(half).otherwise(steps + (values > 0).cast(pl.Int32))).to_series()
        return edges, place.cast(pl.Int32)
    width = (most - least) / FEW
    edges = [(least + width * step, least + width * (step + 1)) for step in range(FEW)]
    return edges, ((values - least) / width).floor().clip(0, FEW - 1).cast(pl.Int32)


def _grid(rows: polars.DataFrame) -> tuple[tuple[ItemBin, ...], tuple[ItemBin, ...], tuple[ItemCell, ...]]:
    """The bins of A and of B, and how many items lie in each pair of them."""
    import polars as pl

    (bins_a, place_a), (bins_b, place_b) = _bins(rows["a"]), _bins(rows["b"])
    both = pl.DataFrame({"a": place_a, "b": place_b}).drop_nulls()
    counts = both.group_by("a", "b").agg(n=pl.len()).sort("a", "b")
    return bins_a, bins_b, tuple(ItemCell(**row) for row in counts.iter_rows(named=True))


# ── what became of items ─────────────────────────────────────────────────────────────────────────────────────


def _slices(rows: polars.DataFrame, number: ItemNumber) -> Iterator[ItemSlice]:
    for field in _FIELDS:
        counts = rows.group_by(field).agg(*_counted(number)).drop_nulls(field)
        if len(counts) <= MOST_SLICES:
            for value, *moved in counts.sort(field).iter_rows():
                yield ItemSlice(field=field, value=str(value), **dict(zip(_MOVES, moved, strict=True)))


def _counted(number: ItemNumber) -> Sequence[polars.Expr]:
    """How many items lost, won and kept a number."""
    import polars as pl

    known = replace(number, difference=pl.col(_difference(number)))
    moves = zip(_MOVES, (known.lost, known.won, known.difference == 0), strict=True)
    return [became.sum().alias(f"{number.name} {moved}") for moved, became in moves]


def _moves(rows: polars.DataFrame, numbers: Sequence[ItemNumber]) -> tuple[ItemMoves, ...]:
    counts: dict[str, Any] = rows.select(count for one in numbers for count in _counted(one)).to_dicts()[0]
    return tuple(
        ItemMoves(
            metric=one.name,
            title=one.title,
            kind=one.kind,
            higher_is_better=one.higher_is_better,
            **{moved: counts[f"{one.name} {moved}"] for moved in _MOVES},
        )
        for one in numbers
    )


def _reasons(rows: polars.DataFrame) -> tuple[ReasonCount, ...]:
    counts = [dict(rows[f"miss_reason_{run}"].drop_nulls().value_counts().iter_rows()) for run in "ab"]
    return tuple(
        ReasonCount(reason=reason, n_a=counts[0].get(reason, 0), n_b=counts[1].get(reason, 0))
        for reason in sorted(counts[0].keys() | counts[1].keys())
    )
