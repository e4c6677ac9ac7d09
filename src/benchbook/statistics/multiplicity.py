"""Many tests at once: twenty slices give one false alarm at 5 %."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

__all__ = ["AdjustedPValues", "adjust_p_values", "tarone_holm"]


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
