"""Intervals of a mean."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from typing import TYPE_CHECKING, Any

from benchbook.statistics.results import Estimate

if TYPE_CHECKING:
    import numpy as np

__all__ = ["clustered_mean", "t_interval"]

FEW_CLUSTERS = 10


def t_interval(values: Sequence[float] | np.ndarray[Any, Any], confidence: float = 0.95) -> Estimate:
    """Student's t interval of the mean; null bounds with fewer than two values, or with no spread."""
    import numpy as np

    x = np.asarray(values, dtype=np.float64)
    n = int(x.size)
    if n == 0:
        return _without_interval(None, 0, confidence, "t", "no_data")
    mean = float(x.mean())
    if n == 1:
        return _without_interval(mean, n, confidence, "t", "one_value")
    spread = float(x.std(ddof=1))
    if spread == 0:
        return _without_interval(mean, n, confidence, "t", "no_variance")
    half = _t_quantile(n - 1, confidence) * spread / sqrt(n)
    return Estimate(estimate=mean, low=mean - half, high=mean + half, confidence=confidence, method="t", n=n)


def clustered_mean(
    values: Sequence[float] | np.ndarray[Any, Any],
    clusters: Sequence[int] | np.ndarray[Any, Any],
    confidence: float = 0.95,
) -> Estimate:
    """The mean with a standard error by clusters (Miller 2024, arXiv 2411.00640, section 2.2).

    SE = sqrt(sum over clusters of (sum of deviations)^2) / n, and t with clusters - 1 degrees of freedom.
    """
    import numpy as np

    x = np.asarray(values, dtype=np.float64)
    n = int(x.size)
    if n == 0:
        return _without_interval(None, 0, confidence, "clustered_t", "no_data")
    mean = float(x.mean())
    _, members = np.unique(np.asarray(clusters), return_inverse=True)
    sums = np.bincount(members, weights=x - mean)
    if sums.size == 1:
        return _without_interval(mean, n, confidence, "clustered_t", "one_cluster")
    error = sqrt(float(np.sum(sums * sums))) / n
    if error == 0:
        return _without_interval(mean, n, confidence, "clustered_t", "no_variance")
    half = _t_quantile(int(sums.size) - 1, confidence) * error
    warnings = ("few_clusters",) if sums.size < FEW_CLUSTERS else ()
    return Estimate(
        estimate=mean,
        low=mean - half,
        high=mean + half,
        confidence=confidence,
        method="clustered_t",
        n=n,
        warnings=warnings,
    )


def _without_interval(estimate: float | None, n: int, confidence: float, method: str, reason: str) -> Estimate:
    return Estimate(estimate=estimate, low=None, high=None, confidence=confidence, method=method, n=n, reason=reason)


def _t_quantile(degrees: int, confidence: float) -> float:
    from scipy.special import stdtrit

    return float(stdtrit(degrees, (1 + confidence) / 2))
