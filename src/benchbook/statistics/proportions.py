"""Intervals of a proportion."""

from __future__ import annotations

from math import sqrt

from benchbook.statistics._distributions import beta_quantile, normal_quantile
from benchbook.statistics._inputs import check_confidence, check_counts
from benchbook.statistics.results import Estimate, without_interval

__all__ = ["clopper_pearson", "wilson"]


def wilson(successes: int, n: int, confidence: float = 0.95) -> Estimate:
    """Wilson's score interval (Wilson 1927): covers near 0 and 1, where mean and standard error collapse.

    Raises: ValueError unless 0 <= successes <= n.
    """
    check_counts(successes, n)
    check_confidence(confidence)
    if n == 0:
        return without_interval(None, n=0, confidence=confidence, method="wilson", reason="no_data")
    z = normal_quantile((1 + confidence) / 2)
    p = successes / n
    middle = (p + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    # At 0 and at n the bound is the estimate itself, which subtraction would miss by a hair.
    low = 0.0 if successes == 0 else middle - half
    high = 1.0 if successes == n else middle + half
    return Estimate(estimate=p, low=low, high=high, confidence=confidence, method="wilson", n=n)


def clopper_pearson(successes: int, n: int, confidence: float = 0.95) -> Estimate:
    """The exact interval (Clopper and Pearson 1934): covers at least as often as promised, and is wider for it.

    Raises: ValueError unless 0 <= successes <= n.
    """
    check_counts(successes, n)
    check_confidence(confidence)
    if n == 0:
        return without_interval(None, n=0, confidence=confidence, method="clopper_pearson", reason="no_data")
    tail = (1 - confidence) / 2
    low = 0.0 if successes == 0 else beta_quantile(successes, n - successes + 1, tail)
    high = 1.0 if successes == n else beta_quantile(successes + 1, n - successes, 1 - tail)
    return Estimate(estimate=successes / n, low=low, high=high, confidence=confidence, method="clopper_pearson", n=n)
