"""Intervals of a mean of paired differences between -1 and 1, that there always are and that stay inside.

As in `bounded_means`, half a pair is added at each end of the scale, for what has not been seen yet: runs that differ
in nothing may still differ in the next item, and the fewer the items the more. The beta distribution with the resulting
mean and variance gives the bounds; its variance is widened as Student's t is wider than the normal distribution.

Clusters, by the intraclass correlation of the differences: n pairs are worth n / (1 + r (m - 1)) independent ones, with
m the cluster size that a pair meets on average. From few clusters `r` is hardly known, so it is drawn towards 1: by
all of the way for one cluster, by a tenth for three. The degrees of freedom are Satterthwaite's, of the two parts that
the variance is made of.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import TYPE_CHECKING

from benchbook.statistics._distributions import beta_quantile, normal_quantile, t_quantile
from benchbook.statistics._inputs import FEW_CLUSTERS, all_alike, as_values, check_confidence, cluster_codes
from benchbook.statistics.results import Estimate, without_interval

if TYPE_CHECKING:
    from benchbook.statistics._arrays import Floats, Ints, Labels, Values

__all__ = ["PairDesign", "Widening", "bounded_difference", "bounds", "cluster_widening", "design_of_pairs", "worth"]


PRIOR_CLUSTERS = 0.25  # by simulation (docs/decisions/0020-comparisons-that-are-sure.md)
_NO_SPREAD = 1e-12
_NOTHING_KNOWN = 1e-3  # so wide that no beta distribution has this variance, or only one that sits at both ends


@dataclass(frozen=True, slots=True)
class PairDesign:
    """What pairs in clusters are worth: `size` independent ones, whose squared deviations average `spread`."""

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
    told = None if clusters is None else n_clusters
    if not n:
        return without_interval(None, n=0, confidence=confidence, method=method, reason="no_data", n_clusters=told)
    mean = float(d[0]) if all_alike(d, 1.0) else float(d.mean())
    low, high, error = -1.0, 1.0, None
    if n_clusters > 1:
        design = design_of_pairs(d, codes, n_clusters)
        low, high = bounds(mean, design, confidence)
        error = sqrt(design.spread / design.size)
    alone = "one_cluster" if clusters is not None else "one_pair"
    few = "few_clusters" if clusters is not None and n_clusters < FEW_CLUSTERS else None
    return Estimate(
        estimate=mean,
        low=low,
        high=high,
        confidence=confidence,
        method=method,
        n=n,
        warnings=(alone,) if n_clusters == 1 else () if few is None else (few,),
        standard_error=error,
        n_clusters=told,
    )


def design_of_pairs(d: Floats, codes: Ints, n_clusters: int) -> PairDesign:
    """Of two clusters or more; `codes` number them from 0. Pairs that stand alone are a cluster each."""
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
    """What two clusters or more do to an estimate of which each sample makes a part: `parts` are what these add to its
    error.

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
    correlation = correlation + (1 - correlation) * PRIOR_CLUSTERS / (n_clusters - 1 + PRIOR_CLUSTERS)
    of_mean = correlation * squares / n, 1 - correlation  # the parts of its variance: between clusters, and within
    effect = of_mean[0] + of_mean[1]
    degrees = effect**2 / (of_mean[0] ** 2 / (n_clusters - 1) + of_mean[1] ** 2 / (n - n_clusters))
    return n / effect, np.maximum(whole, total / n), np.clip(degrees, 1.0, n - 1.0)


def bounds(mean: float, design: PairDesign, confidence: float) -> tuple[float, float]:
    """Between -1 and 1, and never on the far side of the mean."""
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
