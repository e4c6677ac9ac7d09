"""Curves by name: a metric's points, each step once, and apart from them what was trained again later."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby
from typing import Literal

from benchbook.training.points import MetricPoint

__all__ = ["Axis", "Curve", "CurveFault", "curves", "on_axis"]

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
