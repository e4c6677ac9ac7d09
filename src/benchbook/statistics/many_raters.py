"""Agreement of many raters, also where some ratings are missing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from benchbook.statistics.agreement import MOST_KINDS, weighted_interval, with_agreement
from benchbook.statistics.bootstrap import Statistic, Units, bootstrap_interval
from benchbook.statistics.ground import Agreement, Basis, Floats, Ints, Labels, as_values, cluster_codes

Level = Literal["nominal", "ordinal", "interval", "ratio"]
_MOST_CELLS = 1_000_000  # a resample sums, over distinct items, tables of values by values


def krippendorff_alpha(
    ratings: Sequence[Sequence[float | str | None]],
    *,
    level: Level = "ordinal",
    clusters: Labels | None = None,
    confidence: float = 0.95,
    seed: int = 0,
    n_resamples: int = 10_000,
) -> Agreement:
    """Krippendorff's alpha (Krippendorff 2011) with an interval by random weights of items, or of clusters.

    `ratings` has a row a rater and a column an item; None where a rater left it out. Words are nominal only. Items with
    fewer than two ratings say nothing and are left out. Null: `no_data` where no item has two, `one_category`; null
    bounds: `too_many_values` where resampling would take too long (1,000 items that differ, at 32 values).

    Raises: ValueError for rows of different lengths, words at another level, or not a cluster for each item.
    """
    counts, values = _counts(ratings, level)
    rated = counts.sum(axis=1) >= 2
    codes = None if clusters is None else cluster_codes(clusters, len(counts))[0][rated]
    counts = counts[rated]
    n = len(counts)
    table = _coincidences(counts)
    same = float(np.trace(table) / table.sum()) if n else None
    if n == 0 or np.count_nonzero(counts.sum(axis=0)) < 2:
        reason = "one_category" if n else "no_data"
        return with_agreement(Basis(n, confidence, "").nothing(reason), f"krippendorff_alpha_{level}", same)
    from krippendorff import alpha

    estimate = float(alpha(value_counts=counts, value_domain=values, level_of_measurement=level))
    distinct, place, times = np.unique(counts, axis=0, return_inverse=True, return_counts=True)
    n_clusters = None if codes is None else int(np.unique(codes).size)
    if max(len(distinct), n_clusters or 0) * values.size**2 > _MOST_CELLS:
        found = Basis(n, confidence, "", n_clusters).nothing("too_many_values", estimate)
        return with_agreement(found, f"krippendorff_alpha_{level}", same)
    tables = np.stack([_coincidences(one[None, :]).ravel() for one in distinct])
    units = Units(tables, times) if codes is None else _units_of_clusters(tables, place.ravel(), codes)
    found = weighted_interval(
        units, _pairs_of_values(values.size, counts.sum() / units.size), _alpha_of(values, level),
        n=n, n_clusters=n_clusters, confidence=confidence, seed=seed, n_resamples=n_resamples,
    )  # fmt: skip
    return with_agreement(found, f"krippendorff_alpha_{level}", same)


def _pairs_of_values(size: int, n_ratings: float) -> Floats | None:
    """A row for each pair of values that a unit of so many ratings could have; None where there are too many."""
    if size**2 > MOST_KINDS:
        return None
    pairs = np.eye(size**2).reshape(size**2, size, size)
    return np.asarray((pairs + pairs.swapaxes(1, 2)).reshape(size**2, size**2) * n_ratings / 2)


def _units_of_clusters(tables: Floats, place: Ints, codes: Ints) -> Units:
    """The sum of each cluster's coincidences; `place` says which of the `tables` is an item's."""
    _, clusters = np.unique(codes, return_inverse=True)
    times = np.zeros((int(clusters.max()) + 1, len(tables)))
    np.add.at(times, (clusters, place), 1)
    return Units.of(times @ tables)


def fleiss_kappa(
    counts: Sequence[Sequence[int]], *, confidence: float = 0.95, seed: int = 0, n_resamples: int = 10_000
) -> Agreement:
    """Fleiss' kappa (Fleiss 1971) with a bootstrap BCa interval over items.

    `counts` has a row an item and a column a category: how many raters chose it. Null: `no_data`, `one_category`.

    Raises: ValueError unless every item has the same number of raters, two at least.
    """
    table = np.asarray(counts, dtype=np.float64).reshape(len(counts), -1 if len(counts) else 0)
    raters = np.unique(table.sum(axis=1))
    whole = bool((table >= 0).all() and (table % 1 == 0).all())  # nor NaN
    if not whole or raters.size > 1 or (raters.size == 1 and raters[0] < 2):
        raise ValueError("every item needs the same number of raters, two at least, counted in whole numbers")
    m = float(raters[0]) if raters.size else 0.0
    same = float(((table**2).sum() / len(table) - m) / (m * (m - 1))) if raters.size else None

    def kappa(totals: Floats) -> Floats:
        n = totals[:, 1:].sum(axis=1) / m
        observed = (totals[:, 0] / n - m) / (m * (m - 1))
        chance = ((totals[:, 1:] / (n * m)[:, None]) ** 2).sum(axis=1)
        undefined = chance >= 1 - 1e-12
        return np.where(undefined, np.nan, (observed - chance) / np.where(undefined, 1.0, 1 - chance))

    units = Units.of(np.column_stack([(table**2).sum(axis=1), table]))
    found = bootstrap_interval(units, kappa, n=len(table), confidence=confidence, seed=seed, n_resamples=n_resamples)
    return with_agreement(found, "fleiss_kappa", same)


def _counts(ratings: Sequence[Sequence[float | str | None]], level: Level) -> tuple[Floats, Floats]:
    """`(counts, values)`: how many raters gave each item (row) each value (column, ascending)."""
    if len({len(row) for row in ratings}) > 1:
        raise ValueError("every rater needs a rating, or None, for every item")
    value_of = _value_of({rating for row in ratings for rating in row if rating is not None}, level)
    values = np.unique(np.array(list(value_of.values()), dtype=np.float64))
    column = {rating: int(np.searchsorted(values, value)) for rating, value in value_of.items()}
    counts = np.zeros((len(ratings[0]) if ratings else 0, values.size))
    for row in ratings:
        for item, rating in enumerate(row):
            if rating is not None:
                counts[item, column[rating]] += 1
    return counts, values


def _value_of(given: set[float | str], level: Level) -> dict[float | str, float]:
    """Each rating as a number; words, which have no order, by their place in the alphabet."""
    if not any(isinstance(rating, str) for rating in given):
        listed = [float(rating) for rating in given]
        if level == "ratio" and min(listed, default=0.0) < 0:
            raise ValueError("alpha of level 'ratio' needs ratings of 0 or more")
        return dict(zip(given, as_values(listed, "ratings").tolist(), strict=True))
    if level != "nominal":
        raise ValueError(f"words have no order; alpha of level {level!r} needs numbers")
    return {rating: float(place) for place, rating in enumerate(sorted(given, key=str))}


def _coincidences(counts: Floats) -> Floats:
    """Pairs of values within items, each item's pairs weighing as much as its ratings."""
    weights = 1 / (counts.sum(axis=1) - 1)
    pairs = (counts * weights[:, None]).T @ counts
    return np.asarray(pairs - np.diag((counts * weights[:, None]).sum(axis=0)))


