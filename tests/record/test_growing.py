"""A journal that grows is read on, and one that stands in its place is read from its beginning."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from benchbook.errors import RecordDamagedError
from benchbook.record.facts import Reply
from benchbook.record.growing import GrowingJournal, GrowingJournals
from benchbook.record.journal import JournalWriter
from benchbook.record.reading import JournalLine
from catalog.making import reply, start


def test_each_line_is_looked_at_once_across_segments(tmp_path: Path) -> None:
    record = start(tmp_path, "a", items=6)
    seen: list[JournalLine] = []
    growing = GrowingJournal(record.journal, seen.append)
    for sample in range(6):
        reply(record, sample, "x" * 100)
        assert growing.read_on().n_facts == sample + 2
        assert growing.n_attempted == sample + 1
    with JournalWriter(record.journal, segment_bytes=1) as journal:  # the next fact begins a segment
        journal.append(Reply(sample=5, role="candidate", text="again"))
    growing.read_on()
    assert [line.fact.seq for line in seen] == list(range(len(seen)))
    assert {line.segment for line in seen} == {1, 2}
    assert growing.n_attempted == 6  # the same sample again is no other


def test_another_journal_in_its_place_is_read_anew(tmp_path: Path) -> None:
    record = start(tmp_path, "a")
    reply(record, 0)
    reply(record, 1)
    one, kept = GrowingJournal(record.journal), GrowingJournals()
    one.read_on()
    assert kept.read_on(record.journal)[1].n_attempted == 2
    shutil.rmtree(record.path)
    start(tmp_path, "a", config={"tags": ["another"]})
    reply(record, 1)
    with pytest.raises(RecordDamagedError, match="is no longer what was read there before"):
        one.read_on()
    assert kept.read_on(record.journal)[1].n_attempted == 1
