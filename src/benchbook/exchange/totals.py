"""A scorer's values added up, for forms that state their mean: over what was scored, with n, error and interval."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from math import sqrt
from typing import NamedTuple

from benchbook.exchange.log import LogScorer
from benchbook.statistics.bounded import clustered_jeffreys, jeffreys, rescaled
from benchbook.statistics.distributions import t_quantile

CONFIDENCE = 0.95


class Sureness(NamedTuple):
    """How sure a mean is: of `n` values, or items that were asked several times; None where fewer than two tell."""

    n: int
    deviation: float | None = None  # ddof 1
    error: float | None = None
    low: float | None = None
    high: float | None = None
    method: str = ""


@dataclass(slots=True)
class _Sum:
    """Values, added up exactly."""

    n: int = 0
    total: Fraction = Fraction(0)
    squares: Fraction = Fraction(0)

    def add(self, value: Fraction) -> None:
        self.n += 1
        self.total += value
        self.squares += value * value

    @property
    def mean(self) -> Fraction:
        return self.total / self.n

    @property
    def spread(self) -> Fraction:
        """The mean squared deviation."""
        return self.squares / self.n - self.mean**2


@dataclass(slots=True)
class ScorerTotals:
    """One scorer's values. Of items that were asked several times, each item's mean is one value of how sure it is."""

    is_repeated: bool
    unscored: int = 0
    lowest: float = 0.0
    highest: float = 0.0
    _all: _Sum = field(default_factory=_Sum)
    _items: dict[str, _Sum] = field(default_factory=dict)

    @property
    def scored(self) -> int:
        return self._all.n

    @property
    def mean(self) -> float:
        return float(self._all.mean)

    def add(self, item: str, value: float | None) -> None:
        if value is None:
            self.unscored += 1
            return
        self.lowest = value if not self.scored else min(self.lowest, value)
        self.highest = value if not self.scored else max(self.highest, value)
        exact = Fraction(value)
        self._all.add(exact)
        if self.is_repeated:
            self._items.setdefault(item, _Sum()).add(exact)

    def sureness(self, scorer: LogScorer) -> Sureness:
        values = self._all
        if self.is_repeated:
            values = _Sum()
            for item in self._items.values():
                values.add(item.mean)
        if values.n < 2:
            return Sureness(values.n)
        try:
            deviation = sqrt(values.spread * values.n / (values.n - 1))
        except OverflowError:  # squares of the largest numbers that there are
            return Sureness(values.n)
        error = deviation / sqrt(values.n)
        return Sureness(values.n, deviation, error, *self._bounds(scorer, values, error))

    def _bounds(self, scorer: LogScorer, values: _Sum, error: float) -> tuple[float | None, float | None, str]:
        """The interval of a mean, by the method that Benchbook has for it; none where values are all alike."""
        if values.spread == 0:
            return None, None, ""
        mean, low, high = self.mean, scorer.lowest, scorer.highest
        if low is None or high is None or not low <= self.lowest <= self.highest <= high:
            reach = error * t_quantile(values.n - 1, (1 + CONFIDENCE) / 2)
            return mean - reach, mean + reach, "Student's t" + (", over items' means" if self.is_repeated else "")
        width = high - low
        share, spread = (mean - low) / width, float(self._all.spread) / width**2
        if self.is_repeated:
            sizes = [one.n for one in self._items.values()]
            apart = sum(((one.total - one.n * self._all.mean) ** 2 for one in self._items.values()), Fraction(0))
            found = clustered_jeffreys(sizes, share, spread, float(apart) / (width * self.scored) ** 2, CONFIDENCE)
        else:
            found = jeffreys(self.scored, share, spread, CONFIDENCE)
        found = rescaled(found, low, width)
        return found.low, found.high, found.method
