"""The worth of values in clusters, by how alike the values of a cluster are (the intraclass correlation).

Values of a cluster rise and fall together. How much is estimated by analysis of variance over all clusters, and each
cluster then counts for `size / (1 + (size - 1) * correlation)` independent values: 40 values that are hardly alike for
nearly 40, and if they are copies of one another for one. So a large cluster among small ones takes away no more than it
deserves, whatever its size.

A correlation needs differences to show. Where hardly a value differs from the others, it is drawn towards 1, where each
cluster counts once: by one value that differs for sure, against the `n * spread` that were seen. Degrees of freedom are
Satterthwaite's (1946), of a variance that is made of two.

And one-sided bounds of a mean of scores, which may not claim too much: for decisions, where an interval is for reading.

A mean of values from 0 to 1 is claimed to be at least so much. One value more is added at the bad end: what has not
been seen yet may lie there. The mean then is a random variable (the Bayesian bootstrap, Rubin 1981), and the beta
distribution with its mean and variance, from 0 to the greatest value seen, gives the bound. Of passes and failures it
is the bound of Clopper and Pearson (1934); of scores, close to that of Gaffke (2005), which no distribution is known to
break (Learned-Miller and Thomas 2019). Jeffreys' interval claims too much in up to 14 % of runs where one score in
fifty is 0 (docs/decisions/0019-sure-means-sure.md).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, fsum, inf, isinf, log, sqrt
from typing import Literal

from benchbook.statistics.bounded import Design, bounds_of_mean, rescaled
from benchbook.statistics.distributions import beta_quantile, normal_quantile, t_quantile
from benchbook.statistics.ground import SMALLEST, Basis, Estimate, check_confidence

ClusterCounts = Mapping[tuple[int, int, int], float]
"""`(size, sum, sum of squares)` of a cluster, and how many clusters are so; need not be whole, to try other numbers."""

_FOR_SURE = 1.0  # a value that differs, which is not there: what draws the correlation to 1 where nothing was seen


@dataclass(frozen=True, slots=True)
class Worth:
    """Clusters are worth `n` independent values of this mean and spread (mean squared deviation), as shares of the
    scale; the standard error of that mean has so many `degrees`, infinitely many where all values are alike."""

    n: float
    mean: float
    spread: float
    degrees: float
    n_clusters: float
    correlation: float


@dataclass(frozen=True, slots=True)
class _Totals:
    n: float
    n_clusters: float
    total: float
    squares: float
    of_means: float  # the sum of each cluster's sum squared, over its size
    of_sizes: float  # the sum of squared sizes


def worth_of_clusters(clusters: ClusterCounts, highest: int = 1) -> Worth:
    """The worth of two clusters or more of integers from 0 to `highest`.

    Sums are exact until they are shares, and `fsum` adds these: the order of the clusters changes nothing.
    """
    sums = _totals(clusters, highest)
    correlation = _correlation(sums)
    weights = {one: count * one[0] / (1 + (one[0] - 1) * correlation) for one, count in clusters.items()}
    n = fsum(weights.values())
    mean = fsum(weight * one[1] / (one[0] * highest) for one, weight in weights.items()) / n
    squares = fsum(weight * one[2] / (one[0] * highest**2) for one, weight in weights.items()) / n
    is_alike = _all_alike(clusters)
    return Worth(
        n=n,
        mean=min(1.0, max(0.0, mean)),
        spread=0.0 if is_alike else max(0.0, squares - mean * mean),
        degrees=inf if is_alike else _degrees(clusters, sums, correlation, n),
        n_clusters=sums.n_clusters,
        correlation=correlation,
    )


def mean_of_clusters(clusters: ClusterCounts, highest: int = 1, confidence: float = 0.95) -> Estimate:
    """The mean of integers from 0 to `highest` in clusters, each counted once, with its interval, in their unit.

    The interval is that of `bounded_mean`, of as many independent values as the clusters are worth, and holds the mean.
    Null bounds: `no_data`, `one_cluster`.
    """
    check_confidence(confidence)
    n, n_clusters = round(fsum(count * one[0] for one, count in clusters.items())), round(fsum(clusters.values()))
    basis = Basis(n, confidence, "jeffreys_by_correlation", n_clusters)
    if n_clusters < 2:
        mean = fsum(one[1] for one in clusters) / n if n else None
        return basis.nothing("one_cluster" if n else "no_data", mean)
    worth = worth_of_clusters(clusters, highest)
    mean = fsum(count * one[1] / highest for one, count in clusters.items()) / n
    degrees = min(worth.degrees, max(n_clusters - 1.0, 1.0)) if worth.spread == 0 else worth.degrees
    low, high = bounds_of_mean(worth.n, worth.mean, worth.spread, confidence, Design(1.0, degrees))
    found = basis.interval(mean, min(low, mean), max(high, mean), sqrt(worth.spread / worth.n))
    return rescaled(found, 0.0, highest)


def _all_alike(clusters: ClusterCounts) -> bool:
    """True if all values are the same, exactly."""
    size, total, _ = next(iter(clusters))
    return all(one[0] * one[2] == one[1] ** 2 and one[1] * size == total * one[0] for one in clusters)


def _totals(clusters: ClusterCounts, highest: int) -> _Totals:
    items = clusters.items()
    return _Totals(
        n=fsum(count * size for (size, _, _), count in items),
        n_clusters=fsum(clusters.values()),
        total=fsum(count * total / highest for (_, total, _), count in items),
        squares=fsum(count * squares / highest**2 for (_, _, squares), count in items),
        of_means=fsum(count * float(Fraction(total * total, size * highest**2)) for (size, total, _), count in items),
        of_sizes=fsum(count * size * size for (size, _, _), count in items),
    )


def _correlation(sums: _Totals) -> float:
    """The intraclass correlation by analysis of variance, 0 at least, drawn towards 1 by what was not seen."""
    overall = sums.total**2 / sums.n
    between = max(0.0, sums.of_means - overall) / (sums.n_clusters - 1)
    within = max(0.0, sums.squares - sums.of_means) / (sums.n - sums.n_clusters) if sums.n > sums.n_clusters else 0.0
    typical = (sums.n - sums.of_sizes / sums.n) / (sums.n_clusters - 1)
    component = max(0.0, (between - within) / typical)
    seen = max(0.0, sums.squares - overall)
    found = component / (component + within) if component + within > 0 else 1.0
    return (seen * found + _FOR_SURE) / (seen + _FOR_SURE)


def _degrees(clusters: ClusterCounts, sums: _Totals, correlation: float, n: float) -> float:
    """Degrees of freedom of the weighted mean's variance, a sum of the mean squares between and within clusters."""
    weights = [(size, count, size / (1 + (size - 1) * correlation)) for (size, _, _), count in clusters.items()]
    typical = (sums.n - sums.of_sizes / sums.n) / (sums.n_clusters - 1)
    of_between = fsum(count * weight**2 for _, count, weight in weights) / n**2 / typical
    of_within = fsum(count * weight**2 / size for size, count, weight in weights) / n**2 - of_between
    between = of_between * (1 - correlation + typical * correlation)
    within = of_within * (1 - correlation)
    squares = between**2 / (sums.n_clusters - 1) + within**2 / max(sums.n - sums.n_clusters, 1.0)
    return min(max((between + within) ** 2 / squares, 1.0), max(sums.n - 1, 1.0))


