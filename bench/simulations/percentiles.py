"""Percentiles of latency, where items are asked several times or come in groups."""

from __future__ import annotations

from collections.abc import Iterator
from math import exp, sqrt

import numpy as np

from benchbook.statistics import percentile_interval
from benchbook.statistics.binomial import percentile_bound_of_clusters
from benchbook.statistics.clusters import SIDES
from benchbook.statistics.distributions import normal_quantile
from simulations.ground import COVERS, Bounds, Floats, Line, bounds_by, coverage_of

N_RESAMPLES = 400
CASES = ((40, 3, 0.5, 0.5), (40, 10, 0.7, 0.5), (150, 3, 0.5, 0.95), (100, 10, 0.7, 0.95))


def lines(draws: int) -> Iterator[Line]:
    """Latencies are log-normal; an item's repeats share a part of the variance."""
    draws = max(20, draws // 4)
    for n_items, repeats, alike, q in CASES:
        rng = np.random.default_rng([6, n_items, repeats])

        def sample(n_items: int = n_items, repeats: int = repeats, alike: float = alike) -> Floats:
            logs = rng.normal(0, sqrt(alike), (n_items, 1)) + rng.normal(0, sqrt(1 - alike), (n_items, repeats))  # noqa: B023
            return np.asarray(1000 * np.exp(0.5 * logs))

        methods = {
            "order statistics by correlation": lambda x, q=q: _by_correlation(x, q),
            "order statistics, as independent": lambda x, q=q: bounds_by(percentile_interval(x.ravel(), q)),
            "items resampled": lambda x, q=q: _resampled(x, q),
        }
        today, *rest = coverage_of(
            ((1.0, sample()) for _ in range(draws)), 1000 * exp(0.5 * normal_quantile(q)), methods
        )
        yield Line(
            where="percentiles", case=f"p{100 * q:g}, {n_items} items asked {repeats} times, correlation {alike:g}",
            goal=COVERS, today=today, others=tuple(rest), cost="width, ms", draws=draws,
        )  # fmt: skip


def _by_correlation(x: Floats, q: float) -> Bounds:
    codes = np.arange(len(x)).repeat(x.shape[1]).tolist()
    values = x.ravel().tolist()
    low, high = (percentile_bound_of_clusters(side, values, codes, q, 0.975) for side in SIDES)
    return low, high


def _resampled(x: Floats, q: float) -> Bounds:
    """Percentiles over redrawn items, each with all of its repeats."""
    chosen = np.random.default_rng(7).integers(0, len(x), (N_RESAMPLES, len(x)))
    found = np.quantile(x[chosen].reshape(N_RESAMPLES, -1), q, axis=1)
    low, high = np.quantile(found, [0.025, 0.975])
    return float(low), float(high)
