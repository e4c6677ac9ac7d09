"""Where the facts of a joined record's samples stand: an index of each shard's journal, of which few are in memory."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Generic, TypeVar

from benchbook.record.fact_index import FactIndex
from benchbook.record.facts import Failure, Outcome, Reply
from benchbook.record.imported_scores import ImportedOutcome
from benchbook.record.outcome_index import OutcomeIndex

_Index = TypeVar("_Index", FactIndex, OutcomeIndex)


class _Shards(Generic[_Index]):
    """Shards by their samples, in the order of the plan; the one that was asked last is in memory."""

    def __init__(self, firsts: Sequence[int], indexes: Sequence[_Index]) -> None:
        self.firsts = firsts
        self.indexes: Sequence[_Index] = indexes
        self._asked: _Index | None = None

    def at(self, place: int) -> _Index:
        """The index of a shard, by its place among the others."""
        found = self.indexes[place]
        if self._asked is not None and self._asked is not found:
            self._asked.let_go()
        self._asked = found
        return found

    def each(self) -> Iterator[_Index]:
        return map(self.at, range(len(self.indexes)))

    def overlapping(self, first: int, end: int) -> range:
        """The places of the shards that may have some of these samples."""
        return range(max(bisect_right(self.firsts, first) - 1, 0), bisect_right(self.firsts, end - 1))


class JoinedFacts:
    """As `FactIndex`, of shards in the order of the plan. Facts are numbered in this order, after the first."""

    def __init__(self, firsts: Sequence[int], indexes: Sequence[FactIndex]) -> None:
        self.on_sample: Callable[[int], None] | None = None
        self._shards: _Shards[FactIndex] = _Shards(firsts, indexes)
        number = 1
        for one in indexes:
            if one.first_number is None:
                one.first_number = number
            number += len(one.places)

    def by_sample(self) -> Iterator[tuple[int, list[Reply | Failure]]]:
        """`(sample, its facts in journal order)`, in plan order; samples without facts are left out."""
        for one in self._shards.each():
            one.on_sample = self.on_sample
            yield from one.by_sample()

    def ranges(self) -> Iterator[tuple[int, int]]:
        """Ranges of samples, as `FactIndex.ranges`."""
        for one in self._shards.each():
            yield from one.ranges()

    def between(self, first: int, end: int) -> list[tuple[int, list[Reply | Failure]]]:
        """The samples from `first` to before `end` that have facts, with these."""
        found: list[tuple[int, list[Reply | Failure]]] = []
        for place in self._shards.overlapping(first, end):
            found += self._shards.at(place).between(first, end)
        return found

    def alone(self, first: int, end: int) -> JoinedFacts:
        """The places of these samples' facts alone, to be sent to another process."""
        places = self._shards.overlapping(first, end)
        indexes = [self._shards.at(place).alone(first, end) for place in places]
        return JoinedFacts([self._shards.firsts[place] for place in places], indexes)

    def place_of(self, number: int) -> tuple[Path, int, int]:
        """The journal, the segment and the line of a fact, as `FactIndex.place_of`."""
        numbers = [one.first_number or 0 for one in self._shards.indexes]
        return self._shards.at(bisect_right(numbers, number) - 1).place_of(number)


class JoinedOutcomes:
    """As `OutcomeIndex`, of shards in the order of the plan."""

    def __init__(self, firsts: Sequence[int], indexes: Sequence[OutcomeIndex]) -> None:
        self._shards: _Shards[OutcomeIndex] = _Shards(firsts, indexes)
        self.are_truths = all(one.are_truths for one in indexes)
        self.pythons: set[str] = set().union(*(one.pythons for one in indexes))

    def __len__(self) -> int:
        return sum(map(len, self._shards.indexes))

    def __contains__(self, sample: int) -> bool:
        return any(sample in self._shards.at(place) for place in self._shards.overlapping(sample, sample + 1))

    def of(self, sample: int) -> Outcome | ImportedOutcome | None:
        """The outcome of a sample."""
        for place in self._shards.overlapping(sample, sample + 1):
            return self._shards.at(place).of(sample)
        return None
