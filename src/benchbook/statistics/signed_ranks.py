"""Wilcoxon's signed-rank test, for those who ask for it; the sign-flip test needs no approximation."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import Literal

import numpy as np

from benchbook.statistics._arrays import Floats, Values
from benchbook.statistics._distributions import normal_cdf
from benchbook.statistics._inputs import as_pairs
from benchbook.statistics.results import refuse_nan

__all__ = ["SignedRanks", "wilcoxon_signed_rank"]

FEW_PAIRS = 10


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
        warnings=("few_differing_pairs",) if reason is None and n_differing < FEW_PAIRS else (),
    )


def _ranks(sizes: Floats) -> tuple[Floats, Floats]:
    """Mean ranks from 1 on, and how many share each rank of a size above 0."""
    distinct, where, counts = np.unique(sizes, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    return (last - (counts - 1) / 2)[where], counts[distinct > 0].astype(np.float64)
