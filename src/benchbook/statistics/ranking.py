"""Which run is best, and how sure that is: a ranking of runs on the same items."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from benchbook.statistics._arrays import Floats, Ints, Labels, Values
from benchbook.statistics._distributions import t_cdf
from benchbook.statistics._inputs import as_values, check_confidence, check_draws, cluster_codes
from benchbook.statistics.bootstrap import Units, resampled_totals
from benchbook.statistics.means import FEW_CLUSTERS, mean_interval
from benchbook.statistics.multiplicity import adjust_p_values
from benchbook.statistics.sign_flips import paired_permutation_test

__all__ = ["RankedRun", "Ranking", "rank_runs"]

MOST_FLIPPED = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class RankedRun:
    """A run's place; ranks count from 1, and ties share one. Null bounds where there is one unit to resample.

    `p_against_best` is Holm's, of the difference to the best run; None for the best itself.
    """

    name: str
    mean: float
    rank: int
    rank_low: int | None
    rank_high: int | None
    p_against_best: float | None
    among_best: bool  # not distinguishable from the best


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranking:
    """Runs from best to worst; empty, with a reason, without items or runs."""

    runs: tuple[RankedRun, ...]
    confidence: float
    method: str
    n: int
    n_clusters: int | None
    seed: int
    reason: str | None = None
    warnings: tuple[str, ...] = ()


def rank_runs(
    scores: Mapping[str, Values],
    *,
    clusters: Labels | None = None,
    higher_is_better: bool = True,
    confidence: float = 0.95,
    seed: int = 0,
    n_resamples: int = 10_000,
) -> Ranking:
    """Rank runs by their mean over the same items, `scores[name]` in the items' order.

    Rank intervals: percentiles of each run's rank over resamples of whole items, or clusters. Among the best are the
    runs that a paired test of their difference to the best run, adjusted by Holm, does not tell from it; so the truly
    best run is among them with `confidence` at least. Tests: sign flips up to 1,000 items, t beyond.

    Raises: ValueError if runs have different numbers of items.
    """
    check_confidence(confidence)
    check_draws(n_resamples, "n_resamples")
    columns = [as_values(values, name) for name, values in scores.items()]
    n = int(columns[0].size) if columns else 0
    if any(column.size != n for column in columns):
        raise ValueError("all runs need a score for every item")
    codes, n_units = (np.arange(n), n) if clusters is None else cluster_codes(clusters, n)
    runs: list[RankedRun] = []
    if n:
        places = _Places.of(columns, codes, higher_is_better)
        bounds = places.intervals(confidence, seed, n_resamples)
        p = _against_best(columns, int(places.ranks.argmin()), clusters, seed)
        runs = _ranked_runs(list(scores), places, bounds, p, 1 - confidence)
    alone = "one_value" if clusters is None else "one_cluster"
    few = clusters is not None and 1 < n_units < FEW_CLUSTERS
    return Ranking(
        runs=tuple(sorted(runs, key=lambda run: run.rank)),
        confidence=confidence,
        method="bootstrap_ranks",
        n=n,
        n_clusters=None if clusters is None else n_units,
        seed=seed,
        reason="no_data" if not n else alone if n_units == 1 else None,
        warnings=("few_clusters",) * few,
    )


@dataclass(frozen=True, slots=True)
class _Places:
    """`table` has a row a unit and a column a run: sums of scores, the better the higher; `sizes` are items a unit."""

    table: Floats
    sizes: Ints
    sign: int

    @classmethod
    def of(cls, columns: list[Floats], codes: Ints, higher_is_better: bool) -> _Places:
        sign = 1 if higher_is_better else -1
        table = np.column_stack([sign * np.bincount(codes, column) for column in columns])
        return cls(table.astype(np.float64), np.bincount(codes), sign)

    @property
    def means(self) -> Floats:
        return np.asarray(self.sign * self.table.sum(axis=0) / self.sizes.sum())

    @property
    def ranks(self) -> Ints:
        return np.asarray(_ranks(self.table.sum(axis=0)[None, :])[0])

    def intervals(self, confidence: float, seed: int, n_resamples: int) -> list[tuple[int, int] | None]:
        """Of each run's rank; None where there is one unit alone."""
        n_units, n_runs = self.table.shape
        if n_units < 2:
            return [None] * n_runs
        units = Units.of(np.column_stack([self.table, self.sizes]))
        totals = resampled_totals(units, n_resamples, seed)
        ranks = _ranks(totals[:, :-1] / totals[:, -1:])
        tail = (1 - confidence) / 2
        low, high = np.quantile(ranks, [tail, 1 - tail], axis=0, method="inverted_cdf")
        return [(int(first), int(last)) for first, last in zip(low, high, strict=True)]


def _ranked_runs(
    names: list[str],
    places: _Places,
    bounds: list[tuple[int, int] | None],
    p: list[float | None],
    alpha: float,
) -> list[RankedRun]:
    means, ranks = places.means, places.ranks
    runs = []
    for i, name in enumerate(names):
        low, high = bounds[i] or (None, None)
        against_best = p[i]
        runs.append(
            RankedRun(
                name=name,
                mean=float(means[i]),
                rank=int(ranks[i]),
                rank_low=low,
                rank_high=high,
                p_against_best=against_best,
                among_best=against_best is None or against_best > alpha,
            )
        )
    return runs


def _ranks(scores: Floats) -> Ints:
    """1 + how many are better, in each row. Scores that differ by rounding alone are ties."""
    hair = 1e-12 * np.maximum(1.0, np.abs(scores).max(axis=1))
    better = np.zeros(scores.shape, dtype=np.intp)
    for column in range(scores.shape[1]):
        better += scores[:, column, None] > scores + hair[:, None]
    return np.asarray(better + 1)


def _against_best(columns: list[Floats], best: int, clusters: Labels | None, seed: int) -> list[float | None]:
    """Holm's p of each run's difference to the best; None for the best itself."""
    p = [
        None if i == best else _p_of_difference(column - columns[best], clusters, seed)
        for i, column in enumerate(columns)
    ]
    return list(adjust_p_values(p).holm)


def _p_of_difference(differences: Floats, clusters: Labels | None, seed: int) -> float | None:
    """By sign flips; for more items than MOST_FLIPPED by t, which is as good there, and quick."""
    if differences.size > MOST_FLIPPED:
        found = mean_interval(differences, clusters=clusters)
        if found.estimate is not None and found.standard_error:
            degrees = (found.n_clusters or found.n) - 1
            return 2 * t_cdf(degrees, -abs(found.estimate) / found.standard_error)
    return paired_permutation_test(differences, clusters=clusters, seed=seed).p
