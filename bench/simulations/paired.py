"""Passes of the same items in two runs: the mid-p test, and the interval that inverts it. All tables are listed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache

import numpy as np

from benchbook import statistics as st
from simulations.ground import COVERS, Bounds, Line, Measured, at_most, binomial, bounds_by, coverage_of, tables

Table = tuple[int, int, int]  # lost, won, n
SIZES, SHARES = (10, 25, 50, 100), (0.1, 0.2, 0.4, 0.6)
FAR = {"highest type I error, up to 60 % differ": SHARES, "highest type I error, all items differ": (1.0,)}


def lines(draws: int) -> Iterator[Line]:
    for n, lost, won in ((10, 0.01, 0.4), (30, 0.1, 0.2), (60, 0.1, 0.1)):
        today, *rest = coverage_of(tables(n, lost, won, draws), won - lost, BY_TABLE)
        yield Line(
            where="paired passes", case=f"{n} items, {100 * lost:g} % lost, {100 * won:g} % won", goal=COVERS,
            today=today, others=tuple(rest),
        )  # fmt: skip
    yield from (_level_and_power(case, shares) for case, shares in FAR.items())
    yield _disagreement(draws)


def _level_and_power(case: str, shares: tuple[float, ...]) -> Line:
    """The highest type I error over all sizes and shares that differ; power at 50 items, 8 % lost and 25 % won."""
    found = [
        Measured(name, max(_rejected(n, share / 2, share / 2, p) for n in SIZES for share in shares), power)
        for name, p in TESTS.items()
        for power in (_rejected(50, 0.08, 0.25, p),)
    ]
    return Line(
        where="paired passes", case=case, goal=at_most(5.3), today=found[0], others=tuple(found[1:]),
        cost="power, %", less_is_better=False,
    )  # fmt: skip


def _rejected(n: int, lost: float, won: float, p: Callable[[int, int], float]) -> float:
    """How often the test rejects, in percent: over how many pairs differ, and how many of these are won."""
    differing, share = lost + won, won / (lost + won)
    found = 0.0
    for k, weight in enumerate(binomial(n, differing)):
        if weight > 1e-12:
            found += weight * sum(one for i, one in enumerate(binomial(k, share)) if p(k - i, i) <= 0.05)
    return 100 * found


def _disagreement(draws: int) -> Line:
    """How often one of the test and the interval leaves 0 out, and the other does not, at worst over sizes."""

    def share(p: Callable[[int, int], float], interval: Callable[[Table], Bounds]) -> float:
        return max(
            sum(w for w, one in tables(n, 0.1, 0.25, draws) if _leaves_out_0(interval(one)) != (p(*one[:2]) <= 0.05))
            for n in SIZES[:3]
        )

    pairs = {
        "mid-p and its inversion": (TESTS["mid-p"], BY_TABLE["mid-p, inverted"]),
        "exact McNemar beside Bonett-Price": (TESTS["exact McNemar"], BY_TABLE["Bonett-Price"]),
        "exact McNemar beside t": (TESTS["exact McNemar"], BY_TABLE["t"]),
    }
    today, *rest = (Measured(name, 100 * share(*both)) for name, both in pairs.items())
    return Line(
        where="paired passes", case="test and interval disagree, at most", goal=at_most(0), today=today,
        others=tuple(rest),
    )  # fmt: skip


def _leaves_out_0(bounds: Bounds) -> bool:
    low, high = bounds
    return low is not None and high is not None and not low <= 0 <= high


@cache
def _p(lost: int, won: int) -> st.McNemar:
    return st.mcnemar(lost, won)


TESTS: dict[str, Callable[[int, int], float]] = {
    "mid-p": lambda lost, won: _p(min(lost, won), max(lost, won)).p_mid,
    "exact McNemar": lambda lost, won: _p(min(lost, won), max(lost, won)).p_exact,
}


def _t(one: Table) -> Bounds:
    lost, won, n = one
    return bounds_by(st.t_interval(np.repeat([-1.0, 1.0, 0.0], [lost, won, n - lost - won])))


def _mirrored(interval: Callable[[int, int, int], Bounds]) -> Callable[[Table], Bounds]:
    """Computed once for a table and its mirror image."""
    found = cache(interval)

    def of(one: Table) -> Bounds:
        lost, won, n = one
        if lost <= won:
            return found(lost, won, n)
        low, high = found(won, lost, n)
        return (None if high is None else -high), (None if low is None else -low)

    return of


BY_TABLE: dict[str, Callable[[Table], Bounds]] = {
    "mid-p, inverted": _mirrored(lambda *one: bounds_by(st.paired_rates(*one))),
    "Bonett-Price": _mirrored(lambda *one: bounds_by(st.bonett_price(*one))),
    "score (Tango)": _mirrored(lambda *one: bounds_by(st.paired_score(*one))),
    "t": _t,
}
