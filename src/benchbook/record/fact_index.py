"""Where each sample's facts stand in a journal: eight bytes a fact, and facts by sample in bounded memory."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from benchbook.canonical import decode_json
from benchbook.record.facts import Fact, Failure, LogOutcomes, Outcome, Outcomes, Reply, fact_decoder
from benchbook.record.imported_scores import ImportedOutcome
from benchbook.record.reading import (
    MAX_SEGMENT_BYTES,
    MAX_SEGMENTS,
    OFFSET_BITS,
    SEGMENT_BITS,
    JournalLine,
    read_segment_there,
    segment_files,
)

if TYPE_CHECKING:
    import numpy as np

_KEPT_SEGMENTS = 8  # by batch a sample's facts lie in as many: its answer, each judge of a panel, those asked again
_READ_FACTS = 4  # of outcomes, decoded and kept: those of one sitting are in plan order


class SegmentCache:
    """Lines by segment and place. The last few segments are kept: facts of one sample lie close together."""

    def __init__(self, journal: Path) -> None:
        self._paths = dict(enumerate(segment_files(journal), start=1))
        self._kept: OrderedDict[int, bytes] = OrderedDict()

    def line(self, segment: int, offset: int) -> bytes:
        data = self.segment(segment)
        return data[offset : data.find(b"\n", offset)]

    def segment(self, segment: int) -> bytes:
        """All of a segment's lines."""
        data = self._kept.get(segment)
        if data is None:
            data = self._kept[segment] = read_segment_there(self._paths[segment])
            if len(self._kept) > _KEPT_SEGMENTS:
                self._kept.popitem(last=False)
        else:
            self._kept.move_to_end(segment)
        return data


_PLACES_AT_ONCE = 8_192  # facts that are decoded at once, of whole samples
_BYTES_AT_ONCE = 12 << 20  # of the journal, at which they are fewer


class FactIndex:
    """The places of each sample's replies and failures: eight bytes per fact.

    With `first_number`, facts are numbered from there, in the order of the plan, and not as their journals do.
    """

    def __init__(self, journal: Path, first_number: int | None = None) -> None:
        self._journal = journal
        self._first_number = first_number
        self._places = array("Q")
        self._is_sorted = False
        self._cache: SegmentCache | None = None
        self.on_sample: Callable[[int], None] | None = None  # called with each sample that is gone through

    def add(self, line: JournalLine) -> None:
        fact = line.fact
        if isinstance(fact, Reply | Failure):
            place = line.segment << OFFSET_BITS | line.offset
            self._places.append(fact.sample << (OFFSET_BITS + SEGMENT_BITS) | place)
            self._is_sorted, self._cache = False, None

    def add_all(self, segment: int, samples: np.ndarray, starts: list[int]) -> None:
        """Add facts of one segment: the sample of each, and its place there."""
        import numpy as np

        places = samples.astype(np.uint64) << np.uint64(OFFSET_BITS + SEGMENT_BITS)
        places |= np.array(starts, np.uint64) | np.uint64(segment << OFFSET_BITS)
        self._places.frombytes(places.tobytes())
        self._is_sorted, self._cache = False, None

    def take(self, more: FactIndex, n_before: int) -> None:
        """Take the places of another journal, whose segments come after so many others: it has none afterwards."""
        self._places.extend(_later(more._places, n_before))
        more._places = array("Q")  # of a large record there is no room for both
        self._is_sorted, self._cache = False, None

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
        places = self._sorted()
        start, n = 0, len(places)
        usual = self._n_bytes(places) // max(n, 1)  # of a line
        while start < n:
            size = _PLACES_AT_ONCE
            # Those that chance has scattered lie between all others, and are as long as these.
            while size > 1 and min(self._n_bytes(places[start : start + size]), 4 * usual * size) > _BYTES_AT_ONCE:
                size //= 2
            first, last = self._sample(places[start]), self._sample(places[min(start + size, n) - 1])
            end = last if start + size < n and last > first else last + 1  # the last may have more facts
            yield first, end
            start = self._start_of(end)

    def between(self, first: int, end: int) -> list[tuple[int, list[Reply | Failure]]]:
        """The same of the samples from `first` to before `end` alone."""
        import numpy as np

        places = self._sorted()[self._start_of(first) : self._start_of(end)]
        found: dict[int, list[Reply | Failure]] = {}
        samples = places >> np.uint64(OFFSET_BITS + SEGMENT_BITS)
        for sample in samples.tolist():
            found[sample] = []
        segments = (places >> np.uint64(OFFSET_BITS)) & np.uint64(MAX_SEGMENTS - 1)
        for segment in np.unique(segments).tolist():
            offsets = places[segments == segment] & np.uint64(MAX_SEGMENT_BYTES - 1)
            for fact in self._facts(segment, np.sort(offsets).tolist()):
                if isinstance(fact, Reply | Failure) and fact.sample in found:
                    found[fact.sample].append(fact)
        if self._first_number is not None:
            start = self._first_number + self._start_of(first)
            for number, one in enumerate(chain.from_iterable(found.values()), start):
                one.seq = number
        return list(found.items())

    def alone(self, first: int, end: int) -> FactIndex:
        """The places of these samples' facts alone, to be sent to another process."""
        self._sorted()
        start = self._start_of(first)
        found = FactIndex(self._journal, None if self._first_number is None else self._first_number + start)
        found._places, found._is_sorted = self._places[start : self._start_of(end)], True
        return found

    def place_of(self, number: int) -> tuple[int, int]:
        """The segment and the line, from 1, of a fact that is numbered in the order of the plan."""
        place = int(self._sorted()[number - (self._first_number or 0)])
        segment, offset = place >> OFFSET_BITS & (MAX_SEGMENTS - 1), place & (MAX_SEGMENT_BYTES - 1)
        return segment, SegmentCache(self._journal).segment(segment).count(b"\n", 0, offset) + 1

    def _facts(self, segment: int, offsets: list[int]) -> list[Fact]:
        """The facts at some places of a segment; where they stand close together, with those between."""
        if self._cache is None:
            self._cache = SegmentCache(self._journal)
        data = self._cache.segment(segment)
        start, end = offsets[0], data.find(b"\n", offsets[-1]) + 1
        if 2 * len(offsets) >= data.count(b"\n", start, end):
            with suppress(msgspec.DecodeError, UnicodeDecodeError, RecursionError):  # a lone surrogate, mostly
                facts: list[Fact] = fact_decoder.decode_lines(data[start:end])
                return facts
        return [decode_json(data[offset : data.find(b"\n", offset)], fact_decoder) for offset in offsets]

    def _sorted(self) -> np.ndarray:
        import numpy as np

        places = np.frombuffer(self._places, dtype=np.uint64)
        if not self._is_sorted:
            places.sort()
            self._is_sorted = True
        return places

    def _start_of(self, sample: int) -> int:
        return bisect_left(self._places, sample << (OFFSET_BITS + SEGMENT_BITS))

    @staticmethod
    def _sample(place: np.uint64) -> int:
        return int(place) >> (OFFSET_BITS + SEGMENT_BITS)

    @staticmethod
    def _n_bytes(places: np.ndarray) -> int:
        """The bytes of a journal from the first to the last of some facts."""
        import numpy as np

        in_journal = places & np.uint64((1 << (OFFSET_BITS + SEGMENT_BITS)) - 1)
        return int(in_journal.max() - in_journal.min()) if len(places) else 0


