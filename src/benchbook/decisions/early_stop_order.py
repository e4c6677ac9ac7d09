"""Finished samples, item by item in the order in which they were to be asked, whatever order they finish in."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Generic, TypeVar

__all__ = ["InOrder"]

_Value = TypeVar("_Value")


class InOrder(Generic[_Value]):
    """What comes back soon is not drawn by chance: an item is taken once all items before it are finished.

    `order` lists the items' numbers. `n_taken` counts those that were taken.
    """

    def __init__(self, order: Sequence[int], repeats: int) -> None:
        self.n_taken = 0
        self._order = order
        self._repeats = repeats
        self._finished: dict[int, list[_Value]] = {}  # items beyond the ones that were taken

    @property
    def n_items(self) -> int:
        return len(self._order)

    def add(self, sample: int, value: _Value) -> None:
        """A sample that is finished: `repeat * n_items + item`. Each is added once; in any order."""
        self._finished.setdefault(sample % len(self._order), []).append(value)

    def take(self) -> Iterator[tuple[int, list[_Value]]]:
        """Each next item whose samples are all finished, with their values; none twice."""
        while self.n_taken < len(self._order):
            item = self._order[self.n_taken]
            if len(self._finished.get(item, ())) < self._repeats:
                return
            self.n_taken += 1
            yield item, self._finished.pop(item)
