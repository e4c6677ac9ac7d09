"""The numbers that compared items have in both runs: the score, the diagnosis, and what else both measured."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import TYPE_CHECKING

from benchbook.comparison.items import compared_columns
from benchbook.comparison.measures import CONTAINED, PASSING, SCORE
from benchbook.comparison.pairing import COMPARED, common_metrics
from benchbook.evaluators.contract import ComparedColumns, ComparedMetric, MetricKind
from benchbook.evaluators.exact import NANO
from benchbook.evaluators.registry import evaluator_of
from benchbook.server.problems import ProblemError
from benchbook.server.services import FoundRun
from benchbook.text import shorten
from benchbook.views.comparison_tables import metric_word

if TYPE_CHECKING:
    import polars

_DECIMALS = 9  # of any number that is shown


@dataclass(frozen=True, slots=True)
class ItemNumber:
    """A number of each item in A and in B, as expressions over a row of the list. `difference` is B - A of the items
    that are compared, null of others.
    """

    name: str
    title: str
    kind: MetricKind
    a: polars.Expr
    b: polars.Expr
    difference: polars.Expr
    higher_is_better: bool = True

    @property
    def lost(self) -> polars.Expr:
        return self.difference < 0 if self.higher_is_better else self.difference > 0

    @property
    def won(self) -> polars.Expr:
        return self.difference > 0 if self.higher_is_better else self.difference < 0


Numbers = Mapping[str, ItemNumber]


def numbers_of(runs: Sequence[FoundRun], items: polars.DataFrame) -> Numbers:
    """The numbers of the items of two runs, by name; the score is the first. `items` are some of them, or all."""
    a, b = (compared_columns(evaluator_of(found.record)) for found in runs)
    both = [one for one in common_metrics(a, b) if f"{one.name}_a" in items.columns]
    return {one.name: one for one in _numbers(a, both)}


def number_named(numbers: Numbers, name: str) -> ItemNumber:
    """Raises: ProblemError (422) for a name that these runs have no number of."""
    found = numbers.get(name)
    if found is None:
        known = ", ".join(numbers)
        raise ProblemError(
            HTTPStatus.UNPROCESSABLE_ENTITY, f"query: metric: found {shorten(name, 100)!r}; expected one of {known}"
        )
    return found


def _numbers(columns: ComparedColumns, metrics: Sequence[ComparedMetric]) -> Iterator[ItemNumber]:
    yield _number(SCORE.name, metric_word(SCORE), "score", SCORE.column, unit=NANO)
    if columns.is_graded:
        yield _number(PASSING.name, metric_word(PASSING), "count", PASSING.column)
    if columns.tells_containment:
        yield _number(CONTAINED.name, metric_word(CONTAINED), "count", CONTAINED.column)
    for one in metrics:
        yield _number(one.name, metric_word(one), one.kind, one.name, higher_is_better=one.higher_is_better)


def _number(
    name: str, title: str, kind: MetricKind, column: str, *, unit: int = 1, higher_is_better: bool = True
) -> ItemNumber:
    import polars as pl

    a, b = (pl.col(f"{column}_{run}") for run in "ab")
    # Rounded, since 0.3 - 0.1 is 0.2 to whoever looks for it; Polars divides so that 0.85 is none.
    between = ((b.cast(pl.Float64) - a.cast(pl.Float64)) / unit).round(_DECIMALS)
    if unit == 1:
        a, b = a.cast(pl.Float64), b.cast(pl.Float64)
    else:
        a, b = (a / unit).round(_DECIMALS), (b / unit).round(_DECIMALS)
    compared = pl.when(pl.col("class").is_in(COMPARED)).then(between)
    return ItemNumber(name, title, kind, a, b, compared, higher_is_better)
