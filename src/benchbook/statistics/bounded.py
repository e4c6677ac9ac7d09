"""Intervals of a mean of values that have a least and a greatest, and of their paired differences.

Jeffreys' interval of a rate, carried over. Student's t takes the spread of a few scores at its word. Where nearly all
are alike it is far too sure of itself: that one score in fifty is 0 is not seen in thirty of them. Scores have ends, so
half a value is added at each: what has not been seen yet may lie there. The mean then is a random variable with a known
mean and variance (the Bayesian bootstrap, Rubin 1981, or a Dirichlet process), and the beta distribution with these two
gives the bounds. Of scores of 0 and 1 it is Jeffreys' interval (Brown, Cai and DasGupta 2001). Many values drown the
two halves, and t comes out.

Two things make values count for less than one each (their *weight*): that the spread is estimated, as Student's t is
wider than the normal distribution; and that values of a cluster rise and fall together, by the design effect (Korn and
Graubard 1998, Survey Methodology 24).

Of differences, from -1 to 1, there always is an interval, and it stays inside: runs that differ in nothing may still
differ in the next item, and the fewer the items the more. Clusters count there by the intraclass correlation of the
differences: n pairs are worth n / (1 + r (m - 1)) independent ones, with m the cluster size that a pair meets on
average. From few clusters `r` is hardly known, so it is drawn towards 1: by all of the way for one cluster, by a tenth
for three. The degrees of freedom are Satterthwaite's, of the two parts that the variance is made of.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from math import sqrt

from benchbook.statistics.distributions import beta_quantile, normal_quantile, t_quantile
from benchbook.statistics.ground import (
    Basis,
    Estimate,
    Floats,
    Ints,
    Labels,
    Values,
    all_alike,
    as_values,
    check_confidence,
    cluster_codes,
)


@dataclass(frozen=True, slots=True)
class Design:
    """The effect of clusters on a mean: it has `effect` times the variance of independent values, 1 at least;
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
    basis = Basis(n, confidence, "jeffreys")
    reason = "no_data" if n == 0 else "one_value" if n == 1 else "no_variance" if spread == 0 else None
    if reason is not None and not (unseen and n):
        return basis.nothing(reason, mean if n else None)
    low, high = bounds_of_mean(n, mean, spread, confidence, Design(1.0, max(n - 1, 1)))
    error = sqrt(spread / max(n - 1, 1))
    return basis.interval(mean, low, high, error)


def clustered_jeffreys(sizes: list[int], mean: float, spread: float, between: float, confidence: float) -> Estimate:
    """The same interval for values in clusters of these sizes.

    `between` is the squared standard error by clusters: the sum of their squared sums of deviations, over n^2.
    """
    n, n_clusters = sum(sizes), len(sizes)
    basis = Basis(n, confidence, "clustered_jeffreys", n_clusters)
    reason = "no_data" if n == 0 else "one_cluster" if n_clusters == 1 else "no_variance" if spread == 0 else None
    if reason is not None:
        return basis.nothing(reason, mean if n else None)
    low, high = bounds_of_mean(n, mean, spread, confidence, design_of(sizes, spread, between))
    return basis.interval(mean, low, high, sqrt(between))


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
    """The estimate, a share of a scale, in the scale's own unit."""

    def scaled(value: float | None) -> float | None:
        return None if value is None else lowest + width * value

    return replace(
        found,
        estimate=scaled(found.estimate),
        low=scaled(found.low),
        high=scaled(found.high),
        standard_error=None if found.standard_error is None else width * found.standard_error,
    )


_PRIOR_CLUSTERS = 0.25  # by simulation (docs/decisions/0020-comparisons-that-are-sure.md)
_NO_SPREAD = 1e-12
_NOTHING_KNOWN = 1e-3  # so wide that no beta distribution has this variance, or only one that sits at both ends


@dataclass(frozen=True, slots=True)
class PairDesign:
    """The worth of pairs in clusters: `size` independent ones, whose squared deviations average `spread`."""

    size: float
    spread: float
    degrees: float


def bounded_difference(differences: Values, *, clusters: Labels | None = None, confidence: float = 0.95) -> Estimate:
    """The mean of paired differences (b - a) between -1 and 1. Null without pairs alone.

    Raises: ValueError for a difference outside.
    """
    import numpy as np

    d = as_values(differences, "differences")
    check_confidence(confidence)
    if d.size and not (d.min() >= -1 and d.max() <= 1):
        raise ValueError(f"differences must lie between -1 and 1; found {d.min()} to {d.max()}")
    n = int(d.size)
    codes, n_clusters = (np.arange(n), n) if clusters is None else cluster_codes(clusters, n)
    method = "paired_bounded" if clusters is None else "paired_bounded_clustered"
    basis = Basis(n, confidence, method, None if clusters is None else n_clusters)
    if not n:
        return basis.nothing("no_data")
    mean = float(d[0]) if all_alike(d, 1.0) else float(d.mean())
    low, high, error = -1.0, 1.0, None
    if n_clusters > 1:
        design = design_of_pairs(d, codes, n_clusters)
        low, high = bounds(mean, design, confidence)
        error = sqrt(design.spread / design.size)
    alone = "one_cluster" if clusters is not None else "one_pair"
    found = basis.interval(mean, low, high, error)
    return replace(found, warnings=(alone,)) if n_clusters == 1 else found


