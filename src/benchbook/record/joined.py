"""The journals of a joined record, read as the one that a single writer would have written.

First the run's start, then what was asked and answered, shard by shard, and at last how the run ended. What shards say
of themselves (seals, sittings) is no part of it, and facts are numbered in the order of the plan: numbers are the same
however many shards there were, and however often one was killed and resumed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
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

_ABOUT_SAMPLES = (Reply, Failure, Outcomes, LogOutcomes)


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
        self._shards = shards
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
        shard's journal; in the record they are numbered by their samples (`FactIndex.in_plan_order`).

        Raises: RecordDamagedError, also where a shard does not have what was joined.
        """
        ended: list[RunEnded] = []
        last_at = ""
        for place, part in enumerate(self._parts):
            last: JournalLine | None = None
            for line in self._lines_of(part):
                last, fact = line, line.fact
                if isinstance(fact, RunStarted) and place == 0:
                    whole = msgspec.structs.replace(fact, shard=None)
                    yield msgspec.structs.replace(line, fact=whole)
                elif isinstance(fact, _ABOUT_SAMPLES):
                    yield line
                elif isinstance(fact, RunEnded):
                    ended.append(fact)
            assert last is not None  # noqa: S101 - else it does not have what was joined
            last_at = max(last_at, last.fact.at)
        yield self._last_line(ended, last_at)

    def _lines_of(self, part: _Part) -> Iterator[JournalLine]:
        n_read, sha256 = 0, ""
        for line in read_chain(part.journal, None):
            n_read, sha256 = line.fact.seq + 1, line.sha256
            yield msgspec.structs.replace(line, segment=line.segment + part.before)
            if n_read == part.end.n_facts:
                break
        if n_read < part.end.n_facts or sha256 != part.end.sha256:
            raise RecordDamagedError(part.journal, None, "does not have the facts that were joined")

    def _last_line(self, ended: list[RunEnded], at: str) -> JournalLine:
        """How the run ended: all of it, where each of its shards did; or not, since some are lacking or go on."""
        n_samples = sum(part.end.end - part.end.first for part in self._parts)
        seq = 1 + sum(part.end.n_sample_facts for part in self._parts)
        fact: RunEnded | Interrupted
        if len(ended) == len(self._parts) and n_samples == self.set.head.n_samples:
            fact = RunEnded(seq=seq, at=at, accepts_unanswered=any(one.accepts_unanswered for one in ended))
        else:
            lacking = self.set.head.n_samples - n_samples
            what = f"shards of {lacking:,} samples are lacking" if lacking else "some shards have not ended"
            fact = Interrupted(seq=seq, at=at, reason=what)
        last = self._parts[-1]
        return JournalLine(last.before + last.n_segments, 0, 0, self.set.root, fact, b"")
