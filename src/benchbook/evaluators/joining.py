"""Joins the shards of a run into one record, and holds a joined record against its set."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchbook.errors import RecordDamagedError, RecordError, TakenError, UsageError
from benchbook.evaluators.contract import DerivedFiles
from benchbook.evaluators.journal_files import foreign
from benchbook.evaluators.registry import evaluator_of
from benchbook.evaluators.shard_checks import (
    ShardReport,
    check_of_one_run,
    gaps_between,
    overlaps_of,
    plan_of_most,
    read_shards,
    shards_to_read,
)
from benchbook.record.derived_files import Discrepancy, deriving
from benchbook.record.folder import RUN_ID, Record, at_work, shard_folders
from benchbook.record.joined import JoinedJournals
from benchbook.record.joined_state import state_of_joined
from benchbook.record.reading import SHARDS
from benchbook.record.sets import (
    RULES,
    SETS,
    Claim,
    RecordSet,
    SetHead,
    commit_set,
    made_set,
    missing_sets,
    read_set,
    set_files,
)
from benchbook.record.state import JournalState
from benchbook.stores.address import StoreAddress
from benchbook.stores.objects import open_objects
from benchbook.stores.pulling import pull_record
from benchbook.stores.pushing import push_facts, push_once, push_what_follows
from benchbook.text import plural
from benchbook.writing import sweep

_SHOWN = 5  # findings in a message


@dataclass(frozen=True, slots=True)
class Joined:
    """The result of joining. With `findings` nothing was written, and there is no set."""

    record: Record
    findings: tuple[Discrepancy, ...]
    set: RecordSet | None = None
    derived: DerivedFiles | None = None

    def files(self) -> DerivedFiles:
        """The derived files. Raises: RecordError with what is wrong."""
        if self.derived is None:
            shown = "; ".join(map(str, self.findings[:_SHOWN]))
            more = len(self.findings) - _SHOWN
            also = f"; and {plural(more, 'more')}" if more > 0 else ""
            raise RecordError(f"{self.record.path}: not joined: {shown}{also}")
        return self.derived


def join(record: Record, *, incomplete: bool = False, claim: Claim = lambda *_: None) -> Joined:
    """Check all shards of a run, name them in a set, and derive the record's files from them.

    Nothing that is there is changed, and it can be done again at any time. A run of which shards are missing or have
    not ended is joined only as `incomplete`: its record says that it is not complete. `claim` is as in `commit_set`.

    Raises: UsageError where there are no shards; RecordError where it can't be written; LaterRecordError.
    """
    paths = shard_folders(record.path)
    if not paths:
        raise UsageError(f"{record.path}: has {'no shards' if record.is_sharded else 'one writer'}: nothing to join")
    sweep(record.path / SHARDS)
    with at_work(record):
        sets, findings = _read_sets(record)
        reports = list(read_shards(shards_to_read(paths, sets, as_joined=False)))
        findings += _faults(reports, incomplete=incomplete)
        if findings:
            return Joined(record, tuple(dict.fromkeys(findings)))
        made = _set_of(reports)
        with suppress(FileExistsError):  # another process has joined the same meanwhile, or what has come since
            commit_set(record.path, made, claim)
        with deriving(record):
            derived = evaluator_of(record).derive(record, record.path, _state_of(record, reports, made))
    return Joined(record, (), made, derived)


def join_kept(store: StoreAddress, run_id: str, runs: str | Path, *, incomplete: bool = False) -> Joined:
    """Join a run whose shards are in a store: pull what has come, join it here, and push the set and what follows.

    The set is created in the store before it is written here. Of two that join at once one creates it; the other one
    pulls that, and joins again.
    Raises: as `join`, `pull_record` and `push_record`; UsageError for a run that is named by no id.
    """

    def claim(name: str, data: bytes) -> None:
        push_once(objects, f"{SETS}/{name}", data)

    if RUN_ID.fullmatch(run_id) is None:
        raise UsageError(f"{run_id}: found no run id; a store has records by their ids alone")
    objects = open_objects(store / run_id)
    for last in (False, False, True):
        pulled = pull_record(objects, runs, run_id)
        try:
            push_facts(objects, pulled.record, pulled.there, pulled.level)  # a set names nothing that the store lacks
            found = join(pulled.record, incomplete=incomplete, claim=claim)
        except TakenError:
            if last:
                raise
            continue
        if found.derived is not None:
            push_what_follows(objects, pulled.record, pulled.there)
        return found
    raise AssertionError("the last try returns or raises")


def _read_sets(record: Record) -> tuple[list[RecordSet], list[Discrepancy]]:
    """All sets of a record, the oldest first, and what is wrong with their files."""
    sets: list[RecordSet] = []
    findings = [Discrepancy(f"{SETS}/{name}", None, "is missing") for name in missing_sets(record.path)]
    files = set_files(record.path)
    for path in files:
        try:
            sets.append(read_set(path))
        except RecordDamagedError as error:
            findings.append(Discrepancy(f"{SETS}/{path.name}", error.line, error.reason))
    for path in foreign(record.path / SETS, {path.name for path in files}):
        findings.append(Discrepancy(f"{SETS}/{path.name}", None, "does not belong to the record"))
    return sets, findings


def _faults(reports: Sequence[ShardReport], *, incomplete: bool) -> Iterator[Discrepancy]:
    for one in reports:
        yield from one.findings
    yield from check_of_one_run(reports)
    read = [one for one in reports if one.started is not None and one.end is not None]
    if not read:
        return
    plan = plan_of_most(read)
    ends = sorted((one.end for one in read if one.end is not None), key=lambda end: (end.first, end.shard))
    yield from overlaps_of(ends)
    if incomplete:
        return
    yield from gaps_between(ends, plan.n_items * plan.repeats)
    for one in read:
        if not one.has_ended:
            what = "has not ended: the command that began it goes on with it; or join as --incomplete"
            yield Discrepancy(one.folder, None, what)


def _set_of(reports: Sequence[ShardReport]) -> RecordSet:
    plan = plan_of_most(reports)
    found = sorted(
        ((one.end, one.place) for one in reports if one.end is not None and one.place is not None),
        key=lambda one: one[0].first,
    )
    head = SetHead(
        rules=RULES,
        run_id=plan.run_id,
        plan_sha256=plan.plan_sha256,
        n_samples=plan.n_items * plan.repeats,
        n_shards=len(found),
    )
    return made_set(head, [end for end, _ in found], [place for _, place in found])


def _state_of(record: Record, reports: Sequence[ShardReport], joined: RecordSet) -> JournalState:
    """The state of a record whose shards were read, all to where they are joined."""
    by_number = {one.number: one.adds for one in reports}
    in_order = (by_number[end.shard] for end in joined.shards)
    return state_of_joined(JoinedJournals(record.journal), [adds for adds in in_order if adds is not None])


# ── a joined record ──────────────────────────────────────────────────────────────────────────────────────────


def check_joined(
    record: Record, on_facts: Callable[[int, int], None] = lambda *_: None
) -> tuple[list[Discrepancy], JournalState | None]:
    """Hold every shard against the newest set, and the set against the shards. The state is None where one does not
    hold. `on_facts` is called with how many facts were read, and of how many. Raises: LaterRecordError."""
    sets, findings = _read_sets(record)
    if findings:
        return findings, None
    if not sets:
        return [Discrepancy(SHARDS, None, f"were never joined; `benchbook join {record.path}`")], None
    newest, paths = sets[-1], {int(path.name): path for path in shard_folders(record.path)}
    for end in newest.shards:
        if end.shard not in paths:
            findings.append(Discrepancy(f"{SHARDS}/{end.shard}", None, "is missing, and was joined"))
    known = {str(end.shard) for end in newest.shards}
    for path in foreign(record.path / SHARDS, known):
        is_one = path.name.isdecimal() and (path / "journal").is_dir()
        what = "is none of the shards that were joined; join again" if is_one else "does not belong to the record"
        findings.append(Discrepancy(f"{SHARDS}/{path.name}", None, what))
    there = [paths[end.shard] for end in newest.shards if end.shard in paths]
    reports: list[ShardReport] = []
    n_read, n_facts = 0, sum(end.n_facts for end in newest.shards)
    on_facts(n_read, n_facts)
    for one in read_shards(shards_to_read(there, sets, as_joined=True)):
        reports.append(one)
        n_read += one.end.n_facts if one.end is not None else 0
        on_facts(n_read, n_facts)
    for one in reports:
        findings += one.findings
        findings += _against_set(one, newest)
    findings += check_of_one_run(reports)
    findings += _against_head(reports, newest)
    return findings, None if findings else _state_of(record, reports, newest)


def _against_set(one: ShardReport, newest: RecordSet) -> Iterator[Discrepancy]:
    if one.end is None:
        return
    place = next(number for number, end in enumerate(newest.shards) if end.shard == one.number)
    named = newest.shards[place]
    if one.goes_on:
        yield Discrepancy(one.folder, None, "goes on after the join: it has facts that no set names; join again")
    for name in named.__struct_fields__:
        found, wanted = getattr(one.end, name), getattr(named, name)
        if found != wanted:
            yield Discrepancy(one.folder, None, f"its {name} is {found}, and {wanted} was joined")
            return
    if one.place != newest.places[place]:
        yield Discrepancy(f"{SETS}", None, f"names another place for the end of shard {one.number} than it has")


def _against_head(reports: Sequence[ShardReport], newest: RecordSet) -> Iterator[Discrepancy]:
    head: Any = newest.head
    plan = next((one.started for one in reports if one.started is not None), None)
    if plan is None:
        return
    wanted = {"run_id": plan.run_id, "plan_sha256": plan.plan_sha256, "n_samples": plan.n_items * plan.repeats}
    for name, value in wanted.items():
        if getattr(head, name) != value:
            yield Discrepancy(SETS, None, f"names another {name} than the shards have")
    yield from overlaps_of(newest.shards)
