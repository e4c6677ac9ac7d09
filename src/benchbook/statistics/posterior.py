"""The Bayesian bootstrap (Rubin 1981) of a statistic of totals: units get random weights, instead of being drawn anew.

A resample of few units never holds what none of them has. If all of twenty ratings agree, every resample does. So one
unit more is spread evenly over what a unit could be (Perks 1947): a little of every kind is in all weighings. As
Student's t is wider than the normal distribution, so is this: the units count for as much less. Many units drown both,
and the plain bootstrap comes out.
"""

from __future__ import annotations

import numpy as np

from benchbook.statistics._arrays import Floats
from benchbook.statistics._distributions import normal_quantile, t_quantile
from benchbook.statistics._inputs import FEW_CLUSTERS, check_confidence, check_draws
from benchbook.statistics.bootstrap import Statistic, Units, bootstrap_interval, value_of_units
from benchbook.statistics.results import Estimate, without_interval

__all__ = ["MOST_KINDS", "weighted_interval"]


MOST_KINDS = 256  # beyond, one unit spread over so many says nothing
MOST_ROWS = 2_000  # distinct units; beyond, resampling says the same and is quicker
_BLOCK = 1 << 20  # weights at a time


def weighted_interval(
    units: Units,
    kinds: Floats | None,
    statistic: Statistic,
    *,
    n: int,
    n_clusters: int | None = None,
    confidence: float = 0.95,
    seed: int = 0,
    n_resamples: int = 10_000,
) -> Estimate:
    """A statistic of totals, and the interval between quantiles of its values under `n_resamples` random weightings.

    `kinds` has a row for everything that a unit could be, in the columns of `units`; where these are clusters, of their
    average size. Where they are None, or more than MOST_ROWS units differ, it is `bootstrap_interval`. Null bounds:
    `one_value` or `one_cluster`, and `sample_too_small` where most weightings have no value.
    """
    if kinds is None or units.counts.size > MOST_ROWS:
        return bootstrap_interval(
            units, statistic, n=n, n_clusters=n_clusters, confidence=confidence, seed=seed, n_resamples=n_resamples
        )
    check_confidence(confidence)
    check_draws(n_resamples, "n_resamples")
    method = "weighted" if n_clusters is None else "clustered_weighted"
    estimate = value_of_units(units, statistic)
    alone = "one_value" if n_clusters is None else "one_cluster"
    reason = "no_data" if estimate is None else alone if units.size < 2 else None
    found = np.empty(0)
    if estimate is not None and reason is None:
        drawn = statistic(_weighted_totals(units, kinds, confidence, n_resamples, seed))
        found = drawn[np.isfinite(drawn)]
        reason = "sample_too_small" if found.size < n_resamples / 2 else None
    if estimate is None or reason is not None:
        return without_interval(
            estimate, n=n, confidence=confidence, method=method, reason=reason or "no_data", n_clusters=n_clusters
        )
    low, high = np.quantile(found, [(1 - confidence) / 2, (1 + confidence) / 2])
    few = n_clusters is not None and n_clusters < FEW_CLUSTERS
    return Estimate(
        estimate=estimate,
        low=min(float(low), estimate),
        high=max(float(high), estimate),
        confidence=confidence,
        method=method,
        n=n,
        warnings=("few_clusters",) * few,
        standard_error=float(found.std(ddof=1)),
        n_clusters=n_clusters,
        seed=seed,
    )


def _weighted_totals(units: Units, kinds: Floats, confidence: float, n_resamples: int, seed: int) -> Floats:
    """The totals under each weighting, which add up to as many units as there are: (resamples, columns)."""
    level = (1 + confidence) / 2
    less = (normal_quantile(level) / t_quantile(units.size - 1, level)) ** 2
    shapes = np.concatenate([units.counts * less, np.full(len(kinds), 1 / len(kinds))])
    rows = np.concatenate([units.rows, kinds])
    rng = np.random.default_rng(seed)
    parts = []
    height = max(1, _BLOCK // shapes.size)
    for start in range(0, n_resamples, height):
        weights = rng.standard_gamma(shapes, (min(height, n_resamples - start), shapes.size))
        parts.append((weights / weights.sum(axis=1, keepdims=True)) @ rows)
    return np.concatenate(parts) * units.size
