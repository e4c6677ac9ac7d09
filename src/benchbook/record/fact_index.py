"""Where each sample's facts stand in a journal: eight bytes a fact, and facts by sample in bounded memory."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from benchbook.canonical import decode_json
from benchbook.record.facts import Fact, Failure, Reply, fact_decoder
from benchbook.record.reading import MAX_SEGMENT_BYTES, MAX_SEGMENTS, OFFSET_BITS, JournalLine
from benchbook.record.sample_places import IN_JOURNAL, IN_JOURNAL_BITS, SamplePlaces, SegmentCache

if TYPE_CHECKING:
    import numpy as np

_PLACES_AT_ONCE = 8_192  # facts that are decoded at once, of whole samples
_CALLS = (Reply, Failure)  # a union of them takes three times as long to look at
_BYTES_AT_ONCE = 12 << 20  # of the journal, at which they are fewer


class FactIndex:
    """The places of each sample's replies and failures: eight bytes per fact.

    With `first_number`, facts are numbered from there, in the order of the plan, and not as their journals do.
    """

    def __init__(self, journal: Path, first_number: int | None = None) -> None:
        self._journal = journal
        self.first_number = first_number
        self.places = SamplePlaces()
        self._segments = SegmentCache(journal)
        self.on_sample: Callable[[int], None] | None = None  # called with each sample that is gone through

    def add(self, line: JournalLine) -> None:
        fact = line.fact
        if isinstance(fact, _CALLS):
            self.places.append(fact.sample, line.segment, line.offset)
            self._segments.forget()

    def add_all(self, segment: int, samples: np.ndarray, starts: list[int]) -> None:
        """Add facts of one segment: the sample of each, and its place there."""
        import numpy as np

        places = samples.astype(np.uint64) << np.uint64(IN_JOURNAL_BITS)
        places |= np.array(starts, np.uint64) | np.uint64(segment << OFFSET_BITS)
        self.places.add(array("Q", places.tobytes()))
        self._segments.forget()

    def let_go(self) -> None:
        """Hold nothing in memory that can be read again."""
        self.places.let_go()
        self._segments.forget()

    def by_sample(self) -> Iterator[tuple[int, list[Reply | Failure]]]:
        """`(sample, its facts in journal order)`, in plan order; samples without facts are left out."""
        for first, end in self.ranges():
            for sample, facts in self.between(first, end):
                if self.on_sample is not None:
                    self.on_sample(sample)
                yield sample, facts

    def ranges(self) -> Iterator[tuple[int, int]]:
        """Ranges of samples, from one to before the other, in plan order: with all facts in them, and each with few
        enough to be held at once."""
        start, n = 0, len(self.places)
        usual = _n_bytes(self.places.some(0, n)) // max(n, 1)  # of a line
        while start < n:
            size = _PLACES_AT_ONCE
            # Those that chance has scattered lie between all others, and are as long as these.
            while size > 1 and min(_n_bytes(self.places.some(start, start + size)), 4 * usual * size) > _BYTES_AT_ONCE:
                size //= 2
            some = self.places.some(start, start + size)
            first, last = (int(some[at]) >> IN_JOURNAL_BITS for at in (0, -1))
            end = last if start + size < n and last > first else last + 1  # the last may have more facts
            yield first, end
            start = self.places.start_of(end)

    def between(self, first: int, end: int) -> list[tuple[int, list[Reply | Failure]]]:
        """The same of the samples from `first` to before `end` alone."""
        import numpy as np

        start = self.places.start_of(first)
        places = self.places.some(start, self.places.start_of(end))
        samples = places >> np.uint64(IN_JOURNAL_BITS)
        found: dict[int, list[Reply | Failure]] = {sample: [] for sample in samples.tolist()}
        segments = (places >> np.uint64(OFFSET_BITS)) & np.uint64(MAX_SEGMENTS - 1)
        for segment in np.unique(segments).tolist():
            offsets = places[segments == segment] & np.uint64(MAX_SEGMENT_BYTES - 1)
            for fact in self._facts(segment, np.sort(offsets).tolist()):
                if isinstance(fact, _CALLS) and (of_sample := found.get(fact.sample)) is not None:
                    of_sample.append(fact)
        if self.first_number is not None:
            for number, one in enumerate(chain.from_iterable(found.values()), self.first_number + start):
                one.seq = number
        return list(found.items())

    def of(self, sample: int) -> list[Reply | Failure]:
        """A sample's facts in journal order. In the order of the plan, each segment is read a few times."""
        start, end = self.places.start_of(sample), self.places.start_of(sample + 1)
        return [self._segments.fact_at(place & IN_JOURNAL) for place in self.places.in_order()[start:end]]

    def alone(self, first: int, end: int) -> FactIndex:
        """The places of these samples' facts alone, to be sent to another process."""
        number = None if self.first_number is None else self.first_number + self.places.start_of(first)
        found = FactIndex(self._journal, number)
        found.places = self.places.between(first, end)
        return found

    def place_of(self, number: int) -> tuple[Path, int, int]:
        """The journal, the segment and the line, from 1, of a fact that is numbered in the order of the plan."""
        place = self.places.in_order()[number - (self.first_number or 0)]
        segment, offset = place >> OFFSET_BITS & (MAX_SEGMENTS - 1), place & (MAX_SEGMENT_BYTES - 1)
        return self._journal, segment, _n_lines(self._segments.segment(segment), 0, offset) + 1

    def _facts(self, segment: int, offsets: list[int]) -> list[Fact]:
        """The facts at some places of a segment; where they stand close together, with those between."""
        data = self._segments.segment(segment)
        start, end = offsets[0], data.find(b"\n", offsets[-1]) + 1
        if 2 * len(offsets) >= _n_lines(data, start, end):
            with suppress(msgspec.DecodeError, UnicodeDecodeError, RecursionError):  # a lone surrogate, mostly
                facts: list[Fact] = fact_decoder.decode_lines(data[start:end])
                return facts
        return [decode_json(data[offset : data.find(b"\n", offset)], fact_decoder) for offset in offsets]


def _n_lines(data: bytes, start: int, end: int) -> int:
    """How many lines end between two places: as `bytes.count`, in a fifth of its time."""
    import numpy as np

    return int(np.count_nonzero(np.frombuffer(data, np.uint8)[start:end] == ord("\n")))


def _n_bytes(places: np.ndarray) -> int:
    """The bytes of a journal from the first to the last of some facts."""
    import numpy as np

    in_journal = places & np.uint64(IN_JOURNAL)
    return int(in_journal.max() - in_journal.min()) if len(places) else 0
