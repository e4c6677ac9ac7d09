"""Reads every shard of a run and holds it against itself: its files, its chain, each of its lines, its samples."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from benchbook.errors import BenchbookError, LaterRecordError, RecordDamagedError
from benchbook.evaluators.journal_files import check_journal_files, place_inside
from benchbook.evaluators.workers import done_in_order, worker_count
from benchbook.record.blocks import CallLines
from benchbook.record.checking import FactsCheck
from benchbook.record.derived_files import Discrepancy, inside
from benchbook.record.facts import RunStarted
from benchbook.record.folder import ShardRecord
from benchbook.record.reading import SHARDS, JournalLine
from benchbook.record.sets import RecordSet, ShardEnd
from benchbook.record.shard_ends import ShardReader, ShardState
from benchbook.record.shards import other_than
from benchbook.spilled import SpilledNumbers

_MENDING = "the same command goes on with the shard, and mends it"
_BYTES_A_SAMPLE, _PACKED = 1_500, 8  # as most are, of a judged sample, and in a sealed segment


@dataclass(frozen=True, slots=True)
class ShardReport:
    """One shard as it was found. `adds`, `end` and `place` are None where it can't be read to its end."""

    number: int
    findings: tuple[Discrepancy, ...]
    adds: ShardState | None = None  # to its run
    end: ShardEnd | None = None
    place: tuple[int, int] | None = None
    goes_on: bool = False  # there are facts after the one where it was joined

    @property
    def started(self) -> RunStarted | None:
        return None if self.adds is None else self.adds.state.started

    @property
    def has_ended(self) -> bool:
        return self.adds is not None and self.adds.state.ended is not None

    @property
    def folder(self) -> str:
        return f"{SHARDS}/{self.number}"


@dataclass(frozen=True, slots=True)
class ShardToRead:
    """A shard to be read: where it was joined, if it was, and what earlier sets say of its chain."""

    path: Path
    joined: ShardEnd | None = None
    earlier: tuple[ShardEnd, ...] = ()


def shards_to_read(paths: Iterable[Path], sets: Sequence[RecordSet], *, as_joined: bool) -> list[ShardToRead]:
    """The shards in these folders. `sets` are those of the record, the oldest first; `as_joined`: up to the newest."""
    ends = [{one.shard: one for one in found.shards} for found in sets]
    found: list[ShardToRead] = []
    for path in paths:
        number = int(path.name)
        earlier = tuple(dict.fromkeys(one[number] for one in ends if number in one))
        found.append(ShardToRead(path, ends[-1].get(number) if as_joined and ends else None, earlier))
    return found


class _ReadShards:
    """The reading of shards, as it is sent to a worker."""

    def begin(self) -> Callable[[ShardToRead], ShardReport]:
        return read_shard


