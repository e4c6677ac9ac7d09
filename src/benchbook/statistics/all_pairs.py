"""Ranks from all pairwise comparisons, adjusted by Holm: of runs by their scores, of models by judges' verdicts.

A rank is at least 1 + the number of those that are shown to be better, and at most the number of those that are not
shown to be worse. All these statements hold at once (Mogstad, Romano, Shaikh and Wilhelm 2024).
"""

from __future__ import annotations

import numpy as np

from benchbook.statistics.ground import Floats, Ints

HAIR = 1e-12  # values that differ by rounding alone are ties


class AllPairs:
    """All pairs of what is ranked, in the order of a table's upper triangle: what is said of a pair is a flat array."""

    def __init__(self, n: int) -> None:
        self.n = n
        self.first, self.second = np.triu_indices(n, 1)

    def of(self, table: Floats) -> Floats:
        """The pairs' entries of a symmetric table."""
        return np.asarray(table[self.first, self.second])

    def with_one(self, one: int) -> Ints:
        """The places of one's pairs with each of the others, in their order."""
        others = np.delete(np.arange(self.n), one)
        low, high = np.minimum(others, one), np.maximum(others, one)
        return np.asarray(low * (2 * self.n - low - 1) // 2 + high - low - 1)


def ranks_of(values: Floats) -> Ints:
    """The ranks of values, the higher the better, from 1; those that are alike share one."""
    return np.asarray(1 + values.size - np.searchsorted(np.sort(values), values + HAIR, side="right"))


def ranks_shown(means: Floats, pairs: AllPairs, p: Floats, alpha: float) -> tuple[Ints, Ints]:
    """The first and last rank that each may have, by the pairs of which one is shown to be better."""
    difference = means[pairs.first] - means[pairs.second]
    told = (p <= alpha) & (np.abs(difference) > HAIR)
    better = np.where(difference > 0, pairs.first, pairs.second)[told]
    worse = np.where(difference > 0, pairs.second, pairs.first)[told]
    n = pairs.n
    return 1 + np.bincount(worse, minlength=n), n - np.bincount(better, minlength=n)


def holm_of_pairs(p: Floats) -> Floats:
    """Each p adjusted for all others (Holm 1979)."""
    order = np.argsort(p, kind="stable")
    adjusted = np.empty_like(p)
    adjusted[order] = np.maximum.accumulate(np.minimum(1.0, p[order] * np.arange(p.size, 0, -1)))
    return adjusted
