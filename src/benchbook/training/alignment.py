"""Several runs' curves on one axis, so that they can be read off at the same step, token or second."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from benchbook.training.curves import Axis, Curve, CurveFault, Place, on_axis

__all__ = ["Alignment", "align", "value_there"]


@dataclass(frozen=True, slots=True)
class Alignment:
    """`values` has, for each run that has a place on the axis, one value for each of `at`; None where it knows none.

    `left_out` says of the other runs why, in words.
    """

    axis: Axis
    at: tuple[float, ...]
    values: Mapping[str, tuple[float | None, ...]]
    left_out: Mapping[str, str]


def align(runs: Mapping[str, Curve], axis: Axis) -> Alignment:
    """The runs at every place where any of them logged.

    Between two of its own points a run's value lies on the line that joins them. Before its first and after its last it
    has none: nothing is extrapolated.
    """
    found: dict[str, list[Place]] = {}
    left_out: dict[str, str] = {}
    for run, curve in runs.items():
        try:
            found[run] = on_axis(curve, axis)
        except CurveFault as fault:
            left_out[run] = str(fault)
    at = tuple(sorted({place for places in found.values() for place, _ in places}))
    return Alignment(axis, at, {run: _values(places, at) for run, places in found.items()}, left_out)


def _values(places: Sequence[Place], at: Sequence[float]) -> tuple[float | None, ...]:
    known = [place for place, _ in places]
    return tuple(value_there(places, known, place) for place in at)


def value_there(places: Sequence[Place], known: Sequence[float], at: float) -> float | None:
    """The value at a place: as it was logged, or on the line between its neighbours; else None.

    `known` is the places alone. Beside a value that was not finite there is no line.
    """
    index = bisect_left(known, at)
    if index == len(known):
        return None
    if known[index] == at:
        return places[index][1]
    if index == 0:
        return None
    (left, low), (right, high) = places[index - 1], places[index]
    if low is None or high is None:
        return None
    part = (at - left) / (right - left)
    return low * (1 - part) + high * part
