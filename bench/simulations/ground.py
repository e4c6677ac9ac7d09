"""The lines of the table, and what is counted for them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from math import comb, sqrt
from typing import Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Bounds = tuple[float | None, float | None]
Standing = Literal["holds", "cautious", "broken"]
Sample = TypeVar("Sample")

SURE = 3.0  # standard errors of a simulation that a figure may be off, and still hold


@dataclass(frozen=True, slots=True)
class Goal:
    """What a figure, in percent, must keep. Beyond `cautious_from` a promise is kept, at the price of width."""

    words: str
    at_least: float = 0.0
    at_most: float = 100.0
    cautious_from: float = 100.0


COVERS = Goal("93.5 to 97.5", at_least=93.5, cautious_from=97.5)
ALL_AT_ONCE = Goal("95 or more", at_least=95.0)  # several statements that hold together: as many more as it takes


def at_most(percent: float) -> Goal:
    return Goal(f"at most {percent:g}", at_most=percent)


def at_least(percent: float) -> Goal:
    return Goal(f"{percent:g} or more", at_least=percent)


@dataclass(frozen=True, slots=True)
class Measured:
    """A method's figure in percent (coverage or error), and what it costs: its mean width, or what `Line.cost` names.

    `given` is the percentage of samples of which it says anything at all; the figure and the cost are of these.
    """

    method: str
    percent: float
    cost: float | None = None
    given: float = 100.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A case of one row of the manual's table; `others` are what could be used instead of `today`.

    `cost` is `width`, or another quantity that tells good methods from better ones; `less_is_better` of it.
    """

    where: str
    case: str
    goal: Goal
    today: Measured
    others: tuple[Measured, ...] = ()
    cost: str = "width"
    less_is_better: bool = True
    draws: int | None = None

    @property
    def standing(self) -> Standing:
        return self._standing_of(self.today)

    @property
    def best_other(self) -> Measured | None:
        """The alternative that keeps the goal at the least cost; of those that break it, the one that does so least."""
        if not self.others:
            return None
        keeping = [one for one in self.others if not self._off(one) and one.given > 99.5]
        sign = 1 if self.less_is_better else -1
        if keeping:
            return min(keeping, key=lambda one: sign * (one.cost or 0.0))
        return min(self.others, key=lambda one: (self._off(one), 100 - one.given))

    def _off(self, one: Measured) -> float:
        return max(self.goal.at_least - one.percent, one.percent - self.goal.at_most, 0.0)

    def _standing_of(self, one: Measured) -> Standing:
        share = min(max(self._edge(one), 1.0), 99.0)
        chance = 0.0 if self.draws is None else SURE * sqrt(share * (100 - share) / self.draws)
        if self._off(one) > chance + 1e-9:
            return "broken"
        return "cautious" if one.percent > self.goal.cautious_from + chance else "holds"

    def _edge(self, one: Measured) -> float:
        """The edge of the goal that the figure is nearest to: there chance is reckoned."""
        edges = (self.goal.at_least, self.goal.at_most, self.goal.cautious_from)
        return min((edge for edge in edges if 0 < edge < 100), key=lambda edge: abs(edge - one.percent), default=50.0)


@dataclass
class Count:
    """Counts how often a method's intervals hold the truth, and how wide they are."""

    method: str
    _total: float = 0.0
    _given: float = 0.0
    _held: float = 0.0
    _width: float = field(default=0.0)

    def add(self, bounds: Bounds, truth: float, weight: float = 1.0) -> None:
        low, high = bounds
        self._total += weight
        if low is not None and high is not None:
            self._given += weight
            self._held += weight * (low <= truth <= high)
            self._width += weight * (high - low)

    @property
    def measured(self) -> Measured:
        given = self._given or 1.0
        return Measured(
            self.method, 100 * self._held / given, self._width / given, 100 * self._given / (self._total or 1.0)
        )


def coverage_of(
    samples: Iterable[tuple[float, Sample]], truth: float, methods: dict[str, Callable[[Sample], Bounds]]
) -> tuple[Measured, ...]:
    """Each method's coverage over `(weight, sample)`; the first is the one in use."""
    counts = {name: Count(name) for name in methods}
    for weight, sample in samples:
        for name, method in methods.items():
            counts[name].add(method(sample), truth, weight)
    return tuple(one.measured for one in counts.values())


def binomial(n: int, p: float) -> list[float]:
    return [comb(n, k) * p**k * (1 - p) ** (n - k) for k in range(n + 1)]


def tables(n: int, lost: float, won: float, draws: int) -> Iterator[tuple[float, tuple[int, int, int]]]:
    """`(probability, (lost, won, n))` of the fourfold tables, without those that a hundred times as many `draws` would
    show less than once."""
    least = 1e-2 / draws
    for i, of_lost in enumerate(binomial(n, lost)):
        if of_lost > least:
            for j, of_won in enumerate(binomial(n - i, won / (1 - lost))):
                if of_lost * of_won > least:
                    yield of_lost * of_won, (i, j, n)


def bounds_by(found: object) -> Bounds:
    """The bounds of an `Estimate` or of an `Interval`."""
    return found.low, found.high  # type: ignore[attr-defined]


def distinct(rows: NDArray[np.int64]) -> Iterator[tuple[float, Sequence[int]]]:
    """`(how often, row)`: what was drawn twice is computed once."""
    found, times = np.unique(rows, axis=0, return_counts=True)
    yield from zip(times.astype(float).tolist(), found.tolist(), strict=True)
