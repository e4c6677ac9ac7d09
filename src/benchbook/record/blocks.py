"""Reads a journal in blocks: the chain is checked over bytes, and all lines of a segment are decoded at once.

Most lines of a journal are answers, one after another. They come as blocks, which cost a third of what single lines do;
everything else, and whatever is out of the ordinary, comes line by line, as `read_journal` reads it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from benchbook.record.facts import FIRST_PREV, Fact, Failure, Reply, SampleFact, fact_decoder
from benchbook.record.format import refuse_later
from benchbook.record.reading import JournalLine, read_journal, read_segment_there, segment_files, segment_number

if TYPE_CHECKING:
    import numpy as np

_MOST_BYTES = 16 << 20  # of a segment that is decoded at once; one that was written at once may be longer
_prev_of, _seq_of, _sample_of = attrgetter("prev"), attrgetter("seq"), attrgetter("sample")
_CALLS = frozenset({Reply, Failure})


class CallLines(msgspec.Struct, frozen=True, gc=False):
    """Lines of one segment that follow each other and are answers or failed calls, as they stand there.

    `data` are their bytes with their newlines, `starts` the place of each within the segment, `hashes` those of each.
    """

    segment: int
    number: int  # of the first, from 1
    starts: list[int]
    facts: list[SampleFact]
    data: bytes
    hashes: list[str]

    @property
    def sha256(self) -> str:
        """The last one's hash."""
        return self.hashes[-1]

    def line(self, place: int) -> JournalLine:
        """One of them, counted from 0, by itself."""
        start = self.starts[place] - self.starts[0]
        raw = self.data[start : self.data.index(b"\n", start)]
        number, sha256 = self.number + place, self.hashes[place]
        return JournalLine(self.segment, number, self.starts[place], sha256, self.facts[place], raw)

    def lines(self) -> Iterator[JournalLine]:
        return map(self.line, range(len(self.facts)))

    @property
    def samples(self) -> np.ndarray:
        """The sample of each. Raises: OverflowError for one beyond 64 bits."""
        import numpy as np

        return np.fromiter(map(_sample_of, self.facts), np.int64, len(self.facts))


def up_to(found: Iterable[JournalLine | CallLines], n_facts: int) -> Iterator[JournalLine | CallLines]:
    """The first so many facts of a journal. A block that goes on after them comes line by line."""
    for one in found:
        lines = (one,) if isinstance(one, JournalLine) or one.facts[-1].seq < n_facts else one.lines()
        for line in lines:
            if isinstance(line, JournalLine) and line.fact.seq >= n_facts:
                return
            yield line


def read_blocks(
    journal: Path, look_at_segment: Callable[[Path, bytes], None] = lambda *_: None
) -> Iterator[JournalLine | CallLines]:
    """All of a journal in order, with the chain checked on the way. Raises: as `read_journal`.

    `look_at_segment` is shown the lines of each segment that is read at once, before these come.
    """
    last: JournalLine | None = None
    for path in segment_files(journal):
        data = read_segment_there(path)
        whole = _WholeSegment.read(path, data, last)
        if whole is not None:
            look_at_segment(path, data)
        del data
        if whole is not None:
            yield from whole.pieces()
            last = whole.last_line()
            continue
        for line in read_journal(journal, last):
            if line.segment != segment_number(path):
                break
            last = line
            yield line


def _line_ends(lines: list[bytes]) -> np.ndarray:
    """The place after each line and its newline."""
    import numpy as np

    return np.cumsum(np.fromiter(map(len, lines), np.int64, len(lines)) + 1)


def _are_objects(data: bytes, ends: np.ndarray) -> bool:
    """True if no JSON value goes over several of these lines, where as many values as lines can be decoded of them.

    Within a value a brace that closes is never followed by one that opens, nor has a text in it a line's end.
    """
    import numpy as np

    found = np.frombuffer(data, np.uint8)
    if ends[0] < 2 or found[0] != ord("{"):
        return False
    return bool((found[ends - 2] == ord("}")).all() and (found[ends[:-1]] == ord("{")).all())


class _WholeSegment:
    """The lines of a segment whose chain holds."""

    def __init__(
        self, segment: int, data: bytes, ends: np.ndarray, raws: list[bytes], facts: list[Fact], hashes: list[str]
    ) -> None:
        self._segment = segment
        self._data = data
        self._ends = ends
        self._raws = raws
        self._facts = facts
        self._hashes = hashes

    @classmethod
    def read(cls, path: Path, data: bytes, last: JournalLine | None) -> _WholeSegment | None:
        """The segment that follows `last`, with these lines; None where it has to be read line by line."""
        end = data.rfind(b"\n") + 1
        if not end or end > _MOST_BYTES or b"\r" in data:
            return None
        if end < len(data):
            data = data[:end]
        raws = data.split(b"\n")
        raws.pop()
        ends = _line_ends(raws)
        if not _are_objects(data, ends):
            return None
        if last is None:
            refuse_later(path.parents[1], raws[0])
        try:
            facts: list[Fact] = fact_decoder.decode_lines(data)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return None
        sha256 = hashlib.sha256
        hashes = [sha256(raw).hexdigest() for raw in raws]
        before, seq = (FIRST_PREV, 0) if last is None else (last.sha256, last.fact.seq + 1)
        prevs = list(map(_prev_of, facts))
        is_chain = prevs[:1] == [before] and prevs[1:] == hashes[:-1]
        if not is_chain or list(map(_seq_of, facts)) != list(range(seq, seq + len(raws))):
            return None
        return cls(segment_number(path), data, ends, raws, facts, hashes)

    def pieces(self) -> Iterator[JournalLine | CallLines]:
        ends = self._ends
        starts = [0, *ends[:-1].tolist()]
        place = 0
        for is_calls, run in groupby(map(_CALLS.__contains__, map(type, self._facts))):
            n = sum(1 for _ in run)
            if is_calls:
                yield self._block(place, place + n, starts, ends)
            else:
                yield from (self._line(one, starts[one]) for one in range(place, place + n))
            place += n

    def _block(self, first: int, end: int, starts: list[int], ends: np.ndarray) -> CallLines:
        return CallLines(
            self._segment,
            first + 1,
            starts[first:end],
            self._facts[first:end],  # type: ignore[arg-type]
            self._data[starts[first] : ends[end - 1]],
            self._hashes[first:end],
        )

    def _line(self, place: int, start: int) -> JournalLine:
        return JournalLine(self._segment, place + 1, start, self._hashes[place], self._facts[place], self._raws[place])

    def last_line(self) -> JournalLine:
        raw = self._raws[-1]
        return self._line(len(self._raws) - 1, len(self._data) - len(raw) - 1)
