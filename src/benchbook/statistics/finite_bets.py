"""Is the mean of a finite set at least this much? Asked after each value that is drawn from it, with one error for all.

Betting on values drawn without replacement (Waudby-Smith and Ramdas 2024, section 5; 2020, arXiv 2006.04347): if the
set's mean were `limit`, the next value would be worth what is left over to reach it, on average. Whoever bets at those
odds that it is worth more can't expect to win; who has made 1 into 1/error all the same has shown, with at most that
error, that the mean is higher. By Ville's inequality this holds at every moment at once, so one may stop at any.

All that it takes is that the order of the values was drawn by chance. Values may belong together (one document, one
template): they are fixed before they are drawn.

Products and quotients alone, of doubles in a fixed order: every machine comes to the same moment.
"""

from __future__ import annotations

__all__ = ["FRACTIONS", "FiniteBet"]

FRACTIONS = (*(place / 20 for place in range(1, 20)), 0.99)
"""The parts of the capital that are bet each time: 5 % to 95 %, and 99 %. It is split evenly over them at the start:
whichever suits the values best soon owns nearly all of it."""


class FiniteBet:
    """Bets that a set of `size` values, none below 0, adds up to `size * limit` at least (with `or_more` False: to more
    than that), against every smaller sum: those would owe less, so the same bets earn more against them.

    Values and `limit` are integers of one unit; a value is at most what 1 would be, the limit any part of that.
    """

    __slots__ = ("_capitals", "_left", "_or_more", "_owed", "is_proved")

    def __init__(self, size: int, limit: int, *, or_more: bool = True) -> None:
        self._left = size
        self._owed = size * limit  # what the values that are left must add up to, were `limit` the mean
        self._or_more = or_more
        self._capitals = [1.0 / len(FRACTIONS)] * len(FRACTIONS)
        self.is_proved = self._is_reached()

    @property
    def evidence(self) -> float:
        """What 1 has become: an e-value. Once `is_proved` it says nothing more: the sum is reached, by counting."""
        return sum(self._capitals)

    def shows(self, error: float) -> bool:
        """Whether the claim stands, with at most this chance of being wrong, whenever it is asked."""
        return self.is_proved or self.evidence * error >= 1.0

    def add(self, value: int) -> None:
        """The next value. Raises: ValueError for more values than the set has."""
        if self._left == 0:
            raise ValueError("more values than the set has")
        if not self.is_proved and self._owed > 0:
            worth = value * self._left / self._owed - 1.0  # against what each value that is left owes on average
            self._capitals = [
                capital * (1.0 + fraction * worth) for capital, fraction in zip(self._capitals, FRACTIONS, strict=True)
            ]
        self._left -= 1
        self._owed -= value
        self.is_proved = self.is_proved or self._is_reached()

    def _is_reached(self) -> bool:
        return self._owed < 0 or (self._or_more and self._owed == 0)