def design_of_pairs(d: Floats, codes: Ints, n_clusters: int) -> PairDesign:
    """The design of two clusters or more; `codes` number them from 0. Pairs that stand alone are a cluster each."""
    import numpy as np

    deviations = np.zeros(d.size) if all_alike(d, 1.0) else d - d.mean()
    sizes = np.bincount(codes, minlength=n_clusters).astype(np.float64)
    sums = np.bincount(codes, weights=deviations, minlength=n_clusters)
    size, spread, degrees = worth(deviations @ deviations, (sums * sums / sizes).sum(), sizes)
    return PairDesign(size=float(size), spread=float(spread), degrees=float(degrees))


@dataclass(frozen=True, slots=True)
class Widening:
    """How many times as wide clusters make an interval: `of_error` the standard error, `factor` the whole of it."""

    of_error: float
    factor: float


def cluster_widening(parts: Values, clusters: Labels, confidence: float = 0.95) -> Widening:
    """The widening of an estimate's interval by two clusters or more; `parts` are what the samples add to its error.

    Raises: ValueError for a single cluster.
    """
    import numpy as np

    d = as_values(parts, "parts")
    check_confidence(confidence)
    codes, n_clusters = cluster_codes(clusters, int(d.size))
    if n_clusters < 2:
        raise ValueError("one cluster says nothing about how much clusters vary")
    largest = float(np.abs(d).max()) or 1.0
    design = design_of_pairs(d / largest, codes, n_clusters)  # the correlation is of no unit
    of_error = sqrt(max(1.0, d.size / design.size))
    level = (1 + confidence) / 2
    return Widening(
        of_error=of_error,
        factor=of_error * t_quantile(design.degrees, level) / normal_quantile(level),
    )


def worth(total: Floats, of_clusters: Floats, sizes: Floats) -> tuple[Floats, Floats, Floats]:
    """A design's size, spread and degrees, of one pair of runs or of many at once.

    `total` is the sum of squared deviations, `of_clusters` that of the clusters' means, each counted as often as it has
    pairs; `sizes` are the clusters'.
    """
    import numpy as np

    n, n_clusters = float(sizes.sum()), sizes.size
    if n_clusters == n:
        return np.broadcast_to(n, np.shape(total)), total / (n - 1), np.broadcast_to(n - 1, np.shape(total))
    between = of_clusters / (n_clusters - 1)
    within = np.maximum(0.0, total - of_clusters) / (n - n_clusters)
    squares = float(sizes @ sizes)
    shared = np.maximum(0.0, (between - within) / ((n - squares / n) / (n_clusters - 1)))
    whole = shared + within
    correlation = np.divide(shared, whole, out=np.zeros(np.shape(whole)), where=np.asarray(whole > _NO_SPREAD))
    correlation = correlation + (1 - correlation) * _PRIOR_CLUSTERS / (n_clusters - 1 + _PRIOR_CLUSTERS)
    of_mean = correlation * squares / n, 1 - correlation  # the parts of its variance: between clusters, and within
    effect = of_mean[0] + of_mean[1]
    degrees = effect**2 / (of_mean[0] ** 2 / (n_clusters - 1) + of_mean[1] ** 2 / (n - n_clusters))
    return n / effect, np.maximum(whole, total / n), np.clip(degrees, 1.0, n - 1.0)


def bounds(mean: float, design: PairDesign, confidence: float) -> tuple[float, float]:
    """The bounds of a mean difference: within -1 and 1, and never on the far side of the mean."""
    level = (1 + confidence) / 2
    share, spread, size = (mean + 1) / 2, design.spread / 4, design.size
    middle = (size * share + 0.5) / (size + 1)
    squares = size * (spread + (share - middle) ** 2) + 0.5 * ((1 - middle) ** 2 + middle**2)
    wider = t_quantile(design.degrees, level) / normal_quantile(level)
    variance = squares / ((size + 1) * (size + 2)) * wider**2
    both = middle * (1 - middle) / variance - 1  # of the beta distribution's parameters
    if both <= _NOTHING_KNOWN:
        return -1.0, 1.0
    a, b = middle * both, (1 - middle) * both
    low, high = (2 * beta_quantile(a, b, one) - 1 for one in (1 - level, level))
    return max(-1.0, min(low, mean)), min(1.0, max(high, mean))
