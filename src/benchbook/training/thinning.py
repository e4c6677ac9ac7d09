"""Fewer points for a plot, without losing what would be seen: highs, lows, gaps, the first and the last."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from benchbook.training.curves import Place

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["telling_places", "thin"]

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
