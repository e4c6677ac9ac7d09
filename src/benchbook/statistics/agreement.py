"""Agreement of two raters on the same items, beyond chance, and its interval by random weights.

The Bayesian bootstrap (Rubin 1981) of a statistic of totals: units get random weights, instead of being drawn anew.

A resample of few units never holds what none of them has. If all of twenty ratings agree, every resample does. So one
unit more is spread evenly over what a unit could be (Perks 1947): a little of every kind is in all weighings. As
Student's t is wider than the normal distribution, so is this: the units count for as much less. Many units drown both,
and the plain bootstrap comes out.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

import numpy as np

from benchbook.statistics.bootstrap import Statistic, Units, bootstrap_interval, value_of_units
from benchbook.statistics.distributions import normal_quantile, t_quantile
from benchbook.statistics.ground import (
    Agreement,
    Basis,
    Estimate,
    Floats,
    Ints,
    Labels,
    check_confidence,
    check_draws,
    cluster_codes,
)

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
    basis = Basis(n, confidence, "weighted" if n_clusters is None else "clustered_weighted", n_clusters, seed)
    estimate = value_of_units(units, statistic)
    alone = "one_value" if n_clusters is None else "one_cluster"
    reason = "no_data" if estimate is None else alone if units.size < 2 else None
    found = np.empty(0)
    if estimate is not None and reason is None:
        drawn = statistic(_weighted_totals(units, kinds, confidence, n_resamples, seed))
        found = drawn[np.isfinite(drawn)]
        reason = "sample_too_small" if found.size < n_resamples / 2 else None
    if estimate is None or reason is not None:
        return basis.nothing(reason or "no_data", estimate)
    low, high = np.quantile(found, [(1 - confidence) / 2, (1 + confidence) / 2])
    bounds = min(float(low), estimate), max(float(high), estimate)
    return basis.interval(estimate, *bounds, float(found.std(ddof=1)))


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


Weights = Literal["unweighted", "linear", "quadratic"]
AgreementMethod = Literal["weighted", "bca"]
"""How the interval is made: by random weights (see above), or by bootstrap BCa, far too sure with few ratings."""


def cohens_kappa(
    a: Sequence[Hashable],
    b: Sequence[Hashable],
    categories: Sequence[Hashable] | None = None,
    *,
    weights: Weights = "unweighted",
    clusters: Labels | None = None,
    method: AgreementMethod = "weighted",
    confidence: float = 0.95,
    seed: int = 0,
    n_resamples: int = 10_000,
) -> Agreement:
    """Cohen's kappa (Cohen 1960; weighted: Cohen 1968) with an interval by random weights of items, or of clusters.

    `categories` gives all of them in their order, by which weights are set; without it, those that occur, sorted.
    Null: `one_category` where both raters only ever used the same one.

    Raises: ValueError for a rating that is not among the categories.
    """
    table = _Table.of(a, b, categories)
    disagreement = _disagreement(table.n_categories, weights)

    def kappa(cells: Floats) -> Floats:
        observed = cells @ disagreement[table.cell_a, table.cell_b]
        by_a, by_b = cells @ table.marks_a, cells @ table.marks_b
        return _one_minus(observed * cells.sum(axis=1), ((by_a @ disagreement) * by_b).sum(axis=1))

    return table.agreement(kappa, f"cohens_kappa_{weights}", clusters, method, confidence, seed, n_resamples)


def gwet_ac(
    a: Sequence[Hashable],
    b: Sequence[Hashable],
    categories: Sequence[Hashable] | None = None,
    *,
    weights: Weights = "unweighted",
    clusters: Labels | None = None,
    method: AgreementMethod = "weighted",
    confidence: float = 0.95,
    seed: int = 0,
    n_resamples: int = 10_000,
) -> Agreement:
    """Gwet's AC1, or AC2 with weights (Gwet 2008; 2014, chapter 5), with an interval by random weights of items.

    It does not collapse when nearly all ratings agree. `categories` matters: all that could have been given count.
    Null: `one_category` where there is but one to give. Raises: ValueError for a rating outside of them.
    """
    table = _Table.of(a, b, categories)
    n_categories = table.n_categories
    disagreement = _disagreement(n_categories, weights)
    agreement = 1 - disagreement / max(disagreement.max(initial=0.0), 1.0)
    scale = agreement.sum() / max(n_categories * (n_categories - 1), 1)

    def ac(cells: Floats) -> Floats:
        n = cells.sum(axis=1)
        observed = 1 - cells @ agreement[table.cell_a, table.cell_b] / n
        shares = (cells @ table.marks_a + cells @ table.marks_b) / (2 * n[:, None])
        chance = scale * (shares * (1 - shares)).sum(axis=1)
        return _one_minus(observed, 1 - chance if n_categories > 1 else np.zeros_like(n))

    name = "gwet_ac1" if weights == "unweighted" else f"gwet_ac2_{weights}"
    return table.agreement(ac, name, clusters, method, confidence, seed, n_resamples)


@dataclass(frozen=True, slots=True)
class _Table:
    """The cells of the table of two raters: `cell_a` and `cell_b` are their row and column.

    All cells, or only those that occur where all would be too many.
    """

    item_cells: Ints  # which cell each item is in
    cell_a: Ints
    cell_b: Ints
    n_categories: int

    @classmethod
    def of(cls, a: Sequence[Hashable], b: Sequence[Hashable], categories: Sequence[Hashable] | None) -> _Table:
        if len(a) != len(b):
            raise ValueError(f"a has {len(a)} ratings and b {len(b)}")
        known = _category_numbers(categories if categories is not None else _occurring(a, b))
        size = len(known)
        places = _codes(a, known) * size + _codes(b, known)
        if size**2 <= MOST_KINDS:
            return cls(places, np.repeat(np.arange(size), size), np.tile(np.arange(size), size), size)
        cells, item_cells = np.unique(places, return_inverse=True)
        return cls(item_cells, cells // size, cells % size, size)

    @property
    def marks_a(self) -> Floats:
        return np.eye(self.n_categories)[self.cell_a]

    @property
    def marks_b(self) -> Floats:
        return np.eye(self.n_categories)[self.cell_b]

    def agreement(
        self,
        coefficient: Statistic,
        name: str,
        clusters: Labels | None,
        method: AgreementMethod,
        confidence: float,
        seed: int,
        n_resamples: int,
    ) -> Agreement:
        n, n_cells = self.item_cells.size, self.cell_a.size
        if clusters is None:
            n_clusters = None
            units = Units(np.eye(n_cells), np.bincount(self.item_cells, minlength=n_cells))
        else:
            codes, n_clusters = cluster_codes(clusters, n)
            cells = np.bincount(codes * n_cells + self.item_cells, minlength=n_clusters * n_cells)
            units = Units.of(cells.reshape(n_clusters, n_cells).astype(np.float64))
        same = float((self.cell_a == self.cell_b)[self.item_cells].mean()) if n else None
        whole = method == "weighted" and n > 0 and n_cells == self.n_categories**2
        found = weighted_interval(
            units, np.eye(n_cells) * n / units.size if whole else None, coefficient,
            n=n, n_clusters=n_clusters, confidence=confidence, seed=seed, n_resamples=n_resamples,
        )  # fmt: skip
        return with_agreement(found, name, same)


def with_agreement(found: Estimate, method: str, observed_agreement: float | None) -> Agreement:
    """A bootstrap's result as a coefficient's. Where there are items but no value, chance leaves nothing."""
    reason = "one_category" if found.estimate is None and found.n else found.reason
    named = replace(found, method=method, reason=reason)
    return Agreement(**asdict(named), observed_agreement=observed_agreement)


def _one_minus(numerator: Floats, denominator: Floats) -> Floats:
    """1 - numerator / denominator; NaN where the denominator is 0."""
    undefined = denominator <= 1e-12
    return np.where(undefined, np.nan, 1 - numerator / np.where(undefined, 1.0, denominator))


def _disagreement(n: int, weights: Weights) -> Floats:
    apart = np.abs(np.subtract.outer(np.arange(n), np.arange(n))).astype(np.float64)
    if weights == "unweighted":
        return np.minimum(apart, 1.0)
    return apart if weights == "linear" else apart**2


def _occurring(a: Sequence[Hashable], b: Sequence[Hashable]) -> list[Any]:
    occurring: set[Any] = {*a, *b}
    if None in occurring or any(rating != rating for rating in occurring):  # only NaN does
        raise ValueError("a rating is missing (None or NaN): leave its item out")
    try:
        return sorted(occurring)
    except TypeError:
        raise ValueError("ratings of different types have no order: give all categories, in theirs") from None


def _category_numbers(categories: Sequence[Hashable]) -> dict[Hashable, int]:
    known = {category: number for number, category in enumerate(categories)}
    if len(known) != len(categories):
        raise ValueError("a category is listed twice")
    return known


def _codes(ratings: Sequence[Hashable], known: dict[Hashable, int]) -> Ints:
    for rating in ratings:
        if rating not in known:
            raise ValueError(f"rating {rating!r} is not among the categories {list(known)}")
    return np.array([known[rating] for rating in ratings], dtype=np.intp)
