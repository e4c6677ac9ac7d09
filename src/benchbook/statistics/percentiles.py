"""Intervals of a percentile by order statistics: no assumption on shape."""

from __future__ import annotations

from benchbook.statistics.results import RankInterval

__all__ = ["percentile_ranks"]


def percentile_ranks(n: int, q: float, confidence: float = 0.95) -> RankInterval:
    """Ranks between which the `q` quantile lies (Hahn and Meeker 1991, section 5.2; the binomial interval).

    The number of values below the quantile is binomial(n, q). A rank outside 1..n is None: `sample_too_small`.
    """
    if n == 0:
        return RankInterval(low_rank=None, high_rank=None, coverage=None, confidence=confidence, n=0, reason="no_data")
    low = _binomial_quantile((1 - confidence) / 2, n, q)
    high = _binomial_quantile((1 + confidence) / 2, n, q) + 1
    low_rank, high_rank = (low if low >= 1 else None), (high if high <= n else None)
    coverage = None
    if low_rank is not None and high_rank is not None:
        coverage = _binomial_cdf(high_rank - 1, n, q) - _binomial_cdf(low_rank - 1, n, q)
    return RankInterval(
        low_rank=low_rank,
        high_rank=high_rank,
        coverage=coverage,
        confidence=confidence,
        n=n,
        reason=None if coverage is not None else "sample_too_small",
    )


def _binomial_cdf(k: int, n: int, p: float) -> float:
    from scipy.special import bdtr

    return float(bdtr(k, n, p)) if k >= 0 else 0.0


def _binomial_quantile(probability: float, n: int, p: float) -> int:
    """The smallest k whose cumulated probability reaches `probability`."""
    low, high = 0, n
    while low < high:
        middle = (low + high) // 2
        if _binomial_cdf(middle, n, p) >= probability:
            high = middle
        else:
            low = middle + 1
    return low
