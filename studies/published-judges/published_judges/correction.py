"""A win corrected by labels of a few items, again and again, where all labels are known.

The correction is Benchbook's for a mean that a judge reported (`ppi++_bounded`), of the paired differences: the judge's
over all items, and people's over those that were labelled. It is tried in two ways. `like_these`: items are drawn anew,
with replacement, as though the source's were all that there could be; that is what an interval speaks of. `these`: the
source's own items, of which some are labelled; that is what a user does who has no others.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from benchbook.statistics import Estimate, bounded_difference, prediction_powered_mean
from published_judges.pairs import Floats, ModelPair, Sign

Way = Literal["like_these", "these"]
WAYS: tuple[Way, ...] = get_args(Way)
LABELS = (25, 50, 100, 200)
_DIFFERENCES = (-1.0, 1.0)


@dataclass(frozen=True, slots=True)
class Interval:
    """An interval of a difference b - a. Without bounds it covers nothing and decides nothing."""

    estimate: float
    low: float | None
    high: float | None

    @property
    def width(self) -> float | None:
        return None if self.low is None or self.high is None else self.high - self.low

    @property
    def decides(self) -> Sign:
        """1 where b is better, -1 where a is, 0 where it can't be told."""
        if self.low is None or self.high is None:
            return 0
        return 1 if self.low > 0 else -1 if self.high < 0 else 0

    def covers(self, truth: float) -> bool | None:
        """The truth lies within; None without bounds. Equal to the twelfth decimal is within."""
        if self.low is None or self.high is None:
            return None
        return self.low - 1e-12 <= truth <= self.high + 1e-12


@dataclass(frozen=True, slots=True)
class Draw:
    """One drawing of labels for one pair, and what follows by each of three ways to look at it."""

    pair: ModelPair
    corrected: Interval
    labels_alone: Interval
    judge_alone: Interval


def corrected_difference(by_people: Floats, by_judge: Floats, by_judge_elsewhere: Floats) -> Estimate:
    """The difference as people would have it: their labels and the judge's of the same items, and the judge's of the
    others."""
    return prediction_powered_mean(by_people, by_judge, by_judge_elsewhere, scale=_DIFFERENCES)


def has_room(pair: ModelPair, n_labels: int) -> bool:
    """People labelled all items, and at least twice as many as are to be drawn."""
    return pair.truth is not None and pair.by_people.size >= 2 * n_labels and not bool(np.isnan(pair.by_people).any())


def draws(
    pairs: Sequence[ModelPair], n_labels: int, n_draws: int, way: Way, rng: np.random.Generator
) -> Iterator[Draw]:
    """`n_draws` drawings of every pair that has room for `n_labels` labels."""
    for pair in pairs:
        if has_room(pair, n_labels):
            for _ in range(n_draws):
                yield _draw(pair, n_labels, way, rng)


def _draw(pair: ModelPair, n_labels: int, way: Way, rng: np.random.Generator) -> Draw:
    size = pair.by_judge.size
    drawn = rng.integers(0, size, size) if way == "like_these" else rng.permutation(size)
    labelled, others = drawn[:n_labels], drawn[n_labels:]
    by_people = pair.by_people[labelled]
    return Draw(
        pair=pair,
        corrected=_interval(corrected_difference(by_people, pair.by_judge[labelled], pair.by_judge[others])),
        labels_alone=_interval(bounded_difference(by_people)),
        judge_alone=_interval(bounded_difference(pair.by_judge[drawn])),
    )


def _interval(found: Estimate) -> Interval:
    if found.estimate is None:
        raise ValueError(f"nothing can be said: {found.reason}")
    return Interval(found.estimate, found.low, found.high)
