"""A run by batch goes on after anything, killed at any moment: nothing is lost, and nothing is paid for twice."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from ask.batches.going import (
    VENDORS,
    begun,
    check_whole,
    ended,
    facts_of,
    go,
    looked_at,
    scores_of,
    sent,
    values,
)
from batch_vendors import Fates, vendors
from benchbook.ask.batches.running import BatchRun
from benchbook.errors import RecordLockedError
from benchbook.record.facts import BatchCollected, BatchSubmitted
from benchbook.record.folder import Record
from benchbook.record.journal import JournalWriter
from crashing import Pick, crashes, room_in_memory, why_not_here
from running import write_items

FATES = Fates(expired=120, failed=60, doubled=120)


@pytest.fixture
def room() -> Iterator[Path]:
    with room_in_memory() as folder:
        yield folder


def _with_items(folder: Path) -> None:
    write_items(folder / "items.jsonl", 3)


def holds_at_each_kill(vendor: str, room: Path, pick: Pick) -> None:
    """Killed at each of the file operations that are picked, a run comes to the same end as one that was not."""
    with vendors(room / "server", FATES) as root:
        act = partial(go, root.url, vendor)
        for crash in crashes(act, room, prepare=_with_items, kinds=("kill",), pick=pick):
            go(root.url, vendor, crash.folder, lambda _: None)
            record, whole = (Record(one / "runs" / "run") for one in (crash.folder, crash.whole))
            check_whole(looked_at(record), root.tenant(crash.folder.parent.name))
            assert scores_of(record) == scores_of(whole), crash


@pytest.mark.skipif(bool(why_not_here()), reason=why_not_here())
@pytest.mark.parametrize("vendor", VENDORS)
def test_killed_at_a_file_operation_it_goes_on(vendor: str, room: Path) -> None:
    """At every eighth, others under each vendor; `tests/attack` has them all."""
    holds_at_each_kill(vendor, room, lambda every: every[VENDORS.index(vendor) :: 8])


# ── a call that is not answered ──────────────────────────────────────────────────────────────────────────────

CALLS = {
    "openai": [
        "POST /files", "POST /files after", "POST /batches", "POST /batches after", "GET /batches/ID",
        "GET /batches/ID after", "GET /files/ID/content", "GET /files/ID/content after",
    ],
    "anthropic": [
        "POST /messages/batches", "POST /messages/batches after", "GET /messages/batches/ID",
        "GET /messages/batches/ID/results", "GET /messages/batches/ID/results after",
    ],
    "gemini": [
        "POST /upload/v1beta/files", "POST /upload/v1beta/files/bytes", "POST /upload/v1beta/files/bytes after",
        "POST /models/ID:batchGenerateContent", "POST /models/ID:batchGenerateContent after", "GET /batches/ID",
        "GET /download/v1beta/files/ID:download", "GET /download/v1beta/files/ID:download after",
    ],
}  # fmt: skip


@pytest.mark.parametrize(
    ("vendor", "call"), [(vendor, call) for vendor in VENDORS for call in CALLS[vendor]], ids=lambda one: one
)
def test_a_connection_that_breaks_off_loses_nothing(tmp_path: Path, vendor: str, call: str) -> None:
    with vendors(tmp_path / "server", FATES) as server:
        server.drops += [call, call]
        run = ended(begun(values(tmp_path, server, vendor, batch={"max_requests": 4})))
        assert not server.drops
        check_whole(run, server)


def test_the_calls_are_those_that_are_made(tmp_path: Path) -> None:
    for vendor in VENDORS:
        (tmp_path / vendor).mkdir()
        with vendors(tmp_path / vendor / "server", FATES) as server:
            ended(begun(values(tmp_path / vendor, server, vendor)))
        assert set(server.calls) == {call.removesuffix(" after") for call in CALLS[vendor]}


@pytest.mark.parametrize("vendor", VENDORS)
def test_until_it_is_known_whether_a_batch_was_made_nothing_of_it_is_sent_again(tmp_path: Path, vendor: str) -> None:
    """The call was carried out, and its answer was lost: the vendor has the batch, and the record learns its id."""
    create = next(
        call
        for call in CALLS[vendor]
        if call.endswith(("POST /batches after", "batchGenerateContent after"))
        or call == "POST /messages/batches after"
    )
    with vendors(tmp_path / "server", looks_before_end=3) as server:
        server.drops.append(create)
        run = begun(values(tmp_path, server, vendor))
        assert run.refused is not None
        assert (len(sent(run.record)), server.n_batches()) == (1, 1)
        while run.batches[0].submitted is None:
            assert len(sent(run.record)) == 1
            run = looked_at(run.record)
        check_whole(ended(run), server)


def test_a_batch_that_never_came_to_be_is_sent_again_once_it_can_not_appear_any_more(tmp_path: Path) -> None:
    from benchbook.ask.batches.running import Waiting

    with vendors(tmp_path / "server") as server:
        server.drops.append("POST /batches")
        given = values(tmp_path, server, "openai", batch={"settle_seconds": 60})
        run = begun(given)
        now = Waiting().clock()
        run = looked_at(run.record, waiting=Waiting(clock=lambda: now + 59))
        assert (len(sent(run.record)), server.n_batches()) == (1, 0)
        run = looked_at(run.record, waiting=Waiting(clock=lambda: now + 61))
        assert (len(sent(run.record)), server.n_batches()) == (2, 1)
        ends = [one.end for one in facts_of(run.record) if isinstance(one, BatchCollected)]
        assert ends == ["not_sent"]
        check_whole(ended(run), server)


def test_anthropics_batches_of_others_are_not_taken_for_ours(tmp_path: Path) -> None:
    """Only the ids of its requests tell whose a batch is, and they come with its results."""
    for name in ("one", "other"):
        (tmp_path / name).mkdir()
    with vendors(tmp_path / "server", looks_before_end=2) as server:
        other = begun(values(tmp_path / "other", server, "anthropic"))
        server.drops.append("POST /messages/batches")
        run = begun(values(tmp_path / "one", server, "anthropic"))
        assert run.refused is not None
        run = looked_at(run.record)
        assert [one.submitted for one in run.batches] == [None]  # the other's goes on: it may be ours
        run = looked_at(run.record)
        assert run.batches[0].collected is not None
        assert run.batches[0].collected.end == "not_sent"
        other, run = ended(other), ended(run)
        ids = [
            {one.vendor_id for one in facts_of(each.record) if isinstance(one, BatchSubmitted)} for each in (run, other)
        ]
        assert not ids[0] & ids[1]


# ── two at once ──────────────────────────────────────────────────────────────────────────────────────────────


def test_a_second_process_is_refused(tmp_path: Path) -> None:
    with vendors(tmp_path / "server") as server:
        run = begun(values(tmp_path, server, "openai"))
        with JournalWriter(run.record.journal), pytest.raises(RecordLockedError):
            looked_at(run.record)
        check_whole(ended(run), server)


def test_looks_from_many_threads_are_one_after_the_other(tmp_path: Path) -> None:
    found: list[BatchRun[object] | RecordLockedError] = []

    def look(record: Record) -> None:
        try:
            found.append(looked_at(record))
        except RecordLockedError as error:
            found.append(error)

    with vendors(tmp_path / "server", FATES) as server:
        run = begun(values(tmp_path, server, "openai", 30, batch={"max_requests": 7}))
        threads = [threading.Thread(target=look, args=(run.record,)) for _ in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert any(not isinstance(one, RecordLockedError) for one in found)
        check_whole(ended(looked_at(run.record)), server)
