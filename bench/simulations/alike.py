"""Values without spread: rates at which half of all samples are all alike, so that half have no standard error."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from benchbook import statistics as st
from benchbook.evaluators.intervals import bounded_mean
from simulations.ground import COVERS, Bounds, Line, binomial, bounds_by, coverage_of, distinct, tables
from simulations.paired import BY_TABLE

Passes = tuple[int, int]  # passed, of
Grades = tuple[int, int, int]  # how many are 0, 1 and 2


def lines(draws: int) -> Iterator[Line]:
    for n in (16, 1000):
        yield _passes(n)
    yield _grades(50, draws)
    for n, only_lost in ((50, False), (50, True), (400, True)):
        yield _pairs(n, draws, only_lost=only_lost)


def _passes(n: int) -> Line:
    rate = 0.5 ** (1 / n)
    listed = [(weight, (k, n)) for k, weight in enumerate(binomial(n, rate)) if weight > 1e-9]
    today, *rest = coverage_of(listed, rate, OF_PASSES)
    return Line(
        where="no spread", case=f"mean of {n:,} values, half of all samples alike", goal=COVERS, today=today,
        others=tuple(rest),
    )  # fmt: skip


def _grades(n: int, draws: int) -> Line:
    """Nearly all grades are 2, the others 0 or 1."""
    perfect = 0.5 ** (1 / n)
    shares = [(1 - perfect) / 2, (1 - perfect) / 2, perfect]
    drawn = np.random.default_rng(2).multinomial(n, shares, 10 * draws)
    today, *rest = coverage_of(distinct(drawn), shares[1] + 2 * shares[2], OF_GRADES)
    return Line(
        where="no spread", case=f"{n} grades of 0 to 2, half of all samples alike", goal=COVERS, today=today,
        others=tuple(rest), draws=10 * draws,
    )  # fmt: skip


def _pairs(n: int, draws: int, *, only_lost: bool) -> Line:
    differing = 1 - 0.5 ** (1 / n)
    lost, won = (differing, 0.0) if only_lost else (differing / 2, differing / 2)
    today, *rest = coverage_of(tables(n, lost, won, draws), won - lost, BY_TABLE)
    case = f"{n} pairs, half of all samples alike, what differs is {'lost' if only_lost else 'lost or won'}"
    return Line(where="no spread", case=case, goal=COVERS, today=today, others=tuple(rest))


def _values(one: Passes) -> list[float]:
    return [1.0] * one[0] + [0.0] * (one[1] - one[0])


def _graded(one: Grades) -> list[float]:
    return [0.0] * one[0] + [1.0] * one[1] + [2.0] * one[2]


def _sums(one: Grades) -> tuple[int, int, int]:
    return sum(one), one[1] + 2 * one[2], one[1] + 4 * one[2]


def _by_t(values: list[float]) -> Bounds:
    return bounds_by(st.t_interval(values))


OF_PASSES = {
    "Jeffreys, unseen spread": lambda one: bounds_by(bounded_mean((one[1], one[0], one[0]), None, 1, 0.95)),
    "t": lambda one: _by_t(_values(one)),
    "Clopper-Pearson": lambda one: bounds_by(st.clopper_pearson(*one)),
    "Wilson": lambda one: bounds_by(st.wilson(*one)),
}
OF_GRADES = {
    "Jeffreys, unseen spread": lambda one: bounds_by(bounded_mean(_sums(tuple(one)), None, 2, 0.95)),
    "t": lambda one: _by_t(_graded(one)),
}
