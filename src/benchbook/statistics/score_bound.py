"""The score interval of the difference of two rates over the same items (Tango 1998).

For claims that a run is not worse by more than a margin. Little may differ there, and all of it may be lost: the
interval that inverts the mid-p test is then too sure on this side (docs/decisions/0048-the-bound-of-a-margin.md). The
score test takes the variance that the claimed difference itself would have.
"""

from __future__ import annotations

from math import sqrt

from benchbook.statistics.distributions import normal_quantile
from benchbook.statistics.ground import Basis, Estimate, check_confidence

_HALVINGS = 60


def paired_score(only_a: int, only_b: int, n: int, confidence: float = 0.95) -> Estimate:
    """The difference (b - a) of two rates over the same `n` items, `only_a` of which `a` alone passes.

    Null without items alone. Raises: ValueError for impossible counts.
    """
    check_confidence(confidence)
    if only_a < 0 or only_b < 0 or only_a + only_b > n:
        raise ValueError(f"{only_a} and {only_b} discordant pairs of {n}")
    basis = Basis(n, confidence, "paired_score")
    if n == 0:
        return basis.nothing("no_data")
    z = normal_quantile((1 + confidence) / 2)
    low, high = _low(only_a, only_b, n, z), -_low(only_b, only_a, n, z)
    return basis.interval((only_b - only_a) / n, low, high)


def _low(lost: int, won: int, n: int, z: float) -> float:
    """The least difference that the test does not reject, by halving; it falls all the way to the estimate."""
    low, high = -1.0, (won - lost) / n
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if _is_rejected(middle, lost, won, n, z) else (low, middle)
    return low


def _is_rejected(difference: float, lost: int, won: int, n: int, z: float) -> bool:
    """Is the estimate more than `z` standard errors above this `difference`, if that were the true one?"""
    b = (2 * n - won + lost) * difference - won - lost
    root = sqrt(max(0.0, b * b + 8 * n * lost * difference * (1 - difference)))
    share_lost = max(0.0, (root - b) / (4 * n), -difference)  # the likeliest, given the difference
    variance = n * max(0.0, 2 * share_lost + difference * (1 - difference))
    return won - lost - n * difference > z * sqrt(variance)
