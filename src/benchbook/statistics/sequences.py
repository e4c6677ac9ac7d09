"""Confidence sequences: intervals that hold at every moment at once, so one may look at each and stop at any."""

from __future__ import annotations

from dataclasses import dataclass
from math import log
from typing import Literal

import numpy as np

from benchbook.statistics.ground import Basis, Estimate, Floats, Values, as_values, check_confidence

SequenceMethod = Literal["betting", "empirical_bernstein"]

GRID = 1000  # candidate means; bounds are rounded outwards to the next one
_LARGEST_BET = 0.5
_BLOCK = 256  # values at a time: each has a number a candidate


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfidenceSequence:
    """`lows[i]` and `highs[i]` bound the mean after i + 1 values; all of them at once with `confidence`."""

    lows: tuple[float, ...]
    highs: tuple[float, ...]
    last: Estimate  # after all values


def confidence_sequence(
    values: Values,
    *,
    smallest: float = 0.0,
    largest: float = 1.0,
    confidence: float = 0.95,
    method: SequenceMethod = "betting",
) -> ConfidenceSequence:
    """Bounds of a mean that hold under optional stopping (Waudby-Smith and Ramdas 2024).

    `values`, in the order in which they came, lie in `smallest`..`largest`; that order must not depend on what they
    are (shuffle the items first). `betting` is their hedged capital process, rounded outwards to a thousandth of the
    range; `empirical_bernstein` their predictable plug-in, wider and quicker. Bounds never widen.

    Raises: ValueError for a value outside the range.
    """
    check_confidence(confidence)
    smallest, largest = as_values([smallest, largest], "smallest and largest").tolist()
    if not smallest < largest:
        raise ValueError(f"smallest ({smallest}) must be below largest ({largest})")
    x = as_values(values)
    if x.size and (x.min() < smallest or x.max() > largest):
        raise ValueError(f"values must lie in {smallest}..{largest}")
    basis = Basis(int(x.size), confidence, method)
    if not x.size:
        return ConfidenceSequence(lows=(), highs=(), last=basis.nothing("no_data"))
    unit = (x - smallest) / (largest - smallest)
    alpha = 1 - confidence
    low, high = _betting(unit, alpha) if method == "betting" else _empirical_bernstein(unit, alpha)
    lows, highs, crossed = _never_empty(low, high)
    lows, highs = smallest + (largest - smallest) * lows, smallest + (largest - smallest) * highs
    return ConfidenceSequence(
        lows=tuple(lows.tolist()),
        highs=tuple(highs.tolist()),
        last=basis.interval(float(x.mean()), float(lows[-1]), float(highs[-1]), None, ("bounds_crossed",) * crossed),
    )


def _bets(x: Floats, alpha: float) -> tuple[Floats, Floats]:
    """`(bets, means)` before each value: sqrt(2 log(2/alpha) / (variance t log(1 + t))) and the running mean.

    Both know only the values before: half a value of 1/2 with variance 1/4 stands in for the first.
    """
    t = np.arange(1, x.size + 1)
    means = (0.5 + np.cumsum(x)) / (t + 1)
    variances = (0.25 + np.cumsum((x - means) ** 2)) / (t + 1)
    before_means = np.concatenate([[0.5], means[:-1]])
    before_variances = np.concatenate([[0.25], variances[:-1]])
    return np.sqrt(2 * log(2 / alpha) / (before_variances * t * np.log(t + 1))), before_means


def _empirical_bernstein(x: Floats, alpha: float) -> tuple[Floats, Floats]:
    """Waudby-Smith and Ramdas 2024, theorem 2."""
    bets, means = _bets(x, alpha)
    bets = np.minimum(bets, _LARGEST_BET)
    cost = (x - means) ** 2 * (-np.log1p(-bets) - bets)
    weight = np.cumsum(bets)
    middle = np.cumsum(bets * x) / weight
    half = (log(2 / alpha) + np.cumsum(cost)) / weight
    return middle - half, middle + half