def read_shards(asked: Sequence[ShardToRead]) -> Iterator[ShardReport]:
    """Read shards, each by itself, on all cores where they are large. Raises: LaterRecordError, ConfigError."""
    n_workers, numbers = worker_count(sum(map(_size_of, asked)) // _BYTES_A_SAMPLE), SpilledNumbers()
    for report in done_in_order(_ReadShards(), asked, min(n_workers, len(asked)), read_shard):
        if report.adds is not None:
            report.adds.state.put_by(numbers)
        yield report


def _size_of(asked: ShardToRead) -> int:
    with suppress(OSError):
        return sum(
            path.stat().st_size * (_PACKED if path.suffix == ".zst" else 1)
            for path in (asked.path / "journal").iterdir()
        )
    return 0


def read_shard(asked: ShardToRead) -> ShardReport:
    """Read one shard. Raises: LaterRecordError."""
    record, number = ShardRecord(asked.path), int(asked.path.name)
    before, facts = f"{SHARDS}/{number}/", _ShardLines(record.journal, asked.earlier)
    reader = ShardReader(record.journal, number)

    findings = check_journal_files(record, _MENDING, seals=False)
    try:
        reader.read(asked.joined, facts)
    except RecordDamagedError as error:
        wrong = Discrepancy(place_inside(record, error.path), error.line, error.reason)
        return ShardReport(number, _named(before, [*check_journal_files(record, _MENDING), wrong]))
    except LaterRecordError:
        raise
    except (BenchbookError, OSError) as error:
        findings.append(Discrepancy("journal", None, inside(record, str(error))))
        return ShardReport(number, _named(before, findings))
    if not facts.seals_hold():
        findings = check_journal_files(record, _MENDING)
    findings += facts.findings
    findings += [Discrepancy("journal", None, what) for what in facts.lacking()]
    if reader.shard.number != number:
        findings.append(Discrepancy("journal/000001.jsonl", 1, f"is of shard {reader.shard.number}"))
    return ShardReport(number, _named(before, findings), reader.adds(), reader.end(), reader.place, reader.goes_on)


class _ShardLines(FactsCheck):
    """Looks for the facts that earlier sets name, too: a shard only grows, so that each is still there."""

    def __init__(self, journal: Path, ends: Iterable[ShardEnd]) -> None:
        super().__init__(journal)
        self._wanted = {(one.n_facts - 1, one.sha256) for one in ends}

    def look_at(self, line: JournalLine) -> None:
        super().look_at(line)
        self._wanted.discard((line.fact.seq, line.sha256))

    def look_at_calls(self, block: CallLines) -> None:
        super().look_at_calls(block)
        first = block.facts[0].seq
        self._wanted = {
            (seq, sha256)
            for seq, sha256 in self._wanted
            if not 0 <= seq - first < len(block.hashes) or block.hashes[seq - first] != sha256
        }

    def lacking(self) -> Iterator[str]:
        for seq, sha256 in sorted(self._wanted):
            yield f"does not have the fact {seq} with the hash {sha256[:12]}…, where it was joined"


def _named(before: str, findings: Iterable[Discrepancy]) -> tuple[Discrepancy, ...]:
    return tuple(Discrepancy(before + one.file, one.line, one.what) for one in findings)


# ── shards, side by side ─────────────────────────────────────────────────────────────────────────────────────


def check_of_one_run(reports: Sequence[ShardReport]) -> Iterator[Discrepancy]:
    """Check that all shards are of one plan: that of most of them."""
    if not any(one.started is not None for one in reports):
        return
    plan = plan_of_most(reports)
    for one in reports:
        if one.started is not None and (name := other_than(one.started, plan)) is not None:
            what = f"is of another run than the other shards: its {name} is not theirs"
            yield Discrepancy(f"{one.folder}/journal/000001.jsonl", 1, what)


def plan_of_most(reports: Sequence[ShardReport]) -> RunStarted:
    """The first fact of the first shard of those that are most alike."""
    known: dict[str, list[RunStarted]] = {}
    for one in reports:
        if one.started is not None:
            known.setdefault(one.started.plan_sha256, []).append(one.started)
    return max(known.values(), key=len)[0]


def gaps_between(ends: Sequence[ShardEnd], n_samples: int) -> Iterator[Discrepancy]:
    """The samples that are in no shard. Shards are in the order of their samples."""
    following = 0
    for first, end in (*((one.first, one.end) for one in ends), (n_samples, n_samples)):
        if first > following:
            yield Discrepancy(SHARDS, None, f"{_samples(following, first)} are in no shard")
        following = max(following, end)


def overlaps_of(ends: Sequence[ShardEnd]) -> Iterator[Discrepancy]:
    """The samples that are in two shards."""
    before: ShardEnd | None = None
    for one in ends:
        if before is not None and one.first < before.end:
            shared = _samples(one.first, min(one.end, before.end))
            yield Discrepancy(f"{SHARDS}/{one.shard}", None, f"{shared} are in shard {before.shard}, too")
        if before is None or one.end > before.end:
            before = one


def _samples(first: int, end: int) -> str:
    return f"samples {first} to {end - 1}"
