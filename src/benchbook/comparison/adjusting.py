"""One p for each difference between several runs: adjusted for all that were looked at with it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import msgspec

from benchbook.comparison.difference import Difference, with_p
from benchbook.comparison.measures import CONTAINED, PASSING, SCORE
from benchbook.statistics import adjust_p_values

if TYPE_CHECKING:
    from benchbook.comparison.compared import Comparison

P = float | None


def adjusted(pairs: Sequence[Comparison]) -> tuple[Comparison, ...]:
    """The pairs with the p of each metric adjusted by Holm, and its verdict by that.

    The score, passing and the diagnosis of A7 are adjusted for the other pairs, each by itself; all that stands beside
    them, criteria and measures, for one another and for the other pairs.
    """
    scores = _over([pair.score for pair in pairs])
    passing = _over([pair.passing for pair in pairs])
    contained = _over([None if pair.containment is None else pair.containment.difference for pair in pairs])
    beside = iter(_over([one.difference for pair in pairs for one in pair.metrics]))
    own = zip(scores, passing, contained, strict=True)
    return tuple(_with(pair, one, [next(beside) for _ in pair.metrics]) for pair, one in zip(pairs, own, strict=True))


def _over(found: Sequence[Difference | None]) -> list[P]:
    return list(adjust_p_values([None if one is None else one.p for one in found]).holm)


def _with(pair: Comparison, own: tuple[P, P, P], beside: Sequence[P]) -> Comparison:
    score, passing, contained = own
    inside, metrics = pair.containment, zip(pair.metrics, beside, strict=True)
    return replace(
        pair,
        score=with_p(pair.score, score),
        passing=None if pair.passing is None else with_p(pair.passing, passing),
        containment=None if inside is None else replace(inside, difference=with_p(inside.difference, contained)),
        metrics=tuple(
            msgspec.structs.replace(
                one, p_holm=p, difference=with_p(one.difference, p, higher_is_better=one.higher_is_better)
            )
            for one, p in metrics
        ),
        p_holm={SCORE.name: score, PASSING.name: passing, CONTAINED.name: contained}
        | {one.name: p for one, p in zip(pair.metrics, beside, strict=True)},
    )
