"""Rank intervals: every run's interval holds its true rank, all of them at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import numpy as np

from benchbook.statistics import rank_runs
from simulations.ground import ALL_AT_ONCE, Floats, Line, Measured

N_RESAMPLES = 400
RANKS = dict[int, tuple[int, int]]  # by run: first and last rank

CASES: Mapping[str, tuple[tuple[float, ...], str]] = {
    "four runs alike, 100 items": ((0.0, 0.0, 0.0, 0.0), "passes"),
    "four runs 0.01 apart, 100 items": ((0.0, -0.01, -0.02, -0.03), "passes"),
    "four runs 0.01 apart, 100 graded items": ((0.0, -0.01, -0.02, -0.03), "scores"),
    "four runs, one better by 0.1, 100 items": ((0.1, 0.0, 0.0, 0.0), "passes"),
    "four runs that are all 0": ((-1.0, -1.0, -1.0, -1.0), "passes"),
}


def lines(draws: int) -> Iterator[Line]:
    draws = max(20, draws // 4)
    for case, (gaps, kind) in CASES.items():
        times = 1 if min(gaps) == -1 else draws  # all 0: nothing is drawn
        today, *rest = _measured(gaps, kind, times)
        yield Line(
            where="ranks", case=case, goal=ALL_AT_ONCE, today=today, others=tuple(rest), cost="ranks",
            draws=times,
        )  # fmt: skip


def _measured(gaps: tuple[float, ...], kind: str, draws: int) -> list[Measured]:
    rng = np.random.default_rng([8, round(100 * sum(gaps)) + 1000, len(kind)])
    true = true_ranks(gaps)
    held, ranks = dict.fromkeys(METHODS, 0), dict.fromkeys(METHODS, 0)
    for _ in range(draws):
        scores = _scores(rng, gaps, kind)
        for name, method in METHODS.items():
            found = method(scores)
            held[name] += all(found[i][0] <= low and high <= found[i][1] for i, (low, high) in true.items())
            ranks[name] += sum(high - low + 1 for low, high in found.values())
    return [Measured(name, 100 * held[name] / draws, ranks[name] / draws / len(gaps)) for name in METHODS]


def true_ranks(gaps: tuple[float, ...]) -> RANKS:
    """Runs that are alike share all of their ranks."""
    return {
        i: (1 + sum(other > own for other in gaps), sum(other >= own for other in gaps)) for i, own in enumerate(gaps)
    }


def _scores(rng: np.random.Generator, gaps: tuple[float, ...], kind: str) -> Floats:
    """A hundred items of mixed difficulty. A gap moves every run's chance alike, and none is cut off."""
    chance = 0.1 + 0.8 * rng.beta(2, 1, (100, 1)) + np.array(gaps)
    if kind == "scores":
        return np.asarray(rng.binomial(4, np.clip(chance, 0, 1)) / 4)
    return np.asarray((rng.random(chance.shape) < np.clip(chance, 0, 1)) * 1.0)


def all_pairs(scores: Floats) -> RANKS:
    found = rank_runs({str(i): scores[:, i] for i in range(scores.shape[1])})
    return {int(one.name): (one.rank_low or 1, one.rank_high or scores.shape[1]) for one in found.runs}


def resampled(scores: Floats) -> RANKS:
    """Percentiles of each run's rank over redrawn items."""
    n = len(scores)
    means = np.random.default_rng(9).multinomial(n, [1 / n] * n, N_RESAMPLES) @ scores / n
    ranks = 1 + (means[:, None, :] > means[:, :, None] + 1e-12).sum(axis=2)
    low, high = np.quantile(ranks, [0.025, 0.975], axis=0, method="inverted_cdf")
    return {i: (int(low[i]), int(high[i])) for i in range(scores.shape[1])}


METHODS: dict[str, Callable[[Floats], RANKS]] = {"all pairs, Holm": all_pairs, "ranks resampled": resampled}
