"""Two rates of the same items: the interval that inverts the mid-p McNemar test, so that the two never disagree.

A difference of paired rates is the share of pairs that differ, times how one-sided these are: d = s (2 w - 1), where
`w` is the share that `b` wins of the pairs that differ. The two counts behind `s` and `w` carry separate information,
and each has a confidence distribution: the one whose tails are the mid-p values of the binomial test (Fagerland,
Lydersen and Laake 2013 for McNemar's), an even mixture of two beta distributions. Their product's quantiles are the
bounds. Since `s` is above 0, the product is at most 0 exactly as often as `w` is at most a half; that is the test.

Where no pair differs, `w` lies at 0 or 1, evenly, and `s` below what has not been seen yet: 0 of 1,000 leaves room for
a difference of 0.0023 either way.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from benchbook.statistics._inputs import check_confidence
from benchbook.statistics.paired import mcnemar
from benchbook.statistics.results import Estimate, without_interval

if TYPE_CHECKING:
    from benchbook.statistics._arrays import Floats

__all__ = ["paired_rates"]

NODES = 32  # of the quadrature over the share of pairs that differ
_STEPS = 40  # of the bisection: 2 / 2**40


def paired_rates(only_a: int, only_b: int, n: int, confidence: float = 0.95) -> Estimate:
    """The difference (b - a) of two rates over the same `n` items, `only_a` of which `a` alone passes.

    It leaves 0 out exactly where `mcnemar(...).p_mid` is at most 1 - confidence. Null without items alone.
    """
    check_confidence(confidence)
    if only_a < 0 or only_b < 0 or only_a + only_b > n:
        raise ValueError(f"{only_a} and {only_b} discordant pairs of {n}")
    if n == 0:
        return without_interval(None, n=0, confidence=confidence, method="paired_mid_p", reason="no_data")
    table = _Table(only_a, only_b, n)
    tail, estimate = (1 - confidence) / 2, (only_b - only_a) / n
    low, high = table.quantile(tail), table.quantile(1 - tail)
    if mcnemar(only_a, only_b).p_mid > 1 - confidence:  # as the bounds have it, but for what bisection leaves
        low, high = min(low, 0.0), max(high, 0.0)
    return Estimate(
        estimate=estimate,
        low=max(-1.0, min(low, estimate)),
        high=min(1.0, max(high, estimate)),
        confidence=confidence,
        method="paired_mid_p",
        n=n,
    )


class _Table:
    """The distribution of the difference, given the counts of a fourfold table."""

    def __init__(self, only_a: int, only_b: int, n: int) -> None:
        import numpy as np
        from scipy.special import betaincinv

        self._won = (only_b, only_a + 1), (only_b + 1, only_a)  # the two of the share won, of the pairs that differ
        differing = only_a + only_b
        self._differ = (differing, n - differing + 1), (differing + 1, n - differing)
        nodes, weights = np.polynomial.legendre.leggauss(NODES)
        self._shares = np.concatenate([_at(betaincinv, *one, (nodes + 1) / 2) for one in self._differ])
        self._weights = np.concatenate([weights, weights]) / 4  # of 2 each; a half for each of the two

    def quantile(self, level: float) -> float:
        low, high = -1.0, 1.0
        for _ in range(_STEPS):
            middle = (low + high) / 2
            if self._up_to(middle) >= level:
                high = middle
            else:
                low = middle
        return (low + high) / 2

    def _up_to(self, difference: float) -> float:
        """How likely the difference is at most this much."""
        least, most = self._won
        # Where a run won none or all of the pairs that differ, one of the two is a point: then the other factor tells.
        of_least = self._by_won(*least, difference) if least[0] else 1 - self._differ_up_to(-difference)
        of_most = self._by_won(*most, difference) if most[1] else self._differ_up_to(difference)
        return (of_least + of_most) / 2

    def _by_won(self, a: float, b: float, difference: float) -> float:
        import numpy as np
        from scipy.special import betainc

        with np.errstate(divide="ignore", invalid="ignore"):
            won = np.where(self._shares > 0, (1 + difference / self._shares) / 2, np.sign(difference))
        return float(self._weights @ betainc(a, b, np.clip(won, 0.0, 1.0)))

    def _differ_up_to(self, share: float) -> float:
        from scipy.special import betainc

        if share < 0:
            return 0.0
        least, most = self._differ
        of_least = float(betainc(*least, min(share, 1.0))) if least[0] else 1.0
        of_most = float(betainc(*most, min(share, 1.0))) if most[1] else float(share >= 1)
        return (of_least + of_most) / 2


def _at(quantile: Callable[..., Floats], a: float, b: float, levels: Floats) -> Floats:
    """Quantiles of a beta distribution, or of the point at 0 or 1 that it becomes without one of its parameters."""
    import numpy as np

    if not a:
        return np.zeros(NODES)
    return np.asarray(quantile(a, b, levels)) if b else np.ones(NODES)