def _alpha_of(values: Floats, level: Level) -> Statistic:
    """Alpha of summed coincidences; the library computes one at a time, and resamples are many."""
    size = values.size

    def alpha(totals: Floats) -> Floats:
        table = totals.reshape(-1, size, size)
        marginals = table.sum(axis=2)
        distance = _ordinal_distances(marginals) if level == "ordinal" else _distances(values, level)[None]
        observed = (table * distance).sum(axis=(1, 2))
        chance = ((marginals[:, :, None] * marginals[:, None, :]) * distance).sum(axis=(1, 2))
        undefined = chance <= 1e-12
        scale = marginals.sum(axis=1) - 1
        return np.where(undefined, np.nan, 1 - scale * observed / np.where(undefined, 1.0, chance))

    return alpha


def _distances(values: Floats, level: Level) -> Floats:
    apart = np.abs(np.subtract.outer(values, values))
    if level == "nominal":
        return (apart > 0).astype(np.float64)
    if level == "interval":
        return apart**2
    sums = np.add.outer(values, values)
    return np.where(sums == 0, 0.0, apart / np.where(sums == 0, 1.0, sums)) ** 2


def _ordinal_distances(marginals: Floats) -> Floats:
    """Squared number of ratings between two values, the two counted half (Krippendorff 2011, section C)."""
    middles = np.cumsum(marginals, axis=1) - marginals / 2
    return np.asarray((middles[:, :, None] - middles[:, None, :]) ** 2)
