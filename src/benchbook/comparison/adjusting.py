"""One p for each difference between several runs: adjusted for all that were looked at with it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import msgspec

from benchbook.comparison.difference import Difference, with_holm
from benchbook.comparison.pairing import MetricDifference

if TYPE_CHECKING:
    from benchbook.comparison.compared import Comparison


def adjusted(pairs: Sequence[Comparison]) -> tuple[Comparison, ...]:
    """The pairs with each p adjusted by Holm, and the verdicts by these.

    The scores are adjusted for one another over all pairs; so is all that stands beside them: passing, the diagnosis of
    A7, criteria and measures. Slices are adjusted within their pair already.
    """
    scores = iter(with_holm([(pair.score, True) for pair in pairs]))
    beside = iter(with_holm([one for pair in pairs for one in _beside(pair)]))

    def metric(one: MetricDifference) -> MetricDifference:
        found = next(beside)
        return msgspec.structs.replace(one, difference=found, p_holm=found.p_adjusted)

    return tuple(
        replace(
            pair,
            score=next(scores),
            passing=None if pair.passing is None else next(beside),
            containment=None if pair.containment is None else replace(pair.containment, difference=next(beside)),
            metrics=tuple(metric(one) for one in pair.metrics),
        )
        for pair in pairs
    )


def _beside(pair: Comparison) -> Iterator[tuple[Difference, bool]]:
    """The differences that stand beside the score's; False for one where lower is better."""
    if pair.passing is not None:
        yield pair.passing, True
    if pair.containment is not None:
        yield pair.containment.difference, True
    yield from ((one.difference, one.higher_is_better) for one in pair.metrics)
