"""Intervals of a mean of scores that have a least and a greatest value: Jeffreys' interval of a rate, carried over.

Student's t takes the spread of a few scores at its word. Where nearly all are alike it is far too sure of itself: that
one score in fifty is 0 is not seen in thirty of them. Scores have ends, so half a value is added at each: what has not
been seen yet may lie there. The mean then is a random variable with a known mean and variance (the Bayesian bootstrap,
Rubin 1981, or a Dirichlet process), and the beta distribution with these two gives the bounds. Of scores of 0 and 1 it
is Jeffreys' interval (Brown, Cai and DasGupta 2001). Many values drown the two halves, and t comes out.

Two things make values count for less than one each (their *weight*): that the spread is estimated, as Student's t is
wider than the normal distribution; and that values of a cluster rise and fall together, by the design effect (Korn and
Graubard 1998, Survey Methodology 24).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from math import sqrt
from typing import TYPE_CHECKING

from benchbook.statistics._distributions import beta_quantile, normal_quantile, t_quantile
from benchbook.statistics._inputs import FEW_CLUSTERS, all_alike, as_values, check_confidence, cluster_codes
from benchbook.statistics.results import Estimate, without_interval

if TYPE_CHECKING:
    from benchbook.statistics._arrays import Labels, Values

__all__ = ["Design", "bounded_mean", "bounds_of_mean", "clustered_jeffreys", "design_of", "jeffreys", "rescaled"]


@dataclass(frozen=True, slots=True)
class Design:
    """What clusters do to a mean. `effect` is how many times the variance of independent values it has, 1 at least;
    `degrees` are of its standard error."""

    effect: float
    degrees: float


def bounded_mean(
    values: Values,
    *,
    lowest: float = 0.0,
    highest: float = 1.0,
    clusters: Labels | None = None,
    confidence: float = 0.95,
) -> Estimate:
    """The mean of values between `lowest` and `highest`, with its interval by the method of this module.

    Null bounds as in `mean_interval`: `one_value`, `no_variance` where all values are alike, `one_cluster`.

    Raises: ValueError for a value outside.
    """
    import numpy as np

    x = as_values(values)
    check_confidence(confidence)
    if not lowest < highest:
        raise ValueError(f"lowest must be below highest, not {lowest} and {highest}")
    if x.size and not (lowest <= x.min() and x.max() <= highest):
        raise ValueError(f"values must lie between {lowest} and {highest}; found {x.min()} to {x.max()}")
    share = (x - lowest) / (highest - lowest)
    n, mean = int(x.size), float(share.mean()) if x.size else 0.0
    spread = 0.0 if not n or all_alike(x, float(np.abs(x).max())) else float(share.var())
    if clusters is None:
        found = jeffreys(n, mean, spread, confidence)
    else:
        codes, n_clusters = cluster_codes(clusters, n)
        sums = np.bincount(codes, share - mean, n_clusters)
        sizes = np.bincount(codes, minlength=n_clusters).tolist()
        found = clustered_jeffreys(sizes, mean, spread, float(sums @ sums) / max(n, 1) ** 2, confidence)
    return rescaled(found, lowest, highest - lowest)


def bounds_of_mean(
    n: float, mean: float, spread: float, confidence: float, design: Design | None = None
) -> tuple[float, float]:
    """The bounds of the mean of `n` values from 0 to 1 with this mean and mean squared deviation, not both 0.

    `n` need not be whole: to settle a gate, numbers of values are tried. Without a `design`, values are independent.
    """
    design = design or Design(1.0, n - 1)
    level = (1 + confidence) / 2
    size = n / design.effect * (normal_quantile(level) / t_quantile(design.degrees, level)) ** 2
    middle = (size * mean + 0.5) / (size + 1)
    squares = size * (spread + (mean - middle) ** 2) + 0.5 * ((1 - middle) ** 2 + middle**2)
    both = middle * (1 - middle) * (size + 1) * (size + 2) / squares - 1  # of the beta distribution's parameters
    a, b = middle * both, (1 - middle) * both
    low, high = beta_quantile(a, b, 1 - level), beta_quantile(a, b, level)
    return min(low, mean), max(high, mean)  # the added halves never push a bound past the mean


def jeffreys(n: int, mean: float, spread: float, confidence: float, *, unseen: bool = False) -> Estimate:
    """The interval of the mean of `n` values from 0 to 1, from their mean and mean squared deviation (`spread`).

    Null bounds for a single value, and for values all alike; with `unseen` those have the interval of a spread that is
    not seen yet: the two halves at the ends are all that there is of it.
    """
    reason = "no_data" if n == 0 else "one_value" if n == 1 else "no_variance" if spread == 0 else None
    if reason is not None and not (unseen and n):
        return without_interval(mean if n else None, n=n, confidence=confidence, method="jeffreys", reason=reason)
    low, high = bounds_of_mean(n, mean, spread, confidence, Design(1.0, max(n - 1, 1)))
    error = sqrt(spread / max(n - 1, 1))
    return Estimate(
        estimate=mean, low=low, high=high, confidence=confidence, method="jeffreys", n=n, standard_error=error
    )


def clustered_jeffreys(sizes: list[int], mean: float, spread: float, between: float, confidence: float) -> Estimate:
    """The same of values in clusters of these sizes.

    `between` is the squared standard error by clusters: the sum of their squared sums of deviations, over n^2.
    """
    n, n_clusters = sum(sizes), len(sizes)
    reason = "no_data" if n == 0 else "one_cluster" if n_clusters == 1 else "no_variance" if spread == 0 else None
    if reason is not None:
        return without_interval(
            mean if n else None,
            n=n,
            confidence=confidence,
            method="clustered_jeffreys",
            reason=reason,
            n_clusters=n_clusters,
        )
    low, high = bounds_of_mean(n, mean, spread, confidence, design_of(sizes, spread, between))
    return Estimate(
        estimate=mean,
        low=low,
        high=high,
        confidence=confidence,
        method="clustered_jeffreys",
        n=n,
        warnings=("few_clusters",) if n_clusters < FEW_CLUSTERS else (),
        standard_error=sqrt(between),
        n_clusters=n_clusters,
    )


def design_of(sizes: list[int], spread: float, between: float) -> Design:
    """The design of two or more clusters of these sizes.

    Clusters of unequal sizes are as good as fewer equal ones, n^2 over the sum of squared sizes (Carter, Schnepel and
    Steigerwald 2017); the largest pull the mean towards themselves, so `between` is too small by a known part.
    """
    n, squares, cubes = sum(sizes), sum(size**2 for size in sizes), sum(size**3 for size in sizes)
    lost = Fraction(2 * cubes, n * squares) - Fraction(squares, n * n)
    whole = between / float(1 - lost)
    independent = spread / (n - 1)
    return Design(effect=max(1.0, whole / independent), degrees=max(1.0, n * n / squares - 1))


def rescaled(found: Estimate, lowest: float, width: float) -> Estimate:
    """From shares of a scale to its own unit."""

    def scaled(value: float | None) -> float | None:
        return None if value is None else lowest + width * value

    return replace(
        found,
        estimate=scaled(found.estimate),
        low=scaled(found.low),
        high=scaled(found.high),
        standard_error=None if found.standard_error is None else width * found.standard_error,
    )
