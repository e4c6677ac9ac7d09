"""Curves by name: a metric's points, each step once, and apart from them what was trained again later."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

from benchbook.training.points import MetricPoint

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = [
    "Curve",
    "curves",
    "telling_places",
    "thin",
]


Place = tuple[float, float | None]  # where on an axis, and the value there: None where it was not finite


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
