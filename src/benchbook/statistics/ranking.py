"""Which run is best, and how sure that is: a ranking of runs on the same items.

A run's rank is at least 1 + the number of runs that are shown to be better, and at most the number of runs that are not
shown to be worse. What is shown comes from all pairwise comparisons, adjusted by Holm: so all these statements hold at
once with the confidence asked for, and runs that can't be told apart share their ranks (Mogstad, Romano, Shaikh and
Wilhelm 2024). Resampling ranks is surer than the data: of runs nearly alike it covers the true rank in two of three.

The tests of a pair are those of a comparison, in a form that takes all pairs at once: the mid-p McNemar test where all
scores are 0 or 1; else t of the mean difference, with half a pair added at each end of the scale for what has not been
seen, and never less than the smallest p that flipping signs can give.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from math import atanh, sqrt, tanh

import numpy as np

from benchbook.statistics.all_pairs import HAIR, AllPairs, holm_of_pairs, ranks_of, ranks_shown
from benchbook.statistics.bounded import worth
from benchbook.statistics.distributions import coin_cdfs, normal_quantile, t_cdfs
from benchbook.statistics.ground import (
    FEW_CLUSTERS,
    Basis,
    Estimate,
    Floats,
    Ints,
    Labels,
    Values,
    as_pairs,
    as_values,
    check_confidence,
    cluster_codes,
)

MOST_RUNS = 4_000  # eight million pairs: a gigabyte, and a minute
_SURE = 1e-6  # beyond what rounding makes of a sum of squares
_MOST_HALVED = 1000  # times that 1 is halved before nothing is left
_AT_ONCE = 1000  # pairs whose items are counted


@dataclass(frozen=True, slots=True, kw_only=True)
class RankedRun:
    """A run's place; ranks count from 1, and ties share one. `rank_low` to `rank_high` holds its true rank.

    `p_against_best` is Holm's over all pairs, of the difference to the best run; None for the best itself. Of more than
    MOST_RUNS runs no pair is tested: all three are None.
    """

    name: str
    mean: float
    rank: int
    rank_low: int | None
    rank_high: int | None
    p_against_best: float | None
    among_best: bool  # no run is shown to be better


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranking:
    """Runs from best to worst; empty, with a reason, without items or runs. `too_many_runs` leaves ranks without
    intervals."""

    runs: tuple[RankedRun, ...]
    confidence: float
    method: str
    n: int
    n_clusters: int | None
    n_pairs: int  # of runs, each of which was tested
    reason: str | None = None
    warnings: tuple[str, ...] = ()


def rank_runs(
    scores: Mapping[str, Values],
    *,
    clusters: Labels | None = None,
    higher_is_better: bool = True,
    confidence: float = 0.95,
) -> Ranking:
    """Rank runs by their mean over the same items, `scores[name]` (0 to 1) in the items' order.

    Raises: ValueError if runs have different numbers of items, and for a score outside 0 to 1.
    """
    check_confidence(confidence)
    columns = [as_values(values, name) for name, values in scores.items()]
    n, n_runs = int(columns[0].size) if columns else 0, len(columns)
    if any(column.size != n for column in columns):
        raise ValueError("all runs need a score for every item")
    if any(column.size and not (column.min() >= 0 and column.max() <= 1) for column in columns):
        raise ValueError("scores must lie between 0 and 1")
    codes, n_units = (np.arange(n), n) if clusters is None else cluster_codes(clusters, n)
    alone = "one_value" if clusters is None else "one_cluster"
    few = clusters is not None and 1 < n_units < FEW_CLUSTERS
    is_binary = clusters is None and all(np.isin(column, (0, 1)).all() for column in columns)
    runs: tuple[RankedRun, ...] = ()
    too_many = n_runs > MOST_RUNS
    if n:
        table = np.column_stack(columns) * (1 if higher_is_better else -1)
        pairs, p = None, np.empty(0)
        if not too_many:
            pairs = AllPairs(n_runs)
            p = holm_of_pairs(_mid_p(table, pairs) if is_binary else _t_p(table, pairs, codes, n_units))
        placed = _placed(list(scores), table.mean(axis=0), pairs, p, 1 - confidence)
        runs = tuple(one if higher_is_better else replace(one, mean=-one.mean) for one in placed)
    return Ranking(
        runs=runs,
        confidence=confidence,
        method="all_pairs_holm_mid_p" if is_binary else "all_pairs_holm_t",
        n=n,
        n_clusters=None if clusters is None else n_units,
        n_pairs=0 if too_many else n_runs * (n_runs - 1) // 2,
        reason="no_data" if not n else "too_many_runs" if too_many else alone if n_units == 1 else None,
        warnings=("few_clusters",) * few,
    )


def _placed(names: list[str], means: Floats, pairs: AllPairs | None, p: Floats, alpha: float) -> list[RankedRun]:
    """The runs in their order; without `pairs`, by their means alone. Means are the higher the better."""
    ranks = ranks_of(means)
    best = int(ranks.argmin())
    shown = None if pairs is None else ranks_shown(means, pairs, p, alpha)
    against_best = None if pairs is None else np.insert(p[pairs.with_one(best)], best, 1.0)
    runs = [
        RankedRun(
            name=name,
            mean=float(means[i]),
            rank=int(ranks[i]),
            rank_low=None if shown is None else int(shown[0][i]),
            rank_high=None if shown is None else int(shown[1][i]),
            p_against_best=None if i == best or against_best is None else float(against_best[i]),
            among_best=bool(ranks[i] == 1 if shown is None else shown[0][i] == 1),
        )
        for i, name in enumerate(names)
    ]
    return sorted(runs, key=lambda run: run.rank)


def _mid_p(table: Floats, pairs: AllPairs) -> Floats:
    """The mid-p of every two columns of 0 and 1, as in `mcnemar`."""
    passes = np.abs(table)
    both = passes.T @ passes
    alone = passes.sum(axis=0)[:, None] - both  # only the row's run passes
    of_first, of_second = pairs.of(alone).astype(np.intp), pairs.of(alone.T).astype(np.intp)
    most = len(table) + 1
    found, places = np.unique((of_first + of_second) * most + np.minimum(of_first, of_second), return_inverse=True)
    differing, fewer = found // most, found % most
    tails = coin_cdfs(fewer, differing) + coin_cdfs(fewer - 1, differing)
    return np.asarray(np.minimum(1.0, tails)[places])


def _t_p(table: Floats, pairs: AllPairs, codes: Ints, n_units: int) -> Floats:
    """The p of every two columns' mean difference, with `bounded_difference`'s spread, from products of columns."""
    if n_units < 2:
        return np.ones(pairs.first.size)
    means = table.mean(axis=0)
    size, spread, degrees = _designs(table - means, pairs, codes, n_units)
    difference = means[pairs.first] - means[pairs.second]
    center = difference * size / (size + 1)
    squares = size * (spread + (difference - center) ** 2) + 0.5 * ((1 - center) ** 2 + (1 + center) ** 2)
    t = np.abs(center) / np.sqrt(squares / ((size + 1) * (size + 2)))
    p = 2 * t_cdfs(degrees, -t)
    return np.asarray(np.minimum(1.0, np.maximum(p, _least_p(p, table, pairs, codes, n_units))))


def _designs(deviations: Floats, pairs: AllPairs, codes: Ints, n_units: int) -> tuple[Floats, Floats, Floats]:
    """`worth` of every two columns: size, spread and degrees of freedom."""
    sizes = np.bincount(codes, minlength=n_units).astype(np.float64)
    sums = _sums(deviations, codes, n_units)
    return worth(_lengths(deviations, pairs), _lengths(sums / np.sqrt(sizes)[:, None], pairs), sizes)


def _sums(columns: Floats, codes: Ints, n_units: int) -> Floats:
    """Each column's sums by cluster; of items that stand alone, the items."""
    sums = np.zeros((n_units, columns.shape[1]))
    np.add.at(sums, codes, columns)
    return sums


