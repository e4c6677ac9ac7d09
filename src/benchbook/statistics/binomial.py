"""Intervals by the binomial distribution: of a proportion, and of a percentile by order statistics."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from typing import TYPE_CHECKING, Any

from benchbook.statistics.clusters import Side, one_sided_bound_of_clusters, worth_of_clusters
from benchbook.statistics.distributions import beta_quantile, binomial_cdf, binomial_quantile, normal_quantile
from benchbook.statistics.ground import (
    Basis,
    Estimate,
    RankInterval,
    Values,
    as_values,
    check_confidence,
    check_counts,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray


def wilson(successes: int, n: int, confidence: float = 0.95) -> Estimate:
    """Wilson's score interval (Wilson 1927): covers near 0 and 1, where mean and standard error collapse.

    Raises: ValueError unless 0 <= successes <= n.
    """
    check_counts(successes, n)
    check_confidence(confidence)
    basis = Basis(n, confidence, "wilson")
    if n == 0:
        return basis.nothing("no_data")
    z = normal_quantile((1 + confidence) / 2)
    p = successes / n
    middle = (p + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    # At 0 and at n the bound is the estimate itself, which subtraction would miss by a hair.
    low = 0.0 if successes == 0 else middle - half
    high = 1.0 if successes == n else middle + half
    return basis.interval(p, low, high)


def clopper_pearson(successes: int, n: int, confidence: float = 0.95) -> Estimate:
    """The exact interval (Clopper and Pearson 1934): covers at least as often as promised, and is wider for it.

    Raises: ValueError unless 0 <= successes <= n.
    """
    check_counts(successes, n)
    check_confidence(confidence)
    basis = Basis(n, confidence, "clopper_pearson")
    if n == 0:
        return basis.nothing("no_data")
    tail = (1 - confidence) / 2
    low = 0.0 if successes == 0 else beta_quantile(successes, n - successes + 1, tail)
    high = 1.0 if successes == n else beta_quantile(successes + 1, n - successes, 1 - tail)
    return basis.interval(successes / n, low, high)


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


def percentile_bound_of_clusters(
    side: Side, values: Sequence[float], clusters: Sequence[int], q: float, confidence: float
) -> float | None:
    """The `low` or `high` bound of the `q` quantile, as one of the values; None where values or clusters are too few.
    `clusters[i]` numbers the cluster of `values[i]`; a value may be infinite.

    Raises: ValueError for a confidence or q outside 0..1.
    """
    import numpy as np

    check_confidence(confidence)
    if not 0 < q < 1:
        raise ValueError(f"q must lie between 0 and 1, not {q}")
    x = np.asarray(values, dtype=np.float64)
    numbers, codes = np.unique(np.asarray(clusters), return_inverse=True)
    if numbers.size < 2:
        return None
    sizes = np.bincount(codes)
    distinct = np.unique(x)
    if side == "low":  # the greatest value that surely as many reach as lie beyond the quantile
        distinct = distinct[::-1]

    def is_bound(candidate: float) -> bool:
        beyond = x >= candidate if side == "low" else x > candidate
        found = _bound(side, np.bincount(codes, beyond.astype(np.float64)), sizes, confidence)
        return found >= 1 - q if side == "low" else found <= 1 - q

    first, last = 0, len(distinct)
    while first < last:
        middle = (first + last) // 2
        first, last = (first, middle) if is_bound(distinct[middle]) else (middle + 1, last)
    return float(distinct[first]) if first < len(distinct) and np.isfinite(distinct[first]) else None


def _bound(side: Side, beyond: NDArray[Any], sizes: NDArray[Any], confidence: float) -> float:
    import numpy as np

    kinds, times = np.unique(np.stack([sizes, beyond.astype(np.int64)]), axis=1, return_counts=True)
    counts = {
        (size, many, many): float(count) for size, many, count in zip(*kinds.tolist(), times.tolist(), strict=True)
    }
    mean = float(beyond.sum() / sizes.sum())
    furthest = float(mean > 0) if side == "low" else float(mean == 1)
    return one_sided_bound_of_clusters(side, worth_of_clusters(counts), mean, furthest, confidence)
