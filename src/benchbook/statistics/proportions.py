"""Intervals of a proportion."""

from __future__ import annotations

from math import sqrt
from statistics import NormalDist

from benchbook.statistics.results import Estimate

__all__ = ["wilson"]


def wilson(successes: int, n: int, confidence: float = 0.95) -> Estimate:
    """Wilson's score interval (Wilson 1927): covers near 0 and 1, where mean and standard error collapse."""
    if n == 0:
        return Estimate(
            estimate=None, low=None, high=None, confidence=confidence, method="wilson", n=0, reason="no_data"
        )
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    p = successes / n
    middle = (p + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    # At 0 and at n the bound is the estimate itself, which subtraction would miss by a hair.
    low = 0.0 if successes == 0 else middle - half
    high = 1.0 if successes == n else middle + half
    return Estimate(estimate=p, low=low, high=high, confidence=confidence, method="wilson", n=n)