def _lengths(columns: Floats, pairs: AllPairs) -> Floats:
    """The squared length of the difference of every two columns."""
    products = columns.T @ columns
    own = np.diag(products)
    return np.asarray(np.maximum(0.0, own[pairs.first] + own[pairs.second] - 2 * pairs.of(products)))


def _least_p(p: Floats, table: Floats, pairs: AllPairs, codes: Ints, n_units: int) -> Floats:
    """2 / 2^k where k items (clusters) differ: no sign-flip test gives less, however alike the differences are.

    Of differences with the sum s and the sum of squares q at least s^2 / q are not 0, and q / w^2 if none is beyond w.
    Where that alone shows that 2 / 2^k is below `p`, as nearly everywhere, they are not counted: the least is 0 there.
    """
    sums = _sums(table, codes, n_units)
    totals = sums.sum(axis=0)
    difference, squares = totals[pairs.first] - totals[pairs.second], _lengths(sums, pairs)
    with np.errstate(divide="ignore", invalid="ignore"):
        at_least = np.where(squares > _SURE, difference * difference / squares, 0.0)
    at_least = np.maximum(at_least, squares / np.bincount(codes).max() ** 2) - _SURE
    least = np.zeros(p.size)
    (open_,) = np.nonzero(np.exp2(1.0 - np.minimum(at_least, _MOST_HALVED)) > p)
    by_run = np.ascontiguousarray(sums.T)
    for start in range(0, open_.size, _AT_ONCE):
        chosen = open_[start : start + _AT_ONCE]
        k = (np.abs(by_run[pairs.first[chosen]] - by_run[pairs.second[chosen]]) > HAIR).sum(axis=1)
        least[chosen] = np.exp2(1.0 - np.minimum(k, _MOST_HALVED))
    return np.minimum(least, 1.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class RankCorrelation:
    """Correlations of two rankings, from -1 (opposite order) to 1 (the same order)."""

    kendall_tau_b: Estimate
    spearman: Estimate


def rank_correlation(a: Values, b: Values, confidence: float = 0.95) -> RankCorrelation:
    """Kendall's tau-b and Spearman's rho, with intervals by Fisher's z (Bonett and Wright 2000).

    Standard errors of z: sqrt(0.437 / (n - 4)) and sqrt((1 + rho^2 / 2) / (n - 3)). Null: `no_data`, `one_value`, or
    `no_variance` where one side's values are all alike; null bounds: `sample_too_small`, `perfect_correlation`.
    """
    x, y = as_pairs(a, b)
    check_confidence(confidence)
    n, reason = int(x.size), _why_not(x, y)
    if reason is not None:
        tau, rho = (Basis(n, confidence, method).nothing(reason) for method in ("kendall_tau_b", "spearman"))
        return RankCorrelation(kendall_tau_b=tau, spearman=rho)
    of_ranks = float(np.corrcoef(_mean_ranks(x), _mean_ranks(y))[0, 1])
    return RankCorrelation(
        kendall_tau_b=_by_fisher(_tau_b(x, y), n, 4, lambda _: 0.437, confidence, "kendall_tau_b"),
        spearman=_by_fisher(of_ranks, n, 3, lambda rho: 1 + rho * rho / 2, confidence, "spearman"),
    )


def _mean_ranks(x: Floats) -> Floats:
    """Each value's rank; those that are alike share the mean of theirs."""
    _, places, counts = np.unique(x, return_inverse=True, return_counts=True)
    return (np.cumsum(counts) - (counts - 1) / 2)[places]


def _tau_b(x: Floats, y: Floats) -> float:
    """Pairs in the same order less those in opposite order, over the root of (pairs not tied in x) (not tied in y)
    (Kendall 1945), in the time of a sort (Knight 1966)."""
    order = np.lexsort((y, x))
    ranks = np.unique(y[order], return_inverse=True)[1]
    pairs, opposite = x.size * (x.size - 1) // 2, _inversions(ranks)
    x_tied, y_tied, both_tied = _tied_pairs(x), _tied_pairs(y), _tied_pairs(np.stack([x, y]))
    same = pairs - x_tied - y_tied + both_tied - opposite
    return (same - opposite) / sqrt(pairs - x_tied) / sqrt(pairs - y_tied)


def _tied_pairs(values: Floats) -> int:
    counts = np.unique(values, axis=-1, return_counts=True)[1]
    return int((counts * (counts - 1) // 2).sum())


def _inversions(ranks: Ints) -> int:
    """Pairs of which the first is larger: bit by bit, among those that are alike in the bits above."""
    found = 0
    for bit in reversed(range(int(ranks.max()).bit_length())):
        ranks = ranks[np.argsort(ranks >> (bit + 1), kind="stable")]
        is_one = (ranks >> bit) & 1
        ones = np.cumsum(is_one)
        starts = np.searchsorted(ranks >> (bit + 1), ranks >> (bit + 1))  # of those alike
        before = ones - np.where(starts > 0, ones[starts - 1], 0)
        found += int(before[is_one == 0].sum())
    return found


def _why_not(x: Floats, y: Floats) -> str | None:
    if x.size < 2:
        return "one_value" if x.size else "no_data"
    return "no_variance" if np.ptp(x) == 0 or np.ptp(y) == 0 else None


def _by_fisher(
    r: float, n: int, lost: int, variance: Callable[[float], float], confidence: float, method: str
) -> Estimate:
    basis, r = Basis(n, confidence, method), max(-1.0, min(1.0, r))
    if n <= lost:
        return basis.nothing("sample_too_small", r)
    if abs(r) > 1 - 1e-12:
        return basis.nothing("perfect_correlation", float(round(r)))
    half = normal_quantile((1 + confidence) / 2) * sqrt(variance(r) / (n - lost))
    return basis.interval(r, tanh(atanh(r) - half), tanh(atanh(r) + half))
