"""`plan`: the width of a paired difference by repeats, as planned and as it comes out; and the power of its numbers."""

from __future__ import annotations

from collections.abc import Iterator
from math import sqrt
from typing import NamedTuple

import numpy as np

from benchbook.comparison.difference import p_of_flips
from benchbook.comparison.items_needed import items_needed
from benchbook.statistics import bounded_difference, mcnemar
from simulations.ground import COVERS, Bounds, Count, Floats, Line, Measured, at_least, bounds_by
from simulations.paired import BY_TABLE

N_ITEMS, Z = 200, 1.959963984540054


class Model(NamedTuple):
    """Chances of passing, by item, of two runs: beta distributed with this mean and strength.

    With `own`, a part of the items has a chance of its own in each run; the others have one in both.
    """

    mean: float
    strength: float
    own: float

    def chances(self, rng: np.random.Generator, n: int, gap: float = 0.0) -> tuple[Floats, Floats]:
        a, other = rng.beta(self.mean * self.strength, (1 - self.mean) * self.strength, (2, n))
        b = np.where(rng.random(n) < self.own, other, a)
        # A gap takes from some items what they had, so that no chance is cut off.
        return a, np.where(rng.random(n) < gap / self.mean, 0.0, b)

    def parts(self) -> tuple[float, float]:
        """The variance of an item's difference that is within it, and between items, without a gap."""
        variance = self.mean * (1 - self.mean)
        shared = variance / (self.strength + 1)
        return 2 * (variance - shared), 2 * self.own * shared


ALIKE = Model(0.8, 6.0, 0.0)
DIFFERENT = Model(0.7, 2.0, 0.6)


def lines(draws: int) -> Iterator[Line]:
    draws = max(20, draws // 4)
    for name, model in (("the same model twice", ALIKE), ("two models", DIFFERENT)):
        for repeats in (1, 3, 5):
            yield _width(name, model, repeats, draws)
    for repeats in (1, 3):
        yield _power(repeats, draws)


def planned_width(model: Model, repeats: int) -> float:
    """By the variance that `plan` counts with: what is within an item falls with its repeats."""
    within, between = model.parts()
    plan = items_needed(
        model.mean, -0.05, discordance=within + between, repeats=repeats, within_item=within / (within + between)
    )
    return 2 * Z * sqrt((within + between) * plan.design_effect / N_ITEMS)


def _width(name: str, model: Model, repeats: int, draws: int) -> Line:
    """Coverage and width over 200 items; beside it the width that was planned, and that of as many separate pairs."""
    rng = np.random.default_rng([14, repeats, round(10 * model.own)])
    today, first = Count("interval of the comparison"), Count("the first repeat alone")
    for _ in range(draws):
        a, b = (rng.binomial(repeats, chance) for chance in model.chances(rng, N_ITEMS))
        today.add(_interval(a, b, repeats), 0.0)
        first.add(_interval(*(rng.hypergeometric(one, repeats - one, 1) for one in (a, b)), 1), 0.0)
    case = f"{name}, {N_ITEMS} items asked {_times(repeats)}; planned width {planned_width(model, repeats):.3f}"
    others = () if repeats == 1 else (first.measured,)
    return Line(where="plan", case=case, goal=COVERS, today=today.measured, others=others, draws=draws)


def _interval(a: np.ndarray, b: np.ndarray, repeats: int) -> Bounds:
    """As a comparison has it: passes by their test's interval, means over repeats by the bounded one."""
    if repeats == 1:
        return BY_TABLE["mid-p, inverted"]((int((a > b).sum()), int((b > a).sum()), a.size))
    return bounds_by(bounded_difference((b - a) / repeats))


def _power(repeats: int, draws: int) -> Line:
    """How often a loss of 5 points is seen with as many items as `plan` says."""
    within, between = _parts_with_gap(DIFFERENT, 0.05)
    plan = items_needed(
        0.7, -0.05, discordance=within + between, repeats=repeats, within_item=within / (within + between)
    )
    rng = np.random.default_rng([15, repeats])
    seen = 0
    for _ in range(draws):
        a, b = (rng.binomial(repeats, chance) for chance in DIFFERENT.chances(rng, plan.n_items, 0.05))
        seen += _p(a, b, repeats) <= 0.05
    return Line(
        where="plan",
        case=f"5 points lost are seen, planned at 80 %: {plan.n_items:,} items asked {_times(repeats)}",
        goal=at_least(80),
        today=Measured("items by the test's power", 100 * seen / draws),
        draws=draws,
    )


def _times(repeats: int) -> str:
    return "once" if repeats == 1 else f"{repeats} times"


def _parts_with_gap(model: Model, gap: float, n: int = 400_000) -> tuple[float, float]:
    a, b = model.chances(np.random.default_rng(16), n, gap)
    within = float((a * (1 - a) + b * (1 - b)).mean())
    between = float(((b - a) ** 2).mean())
    return within, between


def _p(a: np.ndarray, b: np.ndarray, repeats: int) -> float:
    if repeats == 1:
        return mcnemar(int((a > b).sum()), int((b > a).sum())).p_mid
    differences = (b - a) / repeats
    return p_of_flips(differences, None, 0, bounded_difference(differences))[0]
