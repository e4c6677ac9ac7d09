"""Curves by name: a metric's points, each step once, and apart from them what was trained again later."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Literal

from benchbook.errors import ConfigError
from benchbook.training.points import MetricPoint

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = [
    "Alignment",
    "Axis",
    "Curve",
    "CurveFault",
    "align",
    "curves",
    "on_axis",
    "smooth",
    "telling_places",
    "thin",
    "value_there",
]


Axis = Literal["step", "tokens", "time"]
Place = tuple[float, float | None]  # where on an axis, and the value there: None where it was not finite


class CurveFault(ValueError):  # noqa: N818 - a finding to show beside a plot, not a failure
    """Why a curve has no place on an axis, in words."""


@dataclass(frozen=True, slots=True)
class Curve:
    """`points`: steps rise, and nothing in it was replaced. `replaced`: older segments' points that were, by segment.

    The points of a segment from the first step of any later segment on were trained again, and do not count.
    """

    name: str
    points: tuple[MetricPoint, ...]
    replaced: tuple[tuple[MetricPoint, ...], ...] = ()

    @property
    def n_not_finite(self) -> int:
        """Points that were logged as NaN or an infinity."""
        return sum(point.value is None for point in self.points)


def curves(points: Iterable[MetricPoint]) -> dict[str, Curve]:
    """The curve of each metric of one log, in the order in which they first occur."""
    by_name: dict[str, list[MetricPoint]] = {}
    for point in points:
        by_name.setdefault(point.name, []).append(point)
    return {name: _curve(name, found) for name, found in by_name.items()}


def _curve(name: str, points: list[MetricPoint]) -> Curve:
    """From the last segment back: of each older one, what lies before the first step of all that came after it."""
    by_segment = sorted(points, key=lambda point: (point.segment, point.step))
    segments = [list(found) for _, found in groupby(by_segment, key=lambda point: point.segment)]
    kept: list[list[MetricPoint]] = []
    replaced: list[tuple[MetricPoint, ...]] = []
    limit: int | None = None
    for segment in reversed(segments):
        counts = [point for point in segment if limit is None or point.step < limit]
        if len(counts) < len(segment):
            replaced.append(tuple(segment[len(counts) :]))
        kept.append(counts)
        limit = segment[0].step if limit is None else min(limit, segment[0].step)
    main = tuple(point for segment in reversed(kept) for point in segment)
    return Curve(name, main, tuple(reversed(replaced)))


def on_axis(curve: Curve, axis: Axis) -> list[Place]:
    """The curve's values by step, by tokens, or by seconds since its first point; places rise.

    Points that don't know their place are left out; of several at one place (a coarse clock) the last stays.

    Raises: CurveFault where no point knows its place, or places go back.
    """
    places: list[Place] = []
    start: float | None = None
    for point in curve.points:
        at = _place(point, axis)
        if at is None:
            continue
        start = at if start is None else start
        at = at - start if axis == "time" else at
        if places and at < places[-1][0]:
            raise CurveFault(f"its {_WORDS[axis]} go back at step {point.step:,}")
        if places and at == places[-1][0]:
            places.pop()
        places.append((at, point.value))
    if not places:
        raise CurveFault(f"it was logged without {_WORDS[axis]}" if curve.points else "it has no points")
    return places


_WORDS = {"step": "steps", "tokens": "token counts", "time": "times"}


def _place(point: MetricPoint, axis: Axis) -> float | None:
    match axis:
        case "step":
            return float(point.step)
        case "tokens":
            return None if point.tokens is None else float(point.tokens)
        case "time":
            return point.time_s


def smooth(values: Sequence[float | None], weight: float) -> list[float | None]:
    """Each value's weighted mean with those before it; `weight` (0 to below 1) is what the past keeps at each step.

    Without the correction a curve would start near zero. A None stays one and weighs nothing.

    Raises: ConfigError.
    """
    if not 0 <= weight < 1:
        raise ConfigError("smoothing", repr(weight), "0 (none) or more, and less than 1")
    smoothed: list[float | None] = []
    mean, known = 0.0, 0.0  # `known`: how much of the mean is values and not the zero that it began with
    for value in values:
        if value is None:
            smoothed.append(None)
            continue
        mean = weight * mean + (1 - weight) * value
        known = weight * known + (1 - weight)
        smoothed.append(mean / known)
    return smoothed


_LEAST = 5


def thin(places: Sequence[Place], most: int) -> list[Place]:
    """At most `most` of the places (below 5 it counts as 5), in their order; all of them where they are no more.

    Of each stretch its lowest, its highest and one value that was not finite stay, so a single spike is still there.
    """
    if len(places) <= max(most, _LEAST):
        return list(places)
    import numpy as np

    values = np.array([value for _, value in places], dtype=np.float64)  # a None becomes NaN
    return [places[index] for index in telling_places(values, most)]


def telling_places(values: NDArray[np.float64], most: int) -> list[int]:
    """Which of a curve's values `thin` keeps, by their index; NaN is a value that was not finite."""
    import numpy as np

    n, most = len(values), max(most, _LEAST)
    if n <= most:
        return list(range(n))
    gaps = np.isnan(values)
    low, high = np.where(gaps, np.inf, values), np.where(gaps, -np.inf, values)
    n_stretches = (most - 2) // 3
    edges = 1 + np.arange(n_stretches + 1) * (n - 2) // n_stretches
    kept = {0, n - 1}
    for start, end in zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True):
        gap = int(gaps[start:end].argmax())
        if gaps[start + gap]:
            kept.add(start + gap)
        if not gaps[start:end].all():
            kept.add(start + int(low[start:end].argmin()))
            kept.add(end - 1 - int(high[start:end][::-1].argmax()))  # the last of equal ones
    return sorted(kept)


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
