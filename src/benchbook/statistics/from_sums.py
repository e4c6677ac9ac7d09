"""Intervals of a mean from exact sums alone, for runs whose values are not kept."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from fractions import Fraction
from math import sqrt

from benchbook.statistics._distributions import t_quantile
from benchbook.statistics._inputs import FEW_CLUSTERS, check_confidence
from benchbook.statistics.bounded_means import clustered_jeffreys, jeffreys, rescaled
from benchbook.statistics.repeats import VarianceComponents
from benchbook.statistics.results import Estimate, without_interval

__all__ = [
    "clustered_jeffreys_of_sums",
    "clustered_mean_of_sums",
    "jeffreys_of_sums",
    "spread_of_sums",
    "t_interval_of_sums",
    "variance_components_of_sums",
]


def t_interval_of_sums(n: int, total: int, total_of_squares: int, confidence: float = 0.95) -> Estimate:
    """Student's t interval of the mean of `n` integers with this sum and sum of squares, in their unit.

    The variance is exact until its root is taken: there is no cancellation.
    """
    mean = total / n if n else None
    squares = n * total_of_squares - total * total  # n times the sum of squared deviations
    reason = "no_data" if n == 0 else "one_value" if n == 1 else "no_variance" if squares == 0 else None
    if mean is None or reason is not None:
        return without_interval(mean, n=n, confidence=confidence, method="t", reason=reason or "no_data")
    error = sqrt(Fraction(squares, n * n * (n - 1)))
    return _symmetric(mean, error, n - 1, n, confidence, "t")


def clustered_mean_of_sums(clusters: Iterable[tuple[int, int]], confidence: float = 0.95) -> Estimate:
    """The mean of integers with a standard error by clusters; each cluster is `(size, sum)`.

    SE = sqrt(sum over clusters of (sum of deviations)^2) / n, and t with clusters - 1 degrees of freedom (Miller 2024,
    arXiv 2411.00640, section 2.2).
    """
    parts = [(size, total) for size, total in clusters if size]
    n, whole = sum(size for size, _ in parts), sum(total for _, total in parts)
    mean = whole / n if n else None
    # n times each cluster's sum of deviations is an integer.
    squares = sum((n * total - size * whole) ** 2 for size, total in parts)
    reason = "no_data" if n == 0 else "one_cluster" if len(parts) == 1 else "no_variance" if squares == 0 else None
    if mean is None or reason is not None:
        return without_interval(mean, n=n, confidence=confidence, method="clustered_t", reason=reason or "no_data")
    error = sqrt(Fraction(squares, n**4))
    return _symmetric(mean, error, len(parts) - 1, n, confidence, "clustered_t", n_clusters=len(parts))


def jeffreys_of_sums(
    n: int, total: int, total_of_squares: int, highest: int = 1, confidence: float = 0.95, *, unseen: bool = False
) -> Estimate:
    """`bounded_mean` of `n` integers from 0 to `highest` with this sum and sum of squares, in their unit.

    With `unseen`, a single value, and values all alike, have the interval of a spread that is not seen yet.
    """
    check_confidence(confidence)
    spread = spread_of_sums(n, total, total_of_squares, highest)
    found = jeffreys(n, total / (n * highest) if n else 0.0, spread, confidence, unseen=unseen)
    return rescaled(found, 0.0, highest)


def clustered_jeffreys_of_sums(
    clusters: Iterable[tuple[int, int]], total_of_squares: int, highest: int = 1, confidence: float = 0.95
) -> Estimate:
    """`bounded_mean` of integers from 0 to `highest` in clusters, each `(size, sum)`; the squares are of all values."""
    check_confidence(confidence)
    parts = [(size, total) for size, total in clusters if size]
    n, whole = sum(size for size, _ in parts), sum(total for _, total in parts)
    squares = sum((n * total - size * whole) ** 2 for size, total in parts)
    found = clustered_jeffreys(
        [size for size, _ in parts],
        whole / (n * highest) if n else 0.0,
        spread_of_sums(n, whole, total_of_squares, highest),
        float(Fraction(squares, (n * n * highest) ** 2)) if n else 0.0,
        confidence,
    )
    return rescaled(found, 0.0, highest)


def spread_of_sums(n: int, total: int, total_of_squares: int, highest: int) -> float:
    """The mean squared deviation, with `highest` for the unit; exact until the end."""
    return float(Fraction(n * total_of_squares - total * total, (n * highest) ** 2)) if n else 0.0


def variance_components_of_sums(
    items: Iterable[tuple[int, int]], total_of_squares: int, unit: int = 1
) -> VarianceComponents:
    """`variance_components` of integers: each item is `(how many values, their sum)`; `unit` of them make 1.

    Exact until the end, so that nothing hangs on the items' order; then in squared units, as doubles.
    """
    n = n_items = total = squared_sizes = 0
    squared_sums: Counter[int] = Counter()  # by size of the item
    for size, of_item in items:
        if size:
            n, n_items, total = n + size, n_items + 1, total + of_item
            squared_sizes += size * size
            squared_sums[size] += of_item * of_item
    reason = "no_data" if n == 0 else "one_value" if n_items == 1 else "one_repeat" if n_items == n else None
    if reason is not None:
        return VarianceComponents(between=None, within=None, between_raw=None, n=n, n_items=n_items, reason=reason)
    of_means = sum((Fraction(squares, size) for size, squares in squared_sums.items()), Fraction(0))
    within = (total_of_squares - of_means) / (n - n_items)
    between_square = (of_means - Fraction(total * total, n)) / (n_items - 1)
    typical_size = (n - Fraction(squared_sizes, n)) / (n_items - 1)
    raw = (between_square - within) / typical_size
    return VarianceComponents(
        between=float(max(Fraction(0), raw) / unit**2),
        within=float(within / unit**2),
        between_raw=float(raw / unit**2),
        n=n,
        n_items=n_items,
        warnings=("negative_component",) if raw < 0 else (),
    )


def _symmetric(
    mean: float, error: float, degrees: int, n: int, confidence: float, method: str, n_clusters: int | None = None
) -> Estimate:
    half = t_quantile(degrees, (1 + confidence) / 2) * error
    return Estimate(
        estimate=mean,
        low=mean - half,
        high=mean + half,
        confidence=confidence,
        method=method,
        n=n,
        warnings=("few_clusters",) if n_clusters is not None and n_clusters < FEW_CLUSTERS else (),
        standard_error=error,
        n_clusters=n_clusters,
    )
