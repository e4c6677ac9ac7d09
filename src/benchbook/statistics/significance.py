"""Tests: were the runs alike, each difference might as well have had the other sign. And many tests at once: twenty
slices give one false alarm at 5 %.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Literal

import numpy as np

from benchbook.statistics.distributions import normal_cdf
from benchbook.statistics.ground import (
    Bools,
    Floats,
    Labels,
    Values,
    as_pairs,
    as_values,
    check_draws,
    refuse_nan,
    sums_by_cluster,
)

Alternative = Literal["two-sided", "greater", "less"]

MOST_FLIPPED = 20  # 2**20 sign patterns are all of them
_FEW_MAGNITUDES = 64
_BLOCK = 1 << 18
_ROUNDING = 1e-12  # of the sum of magnitudes: sums closer than that are ties


@dataclass(frozen=True, slots=True, kw_only=True)
class PermutationTest:
    """A test of differences around 0. `p` is None without data; `n_draws` and `seed` are None where p is exact."""

    p: float | None
    estimate: float | None  # the mean difference
    alternative: Alternative
    method: str
    n: int
    n_differing: int  # pairs (clusters, where these are flipped) whose difference is not 0
    n_draws: int | None = None
    seed: int | None = None
    reason: str | None = None
    warnings: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        refuse_nan(self)


def paired_permutation_test(
    differences: Values,
    *,
    clusters: Labels | None = None,
    alternative: Alternative = "two-sided",
    exact: bool | None = None,
    seed: int = 0,
    n_draws: int = 100_000,
) -> PermutationTest:
    """Sign-flip permutation test of the mean of `differences` (b - a); no normality is assumed (Fisher 1935).

    Exact up to 20 differing pairs; beyond, p = (b + 1) / (m + 1) with b of m seeded draws at least as extreme
    (Phipson and Smyth 2010). With clusters, a cluster's differences change sign together. Quick for marks; several
    seconds where 100,000 differences are all distinct.

    Raises: ValueError if `exact` is True with more than 20 differing pairs.
    """
    check_draws(n_draws, "n_draws")
    d = as_values(differences, "differences")
    units = d if clusters is None else sums_by_cluster(d, clusters)
    size = float(np.abs(d).sum())
    differing = units[np.abs(units) > _ROUNDING * size]
    if exact and differing.size > MOST_FLIPPED:
        raise ValueError(f"{differing.size} pairs differ; exact needs at most {MOST_FLIPPED}")
    by_all = differing.size <= MOST_FLIPPED if exact is None else exact
    p: float | None = None
    if d.size:
        p = _exact_p(differing, alternative) if by_all else _drawn_p(differing, alternative, n_draws, seed)
    return PermutationTest(
        p=p,
        estimate=float(d.mean()) if d.size else None,
        alternative=alternative,
        method="sign_flip_exact" if by_all else "sign_flip_draws",
        n=int(d.size),
        n_differing=int(differing.size),
        n_draws=None if by_all else n_draws,
        seed=None if by_all else seed,
        reason="no_data" if not d.size else None if differing.size else "no_discordant_pairs",
    )


def _exact_p(differing: Floats, alternative: Alternative) -> float:
    sums = np.zeros(1)
    for difference in differing:
        sums = np.concatenate([sums + difference, sums - difference])
    return float(_as_extreme(sums, differing, alternative).mean())


def _drawn_p(differing: Floats, alternative: Alternative, n_draws: int, seed: int) -> float:
    sums = _sign_flipped_sums(np.abs(differing), n_draws, np.random.default_rng(seed))
    return float(_as_extreme(sums, differing, alternative).sum() + 1) / (n_draws + 1)


def _as_extreme(sums: Floats, differing: Floats, alternative: Alternative) -> Bools:
    observed, hair = float(differing.sum()), _ROUNDING * float(np.abs(differing).sum())
    if alternative == "greater":
        return np.asarray(sums >= observed - hair)
    if alternative == "less":
        return np.asarray(sums <= observed + hair)
    return np.asarray(np.abs(sums) >= abs(observed) - hair)


def _sign_flipped_sums(magnitudes: Floats, n_draws: int, rng: np.random.Generator) -> Floats:
    """Sums with every sign drawn anew. Of equal magnitudes, the number of plus signs is all that matters."""
    distinct, counts = np.unique(magnitudes, return_counts=True)
    if distinct.size > _FEW_MAGNITUDES:
        return _sums_by_tables(magnitudes, n_draws, rng)
    sums = np.zeros(n_draws)
    for magnitude, count in zip(distinct, counts, strict=True):
        sums += magnitude * (2.0 * rng.binomial(count, 0.5, n_draws) - count)
    return sums


def _sums_by_tables(magnitudes: Floats, n_draws: int, rng: np.random.Generator) -> Floats:
    """Eight signs at a time: the 256 sums of each eight magnitudes are looked up by a random byte."""
    padded = np.concatenate([magnitudes, np.zeros(-magnitudes.size % 8)]).reshape(-1, 8)
    bits = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1)
    tables = (padded @ (2.0 * bits - 1).T).ravel()
    offsets = np.arange(len(padded), dtype=np.intp) * 256
    block = max(1, _BLOCK // len(padded))
    parts = []
    for start in range(0, n_draws, block):
        drawn = rng.integers(0, 256, (min(block, n_draws - start), len(padded)), dtype=np.uint8)
        parts.append(tables.take(drawn + offsets).sum(axis=1))
    return np.concatenate(parts)


_FEW_PAIRS = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class SignedRanks:
    """The sum of the ranks of pairs where b is larger, and its two-sided p; p is None without data."""

    p: float | None
    rank_sum: float
    n: int
    n_differing: int
    method: str
    reason: str | None = None
    warnings: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        refuse_nan(self)


def wilcoxon_signed_rank(a: Values, b: Values, *, zeros: Literal["pratt", "wilcox"] = "pratt") -> SignedRanks:
    """Wilcoxon's signed-rank test by normal approximation, corrected for ties, without continuity correction.

    `pratt` ranks pairs that don't differ and then drops them (Pratt 1959); `wilcox` drops them first.
    """
    x, y = as_pairs(a, b)
    differences = y - x if zeros == "pratt" else (y - x)[y != x]
    n_differing = int(np.count_nonzero(differences))
    ranks, ties = _ranks(np.abs(differences))
    rank_sum = float(ranks[differences > 0].sum())
    reason = "no_data" if not x.size else "no_discordant_pairs" if not n_differing else None
    p: float | None = None if not x.size else 1.0
    if reason is None:
        n, n_zero = differences.size, differences.size - n_differing
        mean = (n * (n + 1) - n_zero * (n_zero + 1)) / 4
        variance = (n * (n + 1) * (2 * n + 1) - n_zero * (n_zero + 1) * (2 * n_zero + 1)) / 24
        variance -= float(((ties**3) - ties).sum()) / 48
        p = min(1.0, 2 * normal_cdf(-abs(rank_sum - mean) / sqrt(variance)))
    return SignedRanks(
        p=p,
        rank_sum=rank_sum,
        n=int(x.size),
        n_differing=n_differing,
        method=f"signed_rank_{zeros}",
        reason=reason,
        warnings=("few_differing_pairs",) if reason is None and n_differing < _FEW_PAIRS else (),
    )


def _ranks(sizes: Floats) -> tuple[Floats, Floats]:
    """Mean ranks from 1 on, and how many share each rank of a size above 0."""
    distinct, where, counts = np.unique(sizes, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    return (last - (counts - 1) / 2)[where], counts[distinct > 0].astype(np.float64)


@dataclass(frozen=True, slots=True, kw_only=True)
class AdjustedPValues:
    """p-values beside their adjusted forms, in the order given; None where a test had none.

    `holm` is for claims (the chance of any false one), `benjamini_hochberg` for screening (the share of false ones).
    """

    p: tuple[float | None, ...]
    holm: tuple[float | None, ...]
    benjamini_hochberg: tuple[float | None, ...]
    n: int  # how many were looked at: those that are not None


def adjust_p_values(p: Sequence[float | None]) -> AdjustedPValues:
    """Holm 1979, and Benjamini and Hochberg 1995.

    Raises: ValueError for a p outside 0..1.
    """
    given = [float(one) for one in p if one is not None]
    if not all(0 <= one <= 1 for one in given):
        raise ValueError("p-values must lie in 0..1")
    order = sorted(range(len(given)), key=given.__getitem__)
    holm, hochberg = _holm(given, order), _benjamini_hochberg(given, order)
    return AdjustedPValues(
        p=tuple(None if one is None else float(one) for one in p),
        holm=_spread(p, holm),
        benjamini_hochberg=_spread(p, hochberg),
        n=len(given),
    )


def tarone_holm(p: Sequence[float | None], least: Sequence[float]) -> tuple[float | None, ...]:
    """p-values adjusted for one another as by Holm, but counting only tests that could have come out so small.

    `least` is the smallest p that each test can have, whatever its data: of three pairs that differ no test is ever
    significant, so it takes nothing from the others (Tarone 1990, stepped down as Hommel and Krummenauer 1998).

    Raises: ValueError for a p outside 0..1, or below its `least`.
    """
    given = [(float(one), floor) for one, floor in zip(p, least, strict=True) if one is not None]
    if not all(0 <= floor <= one * (1 + 1e-9) and one <= 1 for one, floor in given):
        raise ValueError("p-values must lie in 0..1, and not below the least that their test can have")
    order = sorted(range(len(given)), key=lambda index: given[index][0])
    floors = sorted(floor for _, floor in given)
    adjusted, highest = [0.0] * len(given), 0.0
    for index in order:
        one, floor = given[index]
        n_able = bisect_right(floors, one * (1 + 1e-9))
        highest = max(highest, min(1.0, one * n_able))
        adjusted[index] = highest
        floors.remove(floor)
    return _spread(p, adjusted)


def _holm(p: Sequence[float], order: Sequence[int]) -> list[float]:
    adjusted, highest = [0.0] * len(p), 0.0
    for position, index in enumerate(order):
        highest = max(highest, min(1.0, (len(p) - position) * p[index]))
        adjusted[index] = highest
    return adjusted


def _benjamini_hochberg(p: Sequence[float], order: Sequence[int]) -> list[float]:
    adjusted, lowest = [0.0] * len(p), 1.0
    for position in reversed(range(len(p))):
        index = order[position]
        lowest = min(lowest, len(p) * p[index] / (position + 1))
        adjusted[index] = lowest
    return adjusted


def _spread(p: Sequence[float | None], adjusted: Sequence[float]) -> tuple[float | None, ...]:
    rest = iter(adjusted)
    return tuple(None if one is None else next(rest) for one in p)
