"""The journals of a joined record, read as the one that a single writer would have written.

First the run's start, then what was asked and answered, shard by shard, and at last how the run ended. What shards say
of themselves (seals, sittings) is no part of it, and facts are numbered in the order of the plan: numbers are the same
however many shards there were, and however often one was killed and resumed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from pathlib import Path

import msgspec

from benchbook.errors import NotJoinedError, RecordDamagedError
from benchbook.record.facts import (
    Failure,
    Interrupted,
    LogOutcomes,
    Outcomes,
    Reply,
    RunEnded,
    RunStarted,
)
from benchbook.record.reading import JournalLine, read_chain, segment_files
from benchbook.record.sets import RecordSet, ShardEnd, newest_set


@dataclass(slots=True)
class _Part:
    """One shard among the others, and how many segments those before it have."""

    end: ShardEnd
    journal: Path
    n_segments: int
    before: int


class JoinedJournals:
    """The journals in `shards`, up to where the newest set names them. Segments are counted through all of them.

    Raises: NotJoinedError for shards that never were; RecordDamagedError for a set that can't be read.
    """

    def __init__(self, shards: Path) -> None:
        found = newest_set(shards.parent)
        if found is None:
            raise NotJoinedError(shards.parent)
        self.set: RecordSet = found
        self.path = shards
        self._parts: list[_Part] = []
        n_before = 0
        for end, (n_segments, _) in zip(found.shards, found.places, strict=True):
            self._parts.append(_Part(end, shards / str(end.shard) / "journal", n_segments, n_before))
            n_before += n_segments

    @cached_property
    def segments(self) -> list[Path]:
        """The segments of all shards, in order. Raises: RecordDamagedError where one is missing."""
        found: list[Path] = []
        for part in self._parts:
            files = segment_files(part.journal)
            if len(files) < part.n_segments:
                path = part.journal / f"{len(files) + 1:06d}.jsonl"
                raise RecordDamagedError(path, None, "this segment is missing")
            found += files[: part.n_segments]
        return found

    def last_segments(self) -> Iterator[tuple[Path, int]]:
        """The last segment of each shard, as far as it was joined, and the bytes of it that were."""
        for part, (n_segments, n_bytes) in zip(self._parts, self.set.places, strict=True):
            yield self.segments[part.before + n_segments - 1], n_bytes

    def lines(self) -> Iterator[JournalLine]:
        """Every line, with the chain of each shard checked up to where it was joined. Facts have the numbers of their
        shard's journal; in the record they are numbered by their samples (`fact_index`).

        Raises: RecordDamagedError, also where a shard does not have what was joined.
        """
        ended: list[RunEnded] = []
        last_at = ""
        for place, part in enumerate(self._parts):
            for found in _lines_of(part):
                fact = found.fact
                last_at = max(last_at, fact.at)
                if isinstance(fact, RunStarted) and place == 0:
                    yield msgspec.structs.replace(found, fact=msgspec.structs.replace(fact, shard=None))
                elif isinstance(fact, Reply | Failure | Outcomes | LogOutcomes):
                    yield found
                elif isinstance(fact, RunEnded):
                    ended.append(fact)
        last = self._parts[-1]
        end = self.end_of_run(ended, last_at)
        yield JournalLine(last.before + last.n_segments, 0, 0, self.set.root, end, b"")

    def end_of_run(self, ended: Sequence[RunEnded], at: str) -> RunEnded | Interrupted:
        """How the run ended: all of it, where each of its shards did; or not, since some are lacking or go on."""
        n_samples = sum(part.end.end - part.end.first for part in self._parts)
        seq = 1 + sum(part.end.n_sample_facts for part in self._parts)
        if len(ended) == len(self._parts) and n_samples == self.set.head.n_samples:
            return RunEnded(seq=seq, at=at, accepts_unanswered=any(one.accepts_unanswered for one in ended))
        lacking = self.set.head.n_samples - n_samples
        what = f"shards of {lacking:,} samples are lacking" if lacking else "some shards have not ended"
        return Interrupted(seq=seq, at=at, reason=what)


def _lines_of(part: _Part) -> Iterator[JournalLine]:
    """A shard's lines up to where it was joined, in segments that are counted through all shards."""
    n_facts, sha256 = 0, ""
    for found in islice(read_chain(part.journal), part.end.n_facts):
        n_facts, sha256 = n_facts + 1, found.sha256
        yield msgspec.structs.replace(found, segment=found.segment + part.before)
    if n_facts < part.end.n_facts or sha256 != part.end.sha256:
        raise lacks_what_was_joined(part.journal)


def lacks_what_was_joined(journal: Path) -> RecordDamagedError:
    """The error for a shard's journal that ends before what was joined of it, or has other facts there."""
    return RecordDamagedError(journal, None, "does not have the facts that were joined")