def _betting(x: Floats, alpha: float) -> tuple[Floats, Floats]:
    """Waudby-Smith and Ramdas 2024, theorem 3: a candidate is ruled out once bets against it made 1 into 2/alpha.

    Half of alpha goes to bets that the mean is higher, half to bets that it is lower. The former earn less the higher
    the candidate is: so what they rule out is all candidates up to a bound; and the other way round.
    """
    bets, _ = _bets(x, alpha)
    return _first_left(x, bets, alpha), 1 - _first_left(1 - x, bets, alpha)


def _first_left(x: Floats, bets: Floats, alpha: float) -> Floats:
    """After each value, the largest candidate that bets on a higher mean ruled out (the bound lies between it and the
    next one, so this errs outwards); 0 where there is none."""
    candidates = np.arange(GRID + 1) / GRID
    most = np.full(GRID + 1, np.inf)
    most[1:] = _LARGEST_BET / candidates[1:]  # so that no value takes more than half of the capital
    capital, found = np.zeros(GRID + 1), np.empty(x.size)
    for start in range(0, x.size, _BLOCK):
        part = slice(start, start + _BLOCK)
        gains = np.log1p(np.minimum(bets[part, None], most) * (x[part, None] - candidates))
        grown = capital + np.cumsum(gains, axis=0)
        ruled_out = (grown >= log(2 / alpha)).sum(axis=1)
        found[part] = np.maximum(ruled_out - 1, 0) / GRID
        capital = grown[-1]
    return found


def _never_empty(low: Floats, high: Floats) -> tuple[Floats, Floats, bool]:
    """Bounds that only narrow. Where they would cross, by chance or because the mean drifts, they stay."""
    lows, highs = np.clip(np.maximum.accumulate(low), 0.0, 1.0), np.clip(np.minimum.accumulate(high), 0.0, 1.0)
    crossed = lows > highs
    if not crossed.any():
        return lows, highs, False
    first = int(crossed.argmax())
    before = (lows[first - 1], highs[first - 1]) if first else (0.0, 1.0)
    lows[first:], highs[first:] = before
    return lows, highs, True


FRACTIONS = (*(place / 20 for place in range(1, 20)), 0.99)
"""The parts of the capital that are bet each time: 5 % to 95 %, and 99 %. It is split evenly over them at the start:
whichever suits the values best soon owns nearly all of it."""


class FiniteBet:
    """Bets that a set of `size` values, none below 0, adds up to `size * limit` at least (with `or_more` False: to more
    than that), against every smaller sum: those would owe less, so the same bets earn more against them.

    Values and `limit` are integers of one unit; a value is at most what 1 would be, the limit any part of that.
    """

    __slots__ = ("_capitals", "_left", "_or_more", "_owed", "is_proved")

    def __init__(self, size: int, limit: int, *, or_more: bool = True) -> None:
        self._left = size
        self._owed = size * limit  # what the values that are left must add up to, were `limit` the mean
        self._or_more = or_more
        self._capitals = [1.0 / len(FRACTIONS)] * len(FRACTIONS)
        self.is_proved = self._is_reached()

    @property
    def evidence(self) -> float:
        """The capital that 1 has become: an e-value. It says nothing once `is_proved`, for then the sum is reached."""
        return sum(self._capitals)

    def shows(self, error: float) -> bool:
        """True if the claim stands, with at most this chance of being wrong, whenever one asks."""
        return self.is_proved or self.evidence * error >= 1.0

    def add(self, value: int) -> None:
        """The next value. Raises: ValueError for more values than the set has."""
        if self._left == 0:
            raise ValueError("more values than the set has")
        if not self.is_proved and self._owed > 0:
            worth = value * self._left / self._owed - 1.0  # against what each value that is left owes on average
            self._capitals = [
                capital * (1.0 + fraction * worth) for capital, fraction in zip(self._capitals, FRACTIONS, strict=True)
            ]
        self._left -= 1
        self._owed -= value
        self.is_proved = self.is_proved or self._is_reached()

    def _is_reached(self) -> bool:
        return self._owed < 0 or (self._or_more and self._owed == 0)
