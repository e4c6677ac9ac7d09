"""Reads one shard to its end, as far as it is joined: the hash of its chain, and the root over its samples.

A sample's leaf is made of the hashes of its lines, so that one sample can be shown to be in the record without any
other (`proofs`).
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from benchbook.errors import RecordDamagedError, RecordError
from benchbook.record.blocks import CallLines, read_blocks, up_to
from benchbook.record.facts import Failure, Reply, RunStarted, Shard
from benchbook.record.merkle import HASH_BYTES, leaf_hash, root_of
from benchbook.record.reading import JournalLine, place_in
from benchbook.record.sets import ShardEnd
from benchbook.record.state import LineLooker, WriterState, samples_of

_MOST_FACTS = 1 << 62
_AT_ONCE = 1 << 16  # places that are numbers of Python's
_ORDER_BITS = 32  # of a line's number among those about samples, below its sample's


def sample_leaf(sample: int, lines: list[bytes]) -> bytes:
    """The leaf of a sample: its number in eight bytes, and the hashes of the lines about it, in their order."""
    return leaf_hash(sample.to_bytes(8, "big") + b"".join(lines))


class SampleLines:
    """The hashes of the lines about each sample of a shard: forty bytes a line."""

    def __init__(self) -> None:
        self._places = array("Q")
        self._n_before = 0
        self._hashes = bytearray()

    def add(self, line: JournalLine) -> None:
        """Add a line, which may be about none, or about several samples."""
        order, samples = len(self._hashes) // HASH_BYTES, samples_of(line)
        self._places.extend(sample << _ORDER_BITS | order for sample in samples)
        if len(self._places) > self._n_before:
            self._hashes += bytes.fromhex(line.sha256)
        self._n_before = len(self._places)

    def add_calls(self, block: CallLines) -> None:
        """Add lines about a sample each."""
        order = len(self._hashes) // HASH_BYTES
        self._places.extend(fact.sample << _ORDER_BITS | number for number, fact in enumerate(block.facts, start=order))
        self._hashes += bytes.fromhex("".join(block.hashes))
        self._n_before = len(self._places)

    def by_sample(self, first: int, end: int) -> Iterator[tuple[int, list[bytes]]]:
        """`(sample, the hashes of its lines)` for every sample of a range, also for those without a line."""
        import numpy as np

        in_order = np.sort(np.frombuffer(self._places, np.uint64))
        some = (in_order[at : at + _AT_ONCE].tolist() for at in range(0, len(in_order), _AT_ONCE))
        places = chain.from_iterable(some)
        place = next(places, None)
        for sample in range(first, end):
            lines: list[bytes] = []
            while place is not None and place >> _ORDER_BITS == sample:
                at = (place & ((1 << _ORDER_BITS) - 1)) * HASH_BYTES
                lines.append(bytes(self._hashes[at : at + HASH_BYTES]))
                place = next(places, None)
            yield sample, lines


@dataclass(frozen=True, slots=True)
class ShardState:
    """The part of one shard in its run, up to where it was joined. It can be sent from another process."""

    state: WriterState
    n_about: int  # facts about samples
    last_at: str


class ShardReader:
    """One shard's journal, read line by line: what it begins with, its end, and whether all of it was asked.

    `for_root`: the hashes of its samples' lines are kept. Raises, while it reads: RecordDamagedError, also for a sample
    of another shard; RecordError where it is no shard's.
    """

    def __init__(self, journal: Path, number: int, *, for_root: bool = True) -> None:
        self.journal = journal
        self.number = number
        self.lines = SampleLines() if for_root else None
        self.goes_on = False  # there are facts after the one where it was joined
        self._state: WriterState | None = None
        self._last: JournalLine | None = None
        self._last_at = ""
        self._n_sample_facts = self._n_about = 0

    def read(self, joined: ShardEnd | None = None, looker: LineLooker | None = None) -> ShardReader:
        """Read it, its chain checked, up to where it was `joined`, else to its end. `looker` is shown each line."""
        n_facts = _MOST_FACTS if joined is None else joined.n_facts
        blocks = read_blocks(self.journal) if looker is None else read_blocks(self.journal, looker.look_at_segment)
        for found in up_to(self._noted(blocks, n_facts), n_facts):
            if isinstance(found, CallLines):
                self._add_calls(found)
                if looker is not None:
                    looker.look_at_calls(found)
            else:
                self._add(found)
                if looker is not None:
                    looker.look_at(found)
        if self._last is None:
            raise RecordDamagedError(self.journal / "000001.jsonl", None, "is missing, or has no line")
        return self

    def _noted(self, blocks: Iterator[JournalLine | CallLines], n_facts: int) -> Iterator[JournalLine | CallLines]:
        for found in blocks:
            last = found.facts[-1] if isinstance(found, CallLines) else found.fact
            self.goes_on = last.seq >= n_facts
            yield found

    def _add_calls(self, block: CallLines) -> None:
        shard, samples = self.shard, [fact.sample for fact in block.facts]
        if not (shard.first <= min(samples) and max(samples) < shard.end):
            for line in block.lines():
                self._add(line)
        self.state.add_calls(block)
        if self.lines is not None:
            self.lines.add_calls(block)
        self._n_sample_facts += len(samples)
        self._n_about += len(samples)
        self._note_last(block.line(len(samples) - 1))

    def _add(self, line: JournalLine) -> None:
        fact = line.fact
        if self._state is None:
            if not isinstance(fact, RunStarted) or fact.shard is None:
                raise RecordError(f"{self.journal.parent}: its journal does not begin as a shard's")
            self._state = WriterState.begin(self.journal, fact)
        shard, is_about = self.shard, False
        for sample in samples_of(line):
            is_about = True
            if not shard.first <= sample < shard.end:
                what = f"sample {sample} is none of this shard's, which are {shard.first} to {shard.end - 1}"
                raise RecordDamagedError(place_in(self.journal, line.segment), line.number, what)
        self.state.add(line)
        if self.lines is not None:
            self.lines.add(line)
        self._n_sample_facts += isinstance(fact, Reply | Failure)
        self._n_about += is_about
        self._note_last(line)

    def _note_last(self, line: JournalLine) -> None:
        self._last, self._last_at = line, max(self._last_at, line.fact.at)

    @property
    def state(self) -> WriterState:
        """The state of the shard's own journal."""
        assert self._state is not None  # noqa: S101 - it was read
        return self._state

    @property
    def shard(self) -> Shard:
        found = self.state.started.shard
        assert found is not None  # noqa: S101 - else `read` has raised
        return found

    def adds(self) -> ShardState:
        """Its part of the run."""
        return ShardState(self.state, self._n_about, self._last_at)

    def leaves(self) -> Iterator[bytes]:
        """The leaf of each of its samples, in plan order."""
        assert self.lines is not None  # noqa: S101 - it was read for its root
        return (sample_leaf(*one) for one in self.lines.by_sample(self.shard.first, self.shard.end))

    def end(self) -> ShardEnd:
        """Its end, as a set names it."""
        assert self._last is not None  # noqa: S101 - it was read
        return ShardEnd(
            shard=self.number,
            first=self.shard.first,
            end=self.shard.end,
            n_facts=self._last.fact.seq + 1,
            n_sample_facts=self._n_sample_facts,
            sha256=self._last.sha256,
            samples_sha256=root_of(self.leaves()).hex(),
        )

    def is_at(self, end: ShardEnd) -> bool:
        """True if it was read to this very fact."""
        last = self._last
        return last is not None and (last.fact.seq + 1, last.sha256) == (end.n_facts, end.sha256)

    @property
    def place(self) -> tuple[int, int]:
        """Where that is, as in `RecordSet.places`."""
        assert self._last is not None  # noqa: S101 - it was read
        return self._last.segment, self._last.offset + len(self._last.raw) + 1
