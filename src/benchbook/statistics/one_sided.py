"""One-sided bounds of a mean of scores that may not claim too much: for decisions, where an interval is for reading.

A mean of values from 0 to 1 is claimed to be at least so much. One value more is added at the bad end: what has not
been seen yet may lie there. The mean then is a random variable (the Bayesian bootstrap, Rubin 1981), and the beta
distribution with its mean and variance, from 0 to the greatest value seen, gives the bound. Of passes and failures it
is the bound of Clopper and Pearson (1934); of scores, close to that of Gaffke (2005), which no distribution is known to
break (Learned-Miller and Thomas 2019). Jeffreys' interval claims too much in up to 14 % of runs where one score in
fifty is 0 (docs/decisions/0019-sure-means-sure.md).
"""

from __future__ import annotations

from math import ceil, isinf, log
from typing import Literal

from benchbook.statistics._distributions import beta_quantile, normal_quantile, t_quantile
from benchbook.statistics._inputs import SMALLEST, check_confidence
from benchbook.statistics.intraclass import Worth

__all__ = ["SIDES", "Side", "least_to_show", "one_sided_bound", "one_sided_bound_of_clusters"]


Side = Literal["low", "high"]
SIDES: tuple[Side, Side] = ("low", "high")


def one_sided_bound(side: Side, n: float, mean: float, spread: float, furthest: float, confidence: float) -> float:
    """What the mean of all values is at least (`low`) or at most (`high`), given `n` of them, from 0 to 1.

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
    """The same of values in clusters. `mean` is that of all values, each counted once: no bound says it away.

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
