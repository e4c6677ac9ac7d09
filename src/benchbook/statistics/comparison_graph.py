"""The graph of who was compared with whom, and who won: what strengths can't be told without (Ford 1957)."""

from __future__ import annotations

import numpy as np

from benchbook.statistics.ground import Bools, Floats, Ints


def connected_parts(first: Ints, second: Ints, n: int) -> list[list[int]]:
    """The sets of those that were compared, directly or through others; the largest first."""
    met = np.zeros((n, n), dtype=np.bool_)
    met[first, second] = met[second, first] = True
    return sorted(_classes(_reached(met)), key=lambda part: (-len(part), part))


def unbeaten_parts(first: Ints, second: Ints, shares: Floats, n: int) -> list[list[int]]:
    """The sets within which everyone is beaten by everyone, directly or through others, the strongest set first.

    Each set won every verdict against those after it, where they met. A share below 1 is a part of a win for both.
    """
    beat = np.zeros((n, n), dtype=np.bool_)
    beat[first[shares > 0], second[shares > 0]] = True
    beat[second[shares < 1], first[shares < 1]] = True
    reached = _reached(beat)
    n_reached = reached.sum(axis=1)
    return sorted(_classes(reached & reached.T), key=lambda part: (-int(n_reached[part[0]]), part))


def _reached(edges: Bools) -> Bools:
    """All places that each can reach, itself too."""
    reached = edges | np.eye(len(edges), dtype=np.bool_)
    while True:
        further = (reached.astype(np.float64) @ reached) > 0
        if bool((further == reached).all()):
            return np.asarray(reached)
        reached = further


def _classes(mutual: Bools) -> list[list[int]]:
    """The sets of those that reach one another."""
    leaders = mutual.argmax(axis=1)
    return [np.nonzero(leaders == one)[0].tolist() for one in np.unique(leaders)]
