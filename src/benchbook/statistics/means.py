"""Intervals of a mean: of values, of items asked several times, and from exact sums where values are not kept.

Of repeats: how much they differ, and whether more items or more repeats would help.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import sqrt
from typing import Literal, assert_never

from benchbook.statistics.bounded import clustered_jeffreys, jeffreys, rescaled
from benchbook.statistics.distributions import t_quantile
from benchbook.statistics.ground import (
    ROUNDING,
    Basis,
    Estimate,
    Labels,
    Values,
    all_alike,
    as_values,
    check_confidence,
    cluster_codes,
    refuse_nan,
)

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
    basis = Basis(n, confidence, "t")
    if n == 0:
        return basis.nothing("no_data")
    mean = float(x.mean())
    if n == 1:
        return basis.nothing("one_value", mean)
    if all_alike(x, float(np.abs(x).max())):  # not by the variance, which rounding may leave above 0
        return basis.nothing("no_variance", float(x[0]))
    return _symmetric(basis, mean, float(x.std(ddof=1)) / sqrt(n), n - 1)


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
    basis = Basis(n, confidence, "clustered_t", n_clusters)
    if mean is None or reason is not None:
        return basis.nothing(reason or "no_data", mean)
    return _symmetric(basis, mean, sqrt(float(sums @ sums)) / n, n_clusters - 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class VarianceComponents:
    """A score's variance, split: what items differ by, and what one item's repeats differ by; in squared units.

    None, with a reason, where repeats can't tell. `between_raw` is what the formula gave, also where it is below 0.
    """

    between: float | None
    within: float | None
    between_raw: float | None
    n: int
    n_items: int
    method: str = "one_way_anova"
    reason: str | None = None
    warnings: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        refuse_nan(self)

    @property
    def share_within(self) -> float | None:
        """The part of a single score's variance that is within the item, 0 to 1; None where there is no variance."""
        if self.between is None or self.within is None or self.between + self.within == 0:
            return None
        return self.within / (self.between + self.within)

    def standard_error(self, n_items: int, n_repeats: int) -> float | None:
        """The standard error that the mean would have with so many items, each asked so often."""
        if n_items < 1 or n_repeats < 1:
            raise ValueError(f"{n_items} items, {n_repeats} repeats: one of each at least")
        if self.between is None or self.within is None:
            return None
        return sqrt(self.between / n_items + self.within / (n_items * n_repeats))


@dataclass(frozen=True, slots=True, kw_only=True)
class Repeats:
    """`mean` with its interval, clustered by item where there are repeats.

    `sd` is that of the repeats' means (SPEC C4); None for fewer than two.
    """

    means: tuple[float, ...]  # of each repeat
    mean: Estimate
    sd: float | None
    components: VarianceComponents
    reason: str | None = None

    def __post_init__(self) -> None:
        refuse_nan(self)


def repeat_summary(repeats: Sequence[Values], confidence: float = 0.95) -> Repeats:
    """Mean and spread over repeats; `repeats[r]` holds repeat r's scores, in the items' order.

    Raises: ValueError if repeats have different numbers of items.
    """
    import numpy as np

    rows = [as_values(one) for one in repeats]
    if len({row.size for row in rows}) > 1:
        raise ValueError("every repeat needs a score for every item")
    n_items = int(rows[0].size) if rows else 0
    scores = np.concatenate(rows) if rows else np.empty(0)
    items = np.tile(np.arange(n_items), len(rows))
    means = np.array([row.mean() for row in rows]) if n_items else np.empty(0)
    return Repeats(
        means=tuple(means.tolist()),
        mean=mean_interval(scores, clusters=items if len(rows) > 1 else None, confidence=confidence),
        sd=float(means.std(ddof=1)) if means.size > 1 else None,
        components=variance_components(scores, items),
        reason=None if means.size > 1 else "one_repeat" if means.size else "no_data",
    )


def variance_components(values: Values, items: Labels) -> VarianceComponents:
    """One-way random-effects variance components by analysis of variance (Searle, Casella and McCulloch 1992, ch. 3).

    `items[i]` is the item that `values[i]` belongs to; items may have different numbers of repeats. Null: `no_data`,
    `one_value` for a single item, `one_repeat` where no item has two.
    """
    import numpy as np

    x = as_values(values)
    codes, n_items = cluster_codes(items, int(x.size))
    n = int(x.size)
    reason = "no_data" if n == 0 else "one_value" if n_items == 1 else "one_repeat" if n_items == n else None
    if reason is not None:
        return VarianceComponents(between=None, within=None, between_raw=None, n=n, n_items=n_items, reason=reason)
    sizes = np.bincount(codes, minlength=n_items)
    means = np.bincount(codes, x, n_items) / sizes
    within = float(((x - means[codes]) ** 2).sum()) / (n - n_items)
    between_square = float((sizes * (means - x.mean()) ** 2).sum()) / (n_items - 1)
    typical_size = (n - float((sizes**2).sum()) / n) / (n_items - 1)
    raw = (between_square - within) / typical_size
    return VarianceComponents(
        between=max(0.0, raw),
        within=within,
        between_raw=raw,
        n=n,
        n_items=n_items,
        warnings=("negative_component",) if raw < 0 else (),
    )


def t_interval_of_sums(n: int, total: int, total_of_squares: int, confidence: float = 0.95) -> Estimate:
    """Student's t interval of the mean of `n` integers with this sum and sum of squares, in their unit.

    The variance is exact until its root is taken: there is no cancellation.
    """
    mean = total / n if n else None
    squares = n * total_of_squares - total * total  # n times the sum of squared deviations
    basis = Basis(n, confidence, "t")
    reason = "no_data" if n == 0 else "one_value" if n == 1 else "no_variance" if squares == 0 else None
    if mean is None or reason is not None:
        return basis.nothing(reason or "no_data", mean)
    return _symmetric(basis, mean, sqrt(Fraction(squares, n * n * (n - 1))), n - 1)


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
        return Basis(n, confidence, "clustered_t").nothing(reason or "no_data", mean)
    basis = Basis(n, confidence, "clustered_t", len(parts))
    return _symmetric(basis, mean, sqrt(Fraction(squares, n**4)), len(parts) - 1)


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

    Exact until the end, so that the items' order changes nothing; then in squared units, as doubles.
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


def _symmetric(basis: Basis, mean: float, error: float, degrees: int) -> Estimate:
    half = t_quantile(degrees, (1 + basis.confidence) / 2) * error
    return basis.interval(mean, mean - half, mean + half, error)
