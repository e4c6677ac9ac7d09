"""How many values it would take until an interval's bound passes a limit, if the estimate stayed where it is.

Each inverts the formula that made the interval. What comes out says what to plan for; the next values may well move the
estimate, and the number with it.
"""

from __future__ import annotations

from collections.abc import Callable
from math import ceil, inf, isfinite, sqrt

from benchbook.statistics._distributions import normal_quantile, t_quantile
from benchbook.statistics._inputs import check_confidence, check_counts
from benchbook.statistics.bounded_means import Design, bounds_of_mean

__all__ = [
    "MOST_VALUES",
    "n_to_settle_bounded_mean",
    "n_to_settle_mean",
    "n_to_settle_percentile",
    "n_to_settle_rate",
]

MOST_VALUES = 1_000_000  # numbers of values are looked at one by one for a percentile, up to here
_BLOCK = 1 << 14
_ROUNDING = 1e-9


def n_to_settle_rate(successes: int, n: int, limit: float, confidence: float = 0.95) -> int | None:
    """The number of values from which on Wilson's interval of this rate lies on one side of `limit`.

    By the score test that the interval inverts: (rate - limit)^2 >= z^2 limit (1 - limit) / n (Wilson 1927). None where
    the rate is the limit.
    """
    check_counts(successes, n)
    check_confidence(confidence)
    if n == 0 or successes == limit * n:
        return None
    z = normal_quantile((1 + confidence) / 2)
    return _whole(z * z * limit * (1 - limit) / (successes / n - limit) ** 2)


def n_to_settle_mean(distance: float, sd: float, confidence: float = 0.95) -> int | None:
    """The number of values from which on Student's t interval, half as wide as `distance`, leaves a limit that far
    away; None where the distance is 0.

    With clusters, whose standard error falls with the root of their number g: `sd` is that error times the root of g,
    and what comes back are clusters.
    """
    check_confidence(confidence)
    if not (0 <= sd < inf and isfinite(distance)):
        raise ValueError(f"sd must be 0 or more and the distance a number, not {sd} and {distance}")
    distance = abs(distance)
    if distance <= sd * 1e-8:  # beyond 1e16 values
        return None

    def settles(n: int) -> bool:
        return t_quantile(n - 1, (1 + confidence) / 2) * sd <= distance * sqrt(n) * (1 + _ROUNDING)

    return _first(settles)


def n_to_settle_bounded_mean(
    mean: float,
    spread: float,
    limit: float,
    confidence: float = 0.95,
    *,
    size: float = 1.0,
    effect: float = 1.0,
    evenness: float = 1.0,
) -> int | None:
    """The number of values from which on `bounded_mean` of values from 0 to 1 lies on one side of `limit`; None where
    the mean is the limit. `spread` is their mean squared deviation, above 0.

    With clusters, what comes back are clusters: of `size` values each on the average, with a design `effect`, and as
    good as `evenness` times as many equal ones.
    """
    check_confidence(confidence)
    if not (spread > 0 and isfinite(mean) and isfinite(limit)):
        raise ValueError(f"the spread must be above 0, the mean and limit numbers, not {spread}, {mean} and {limit}")
    if abs(mean - limit) <= 1e-8 * sqrt(spread):  # beyond 1e16 values
        return None

    def settles(n: int) -> bool:
        design = Design(effect, max(1.0, evenness * n - 1))
        low, high = bounds_of_mean(size * n, mean, spread, confidence, design)
        return low >= limit - _ROUNDING if limit < mean else high <= limit + _ROUNDING

    return _first(settles)


def n_to_settle_percentile(
    within: int, n: int, q: float, confidence: float = 0.95, *, above: bool = False, at_least: int = 1
) -> int | None:
    """The least number of values, from `at_least` on, whose upper bound of the `q` quantile keeps a limit that `within`
    of `n` values keep; with `above`, whose lower bound is beyond it. By the order statistics of `percentile_ranks`.

    None where no number up to MOST_VALUES does.
    """
    import numpy as np
    from scipy.special import bdtr

    check_counts(within, n)
    check_confidence(confidence)
    if n == 0:
        return None
    tail = (1 - confidence) / 2
    for start in range(max(at_least, 1), MOST_VALUES + 1, _BLOCK):
        sizes = np.arange(start, min(start + _BLOCK, MOST_VALUES + 1))
        kept = sizes * within // n  # as large a share keeps the limit
        if above:  # the lower rank is beyond them: fewer than `tail` of samples have so few values below the quantile
            found = bdtr(kept, sizes, q) < tail
        else:  # the upper rank is among them
            found = np.where(kept > 0, bdtr(np.maximum(kept - 1, 0), sizes, q), 0.0) >= 1 - tail
        if found.any():
            return int(sizes[found.argmax()])
    return None


def _first(settles: Callable[[int], bool]) -> int:
    """The least number, from two on, that settles it; all larger ones do."""
    low, high = 1, 2  # one value has no interval
    while not settles(high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if settles(middle) else (middle, high)
    return high


def _whole(needed: float) -> int:
    return max(1, ceil(needed - _ROUNDING * needed))
