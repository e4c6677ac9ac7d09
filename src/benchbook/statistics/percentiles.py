"""Intervals of a percentile by order statistics: no assumption on shape."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchbook.statistics._distributions import binomial_cdf, binomial_quantile
from benchbook.statistics._inputs import as_values, check_confidence
from benchbook.statistics.results import Estimate, RankInterval

if TYPE_CHECKING:
    from benchbook.statistics._arrays import Values

__all__ = ["percentile_interval", "percentile_ranks"]


def percentile_ranks(n: int, q: float, confidence: float = 0.95) -> RankInterval:
    """Ranks between which the `q` quantile lies (Hahn and Meeker 1991, section 5.2; the binomial interval).

    The number of values below the quantile is binomial(n, q). A rank outside 1..n is None: `sample_too_small`.

    Raises: ValueError if q is outside 0..1.
    """
    check_confidence(confidence)
    if not 0 <= q <= 1:
        raise ValueError(f"q must lie in 0..1, not {q}")
    if n == 0:
        return RankInterval(low_rank=None, high_rank=None, coverage=None, confidence=confidence, n=0, reason="no_data")
    low = binomial_quantile((1 - confidence) / 2, n, q)
    high = binomial_quantile((1 + confidence) / 2, n, q) + 1
    low_rank, high_rank = (low if low >= 1 else None), (high if high <= n else None)
    coverage = None
    if low_rank is not None and high_rank is not None:
        coverage = binomial_cdf(high_rank - 1, n, q) - binomial_cdf(low_rank - 1, n, q)
    return RankInterval(
        low_rank=low_rank,
        high_rank=high_rank,
        coverage=coverage,
        confidence=confidence,
        n=n,
        reason=None if coverage is not None else "sample_too_small",
    )


def percentile_interval(values: Values, q: float, confidence: float = 0.95) -> Estimate:
    """The type-7 percentile (SPEC C3) and the order statistics around it, in the unit of the values.

    One bound alone may be None: `sample_too_small`. Raises: ValueError if q is outside 0..1.
    """
    import numpy as np

    x = np.sort(as_values(values))
    ranks = percentile_ranks(int(x.size), q, confidence)
    return Estimate(
        estimate=float(np.quantile(x, q)) if x.size else None,
        low=None if ranks.low_rank is None else float(x[ranks.low_rank - 1]),
        high=None if ranks.high_rank is None else float(x[ranks.high_rank - 1]),
        confidence=confidence,
        method=ranks.method,
        n=ranks.n,
        reason=ranks.reason,
    )
