"""Fewer points for a plot, without losing what would be seen: highs, lows, gaps, the first and the last."""

from __future__ import annotations

from collections.abc import Sequence

from benchbook.training.curves import Place

__all__ = ["thin"]

_LEAST = 5


def thin(places: Sequence[Place], most: int) -> list[Place]:
    """At most `most` of the places (below 5 it counts as 5), in their order; all of them where they are no more.

    Of each stretch its lowest, its highest and one value that was not finite stay, so a single spike is still there.
    """
    most = max(most, _LEAST)
    if len(places) <= most:
        return list(places)
    inner = range(1, len(places) - 1)
    n_stretches = (most - 2) // 3
    kept = {0, len(places) - 1}
    for index in range(n_stretches):
        start = 1 + index * len(inner) // n_stretches
        end = 1 + (index + 1) * len(inner) // n_stretches
        kept |= _telling(places, range(start, end))
    return [places[index] for index in sorted(kept)]


def _telling(places: Sequence[Place], stretch: range) -> set[int]:
    values = [(value, index) for index in stretch if (value := places[index][1]) is not None]
    gap = next((index for index in stretch if places[index][1] is None), None)
    telling = {min(values)[1], max(values)[1]} if values else set()
    return telling if gap is None else telling | {gap}
