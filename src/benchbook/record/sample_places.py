"""Where facts about samples stand in one journal: eight bytes each, which sort by sample, then as they were written."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections import OrderedDict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchbook.canonical import decode_json
from benchbook.record.facts import fact_decoder
from benchbook.record.reading import MAX_SEGMENT_BYTES, OFFSET_BITS, SEGMENT_BITS, read_segment_there, segment_files
from benchbook.spilled import SpilledNumbers

if TYPE_CHECKING:
    import numpy as np

IN_JOURNAL_BITS = OFFSET_BITS + SEGMENT_BITS
IN_JOURNAL = (1 << IN_JOURNAL_BITS) - 1  # of a place, all but its sample
_KEPT_SEGMENTS = 8  # by batch a sample's facts lie in as many: its answer, each judge of a panel, those asked again


class SamplePlaces:
    """The places, added in any order. While nobody needs them they may be put by, into a file that several share."""

    def __init__(self) -> None:
        self._there = array("Q")
        self._is_sorted = True
        self._put_by: tuple[SpilledNumbers, int, int] | None = None  # where, from which number on, and how many

    def __len__(self) -> int:
        return len(self._there) if self._put_by is None else self._put_by[2]

    def append(self, sample: int, segment: int, offset: int) -> None:
        """Add a fact's place."""
        self._there.append(sample << IN_JOURNAL_BITS | segment << OFFSET_BITS | offset)
        self._is_sorted = False

    def add(self, places: array[int]) -> None:
        self._there.extend(places)
        self._is_sorted = False

    def put_by(self, into: SpilledNumbers) -> None:
        """Move them there, after what is there. Nothing is added any more."""
        self._put_by = into, len(into), len(self._there)
        into.extend(self.in_order())
        self.let_go()

    def let_go(self) -> None:
        """Hold no longer in memory what was put by."""
        if self._put_by is not None:
            self._there = array("Q")

    def in_order(self) -> array[int]:
        """All of them, sorted."""
        import numpy as np

        if self._put_by is not None and not self._there:
            numbers, start, n = self._put_by
            self._there = numbers.some(start, start + n)
        if not self._is_sorted:
            np.frombuffer(self._there, np.uint64).sort()
            self._is_sorted = True
        return self._there

    def some(self, start: int, end: int) -> np.ndarray:
        """From one to before another, in their order."""
        import numpy as np

        return np.frombuffer(self.in_order(), np.uint64)[start:end]

    def start_of(self, sample: int) -> int:
        """How many are of samples before this one."""
        return bisect_left(self.in_order(), sample << IN_JOURNAL_BITS)

    def between(self, first: int, end: int) -> SamplePlaces:
        """A copy of those of some samples."""
        found = SamplePlaces()
        found._there = self.in_order()[self.start_of(first) : self.start_of(end)]
        return found


class SegmentCache:
    """Facts by segment and place. The last few segments are kept: facts of one sample lie close together."""

    def __init__(self, journal: Path) -> None:
        self._journal = journal
        self._paths: dict[int, Path] = {}  # looked up once a segment is asked for
        self._kept: OrderedDict[int, bytes] = OrderedDict()

    def forget(self) -> None:
        """Keep nothing: the journal has grown, or others need the room."""
        self._paths = {}
        self._kept.clear()

    def fact_at(self, place: int) -> Any:
        """The fact at a place within the journal."""
        data, offset = self.segment(place >> OFFSET_BITS), place & (MAX_SEGMENT_BYTES - 1)
        return decode_json(data[offset : data.find(b"\n", offset)], fact_decoder)

    def segment(self, segment: int) -> bytes:
        """All of a segment's lines."""
        data = self._kept.get(segment)
        if data is None:
            self._paths = self._paths or dict(enumerate(segment_files(self._journal), start=1))
            data = self._kept[segment] = read_segment_there(self._paths[segment])
            if len(self._kept) > _KEPT_SEGMENTS:
                self._kept.popitem(last=False)
        else:
            self._kept.move_to_end(segment)
        return data
