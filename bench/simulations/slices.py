"""Slices of a comparison: twenty of twenty items, adjusted for one another."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from benchbook.statistics import adjust_p_values, mcnemar, tarone_holm
from simulations.ground import Line, Measured, at_most

N_SLICES, N_ITEMS = 20, 20
Counts = Sequence[tuple[int, int]]  # lost and won, of each slice


def lines(draws: int) -> Iterator[Line]:
    """Any false claim where nothing is there; and how often the one slice is found that is better by 0.3."""
    draws = max(20, draws // 2)
    for share in (0.1, 0.3):
        rng = np.random.default_rng([10, round(100 * share)])
        nothing, effect = np.zeros(N_SLICES), np.zeros(N_SLICES)
        effect[0] = 0.3
        false, found = (_tally(rng, share, one, draws) for one in (nothing, effect))
        today, *rest = (Measured(name, false[name][0], found[name][1]) for name in METHODS)
        yield Line(
            where="slices", case=f"20 of 20 items, {100 * share:g} % differ: any false; one better by 0.3 found",
            goal=at_most(5), today=today, others=tuple(rest), cost="power, %", less_is_better=False, draws=draws,
        )  # fmt: skip


def _tally(rng: np.random.Generator, share: float, effect: np.ndarray, draws: int) -> dict[str, tuple[float, float]]:
    """Percent of draws in which any slice, and in which the first slice, is told apart."""
    found = {name: np.zeros(2) for name in METHODS}
    for _ in range(draws):
        # A better slice loses nothing, and wins what it takes.
        lost = rng.binomial(N_ITEMS, np.where(effect > 0, 0.0, share / 2))
        won = rng.binomial(N_ITEMS - lost, np.where(effect > 0, effect, share / 2 / (1 - share / 2)))
        counts = list(zip(lost.tolist(), won.tolist(), strict=True))
        for name, method in METHODS.items():
            told = [p <= 0.05 for p in method(counts)]
            found[name] += [any(told), told[0]]
    return {name: (100 * one[0] / draws, 100 * one[1] / draws) for name, one in found.items()}


def by_tarone_holm(counts: Counts) -> list[float]:
    least = [0.5 ** (lost + won) for lost, won in counts]  # as `comparison.difference` has it, of the mid-p test
    return _known(tarone_holm([mcnemar(*one).p_mid for one in counts], least))


def by_holm(counts: Counts) -> list[float]:
    return _known(adjust_p_values([mcnemar(*one).p_mid for one in counts]).holm)


def by_holm_of_exact(counts: Counts) -> list[float]:
    return _known(adjust_p_values([mcnemar(*one).p_exact for one in counts]).holm)


def _known(adjusted: Sequence[float | None]) -> list[float]:
    return [1.0 if p is None else p for p in adjusted]


METHODS: dict[str, Callable[[Counts], list[float]]] = {
    "Tarone-Holm, mid-p": by_tarone_holm,
    "Holm, mid-p": by_holm,
    "Holm, exact McNemar": by_holm_of_exact,
}