Side = Literal["low", "high"]
SIDES: tuple[Side, Side] = ("low", "high")


def one_sided_bound(side: Side, n: float, mean: float, spread: float, furthest: float, confidence: float) -> float:
    """The `low` or `high` bound of the mean of all values, given `n` of them, from 0 to 1.

    `spread` is their mean squared deviation, `furthest` the value seen that is furthest on the other side: the greatest
    for a low bound. `n` need not be whole.

    Raises: ValueError for a confidence outside 0..1, or without a value.
    """
    check_confidence(confidence)
    if not n > 0:
        raise ValueError(f"n must be above 0, not {n}")
    if side == "high":
        return 1 - one_sided_bound("low", n, 1 - mean, spread, 1 - furthest, confidence)
    top = max(furthest, mean)
    if mean <= 0 or top < SMALLEST:
        return 0.0
    share, spread = mean / top, spread / (top * top)  # on a scale that ends at the greatest value seen
    middle = n * share / (n + 1)
    variance = (n * spread / (n + 1) + share * share * n / (n + 1) ** 2) / (n + 2)
    both = middle * (1 - middle) / variance - 1  # of the beta distribution's parameters
    return min(mean, top * beta_quantile(middle * both, (1 - middle) * both, 1 - confidence))


def one_sided_bound_of_clusters(side: Side, worth: Worth, mean: float, furthest: float, confidence: float) -> float:
    """The same bound for values in clusters. `mean` is that of all values, each counted once: no bound excludes it.

    Nor does a bound claim more than it would if every value were as good as can be. Of such values each cluster counts
    once; a few bad ones, each in another cluster, would else claim more than none at all.
    """
    n = worth.n
    if not isinf(worth.degrees):
        n *= (normal_quantile(confidence) / t_quantile(worth.degrees, confidence)) ** 2
    bound = one_sided_bound(side, n, worth.mean, worth.spread, furthest, confidence)
    if side == "low":
        return min(bound, mean, one_sided_bound("low", worth.n_clusters, 1.0, 0.0, 1.0, confidence))
    return max(bound, mean, one_sided_bound("high", worth.n_clusters, 0.0, 0.0, 0.0, confidence))


def least_to_show(share: float, confidence: float) -> int:
    """How many values it takes at least to show that a mean is `share` or more: all of them 1."""
    check_confidence(confidence)
    if not 0 < share < 1:
        raise ValueError(f"share must lie between 0 and 1, not {share}")
    return max(1, ceil(log(1 - confidence) / log(share) - 1e-9))
