"""Intervals of a mean."""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING, Literal, assert_never

from benchbook.statistics._distributions import t_quantile
from benchbook.statistics._inputs import FEW_CLUSTERS, ROUNDING, all_alike, as_values, check_confidence, cluster_codes
from benchbook.statistics.results import Estimate, without_interval

if TYPE_CHECKING:
    from benchbook.statistics._arrays import Labels, Values

__all__ = ["MeanMethod", "clustered_mean", "mean_interval", "t_interval"]


MeanMethod = Literal["t", "bca"]


def mean_interval(
    values: Values,
    *,
    clusters: Labels | None = None,
    method: MeanMethod = "t",
    confidence: float = 0.95,
    seed: int = 0,
    n_resamples: int = 10_000,
) -> Estimate:
    """The mean with its interval by Student's t, or by bootstrap BCa; with clusters, whole clusters vary.

    `seed` and `n_resamples` matter for `bca` alone.
    """
    match method:
        case "t":
            return t_interval(values, confidence) if clusters is None else clustered_mean(values, clusters, confidence)
        case "bca":
            from benchbook.statistics.bootstrap import bootstrap_mean

            return bootstrap_mean(values, clusters=clusters, confidence=confidence, seed=seed, n_resamples=n_resamples)
        case _:
            assert_never(method)


def t_interval(values: Values, confidence: float = 0.95) -> Estimate:
    """Student's t interval of the mean (Student 1908); null bounds with fewer than two values, or with no spread."""
    import numpy as np

    x = as_values(values)
    check_confidence(confidence)
    n = int(x.size)
    if n == 0:
        return without_interval(None, n=0, confidence=confidence, method="t", reason="no_data")
    mean = float(x.mean())
    if n == 1:
        return without_interval(mean, n=n, confidence=confidence, method="t", reason="one_value")
    if all_alike(x, float(np.abs(x).max())):  # not by the variance, which rounding may leave above 0
        return without_interval(float(x[0]), n=n, confidence=confidence, method="t", reason="no_variance")
    error = float(x.std(ddof=1)) / sqrt(n)
    half = t_quantile(n - 1, (1 + confidence) / 2) * error
    return Estimate(
        estimate=mean,
        low=mean - half,
        high=mean + half,
        confidence=confidence,
        method="t",
        n=n,
        standard_error=error,
    )


def clustered_mean(values: Values, clusters: Labels, confidence: float = 0.95) -> Estimate:
    """The mean with a standard error by clusters (Miller 2024, arXiv 2411.00640, section 2.2).

    SE = sqrt(sum over clusters of (sum of deviations)^2) / n, and t with clusters - 1 degrees of freedom.
    """
    import numpy as np

    x = as_values(values)
    check_confidence(confidence)
    n = int(x.size)
    codes, n_clusters = cluster_codes(clusters, n)
    mean = float(x.mean()) if n else None
    sums = np.bincount(codes, weights=x - (mean or 0.0), minlength=n_clusters)
    flat = n_clusters > 1 and bool(np.all(np.abs(sums) <= ROUNDING * np.abs(x).sum()))
    reason = "no_data" if n == 0 else "one_cluster" if n_clusters == 1 else "no_variance" if flat else None
    if mean is None or reason is not None:
        return without_interval(
            mean,
            n=n,
            confidence=confidence,
            method="clustered_t",
            reason=reason or "no_data",
            n_clusters=n_clusters,
        )
    error = sqrt(float(sums @ sums)) / n
    half = t_quantile(n_clusters - 1, (1 + confidence) / 2) * error
    return Estimate(
        estimate=mean,
        low=mean - half,
        high=mean + half,
        confidence=confidence,
        method="clustered_t",
        n=n,
        warnings=("few_clusters",) if n_clusters < FEW_CLUSTERS else (),
        standard_error=error,
        n_clusters=n_clusters,
    )