def _later(places: array[int], n_segments: int) -> array[int]:
    """The same places, so many segments later."""
    import numpy as np

    found = array("Q")
    found.frombytes((np.frombuffer(places, np.uint64) + np.uint64(n_segments << OFFSET_BITS)).tobytes())
    return found


class OutcomeIndex:
    """The place of a scorer's outcome of each sample, or of an imported log's: eight bytes per outcome."""

    def __init__(self, journal: Path) -> None:
        self._journal = journal
        self._places = array("Q")
        self._is_sorted = True
        self._cache: SegmentCache | None = None
        self._read: OrderedDict[int, dict[int, Outcome | ImportedOutcome]] = OrderedDict()  # by the place of their fact
        self.are_truths = True  # every score is true or false
        self.pythons: set[str] = set()  # versions that the scorer ran under

    def __len__(self) -> int:
        return len(self._places)

    def add(self, line: JournalLine, fact: Outcomes | LogOutcomes) -> None:
        place = line.segment << OFFSET_BITS | line.offset
        self._places.extend(one.sample << (OFFSET_BITS + SEGMENT_BITS) | place for one in fact.outcomes)
        if isinstance(fact, Outcomes):
            self.pythons.add(fact.python)
            self.are_truths = self.are_truths and all(isinstance(one.score, bool | None) for one in fact.outcomes)
        self._is_sorted, self._cache = False, None

    def take(self, more: OutcomeIndex, n_before: int) -> None:
        """Take the outcomes of another journal, whose segments come after so many others: it has none afterwards."""
        self._places.extend(_later(more._places, n_before))
        more._places = array("Q")
        self.pythons |= more.pythons
        self.are_truths = self.are_truths and more.are_truths
        self._is_sorted, self._cache = False, None

    def __contains__(self, sample: int) -> bool:
        return self._place_of(sample) is not None

    def of(self, sample: int) -> Outcome | ImportedOutcome | None:
        """The outcome of a sample; the first, if there are several. Asked in plan order, each fact is read once."""
        place = self._place_of(sample)
        return None if place is None else self._outcomes_at(place)[sample]

    def _place_of(self, sample: int) -> int | None:
        import numpy as np

        if not self._is_sorted:
            np.frombuffer(self._places, dtype=np.uint64).sort()
            self._is_sorted = True
        found = bisect_left(self._places, sample << (OFFSET_BITS + SEGMENT_BITS))
        if found == len(self._places) or self._places[found] >> (OFFSET_BITS + SEGMENT_BITS) != sample:
            return None
        return self._places[found] & ((1 << (OFFSET_BITS + SEGMENT_BITS)) - 1)

    def _outcomes_at(self, place: int) -> dict[int, Outcome | ImportedOutcome]:
        known = self._read.get(place)
        if known is not None:
            return known
        if self._cache is None:
            self._cache = SegmentCache(self._journal)
        line = self._cache.line(place >> OFFSET_BITS, place & (MAX_SEGMENT_BYTES - 1))
        fact = decode_json(line, fact_decoder)
        known = self._read[place] = {one.sample: one for one in reversed(fact.outcomes)}
        if len(self._read) > _READ_FACTS:
            self._read.popitem(last=False)
        return known
