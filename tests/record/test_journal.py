"""The journal: a chain of facts that survives kills, and shows every change (DESIGN, The record)."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from collections.abc import Container
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchbook.canonical import canonical_json, decode_json
from benchbook.errors import RecordDamagedError, RecordError, RecordLockedError
from benchbook.record.fact_index import FactIndex
from benchbook.record.facts import Failure, Reply, Sealed, fact_decoder
from benchbook.record.journal import JournalWriter
from benchbook.record.packing import zstd
from benchbook.record.reading import read_journal


@pytest.fixture
def journal(tmp_path: Path) -> Path:
    folder = tmp_path / "run" / "journal"
    folder.mkdir(parents=True)
    return folder


def reply(sample: int, text: str = "Seven.") -> Reply:
    return Reply(sample=sample, role="candidate", text=text)


def texts(journal: Path) -> list[str | None]:
    return [line.fact.text for line in read_journal(journal) if isinstance(line.fact, Reply)]


def test_facts_come_back_in_order_and_chained(journal: Path) -> None:
    with JournalWriter(journal) as writer:
        hashes = [writer.append(reply(n)) for n in range(3)]
    lines = list(read_journal(journal))
    assert [line.fact.seq for line in lines] == [0, 1, 2]
    assert [line.fact.prev for line in lines] == ["0" * 64, *hashes[:2]]
    assert [line.sha256 for line in lines] == hashes


def test_a_journal_of_more_segments_than_places_have_bits_for_is_full(
    journal: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("benchbook.record.journal.MAX_SEGMENTS", 4)
    with JournalWriter(journal, segment_bytes=1) as writer:
        for n in range(3):
            writer.append(reply(n))
        for _ in range(2):
            with pytest.raises(RecordError, match=r"is full, with 3 segments\. What is recorded is whole; .* --shard"):
                writer.append(reply(3))
    assert texts(journal) == ["Seven."] * 3


def test_a_torn_last_line_is_cut_off_and_the_rest_goes_on(journal: Path) -> None:
    with JournalWriter(journal) as writer:
        writer.append(reply(0))
    with (journal / "000001.jsonl").open("ab") as file:
        file.write(b'{"at":"2026')
    assert texts(journal) == ["Seven."]
    with JournalWriter(journal) as writer:
        assert writer.cut == 11
        writer.append(reply(1, "Eight."))
    assert texts(journal) == ["Seven.", "Eight."]


def test_a_second_writer_is_refused(journal: Path) -> None:
    with JournalWriter(journal), pytest.raises(RecordLockedError):
        JournalWriter(journal)
    JournalWriter(journal).close()


def test_the_lock_dies_with_its_process(journal: Path) -> None:
    code = (
        "import os, sys; from pathlib import Path; from benchbook.record.facts import Reply;"
        "from benchbook.record.journal import JournalWriter;"
        f"w = JournalWriter(Path({str(journal)!r})); w.append(Reply(sample=0, role='candidate', text='x')); os._exit(9)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 9
    with JournalWriter(journal) as writer:
        assert writer.seq == 1


def test_full_segments_are_sealed_and_read_back(journal: Path) -> None:
    with JournalWriter(journal, segment_bytes=2_000) as writer:
        for n in range(50):
            writer.append(reply(n, f"answer {n} " + "x" * 200))
    names = sorted(path.name for path in journal.iterdir())
    assert "000001.jsonl.zst" in names
    assert "000001.jsonl" not in names
    assert [text.split()[1] for text in texts(journal) if text] == [str(n) for n in range(50)]
    assert sum(isinstance(line.fact, Sealed) for line in read_journal(journal)) == len(names) - 1


@pytest.mark.parametrize(
    ("named", "begun"), [(True, b""), (False, b""), (False, b'{"kind":"sea')], ids=["written", "not-written", "torn"]
)
def test_a_crash_while_sealing_loses_nothing(journal: Path, named: bool, begun: bytes) -> None:
    """The fact that names the sealed file was written, or not, or half of it."""
    with JournalWriter(journal, segment_bytes=300) as writer:
        for n in range(3):
            writer.append(reply(n, "x" * 100))
    plain = zstd.decompress((journal / "000001.jsonl.zst").read_bytes())
    (journal / "000001.jsonl").write_bytes(plain)
    if not named:
        for path in journal.glob("00000[2-9]*"):
            path.unlink()
        (journal / "000002.jsonl").write_bytes(begun)
    with JournalWriter(journal) as writer:
        assert writer.cut == len(begun)
        writer.append(reply(9, "after"))
    assert texts(journal)[-1] == "after"
    if not named:  # the first segment goes on, and is sealed another time
        assert [path.name for path in journal.iterdir()] == ["000001.jsonl"]
    assert (journal / "000001.jsonl").exists() is not named
    assert (journal / "000001.jsonl.zst").exists() is named


def test_a_long_fact_fits(journal: Path) -> None:
    with JournalWriter(journal) as writer:
        for n in range(3):
            writer.append(reply(n, "x" * 5_000_000))
    assert [len(text or "") for text in texts(journal)] == [5_000_000] * 3


@pytest.mark.parametrize("change", ["edit", "swap", "drop", "add"])
def test_a_changed_line_is_named(journal: Path, change: str) -> None:
    with JournalWriter(journal) as writer:
        for n in range(5):
            writer.append(reply(n, f"answer {n}"))
    path = journal / "000001.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    match change:
        case "edit":
            lines[1] = lines[1].replace(b"answer 1", b"answer 7")
        case "swap":
            lines[1], lines[2] = lines[2], lines[1]
        case "drop":
            del lines[2]
        case "add":
            lines.insert(2, lines[2])
    path.write_bytes(b"".join(lines))
    with pytest.raises(RecordDamagedError) as error:
        list(read_journal(journal))
    assert error.value.line in (2, 3, 4)
    assert error.value.path.endswith("000001.jsonl")


def test_a_missing_segment_is_named(journal: Path) -> None:
    with JournalWriter(journal, segment_bytes=300) as writer:
        for n in range(9):
            writer.append(reply(n, "x" * 100))
    (journal / "000002.jsonl.zst").unlink()
    with pytest.raises(RecordDamagedError, match=r"000002\.jsonl: this segment is missing"):
        list(read_journal(journal))


def test_a_full_disk_stops_the_writer_and_leaves_whole_lines(journal: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = os.write
    with JournalWriter(journal) as writer:
        writer.append(reply(0))

        def full(descriptor: int, data: bytes) -> int:
            real(descriptor, data[:10])
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(os, "write", full)
        for _ in range(2):
            with pytest.raises(RecordError, match="No space left on device"):
                writer.append(reply(1))
        monkeypatch.undo()
    assert (journal / "000001.jsonl").read_bytes().endswith(b"}\n")
    assert texts(journal) == ["Seven."]


# ── a disk that fails ────────────────────────────────────────────────────────────────────────────────────


def failing_at(monkeypatch: pytest.MonkeyPatch, numbers: Container[int]) -> None:
    """Those fsyncs fail, counted from 0; as on Linux, the next one says nothing of it."""
    real, calls = os.fsync, count()

    def fsync(descriptor: int) -> None:
        if next(calls) in numbers:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        real(descriptor)

    monkeypatch.setattr(os, "fsync", fsync)


def test_an_fsync_that_failed_unseen_is_told_at_the_end(journal: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """That of the thread, which nothing follows: the last one succeeds."""
    writer = JournalWriter(journal)
    failing_at(monkeypatch, {0})
    writer.append(reply(0))
    with pytest.raises(RecordError, match=r"Input/output error.*did not keep the last facts"):
        writer.close()
    monkeypatch.undo()
    assert texts(journal) == []
    JournalWriter(journal).close()  # the lock is gone


def test_after_a_failed_fsync_the_facts_since_the_last_good_one_are_taken_back(
    journal: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with JournalWriter(journal) as writer:
        writer.append(reply(0, "synced"))
        writer.sync()
        failing_at(monkeypatch, range(100))

        def go_on() -> None:
            writer.append(reply(1, "not"))
            writer.sync()

        for _ in range(2):
            with pytest.raises(RecordError, match="Mend the disk, then resume"):
                go_on()
    monkeypatch.undo()
    assert texts(journal) == ["synced"]
    with JournalWriter(journal) as writer:
        assert (writer.seq, writer.cut) == (1, 0)
        writer.append(reply(1, "asked again"))
    assert texts(journal) == ["synced", "asked again"]


def test_a_disk_that_takes_a_byte_at_a_time(journal: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = os.write
    monkeypatch.setattr(os, "write", lambda descriptor, data: real(descriptor, bytes(data[:1])))
    with JournalWriter(journal) as writer:
        writer.append(reply(0))
        writer.append(reply(1, "Eight."))
    assert texts(journal) == ["Seven.", "Eight."]


@pytest.mark.parametrize("at", ["compressed", "next"])
def test_a_segment_that_can_not_be_sealed_stays_as_it_was(
    journal: Path, monkeypatch: pytest.MonkeyPatch, at: str
) -> None:
    """There is no room for the compressed file, or no descriptor for the next segment."""
    opened = os.open

    def full(path: Any, flags: int, *mode: int) -> int:
        if str(path).endswith({"compressed": ".zst.tmp", "next": "000002.jsonl"}[at]):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return opened(path, flags, *mode)

    with JournalWriter(journal, segment_bytes=300) as writer:
        for n in range(2):
            writer.append(reply(n, "x" * 100))
        monkeypatch.setattr(os, "open", full)
        for _ in range(2):
            with pytest.raises(RecordError, match=r"No space left on device.*what was recorded is whole"):
                writer.append(reply(2))
        monkeypatch.undo()
    with JournalWriter(journal, segment_bytes=300) as writer:
        writer.append(reply(2))
    assert len(texts(journal)) == 3


def test_a_journal_on_a_read_only_disk_is_told_and_not_locked(journal: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with JournalWriter(journal) as writer:
        writer.append(reply(0))
    opened = os.open

    def read_only(path: Path, flags: int, *mode: int) -> int:
        if flags & os.O_RDWR:
            raise OSError(errno.EROFS, os.strerror(errno.EROFS))
        return opened(path, flags, *mode)

    monkeypatch.setattr(os, "open", read_only)
    with pytest.raises(RecordError, match=r"can't be written \(Read-only file system\)"):
        JournalWriter(journal)
    monkeypatch.undo()
    JournalWriter(journal).close()


def test_facts_are_found_by_sample_in_plan_order(journal: Path) -> None:
    with JournalWriter(journal, segment_bytes=1_000) as writer:
        for n in (3, 0, 2, 0, 1, 3):
            writer.append(reply(n, f"{n} " + "x" * 150))
        writer.append(Failure(sample=2, role="judge", error="timeout", ends="attempt"))
    index = FactIndex(journal)
    for line in read_journal(journal):
        index.add(line)
    found = [(sample, [fact.seq for fact in facts]) for sample, facts in index.by_sample()]
    assert [sample for sample, _ in found] == [0, 1, 2, 3]
    assert all(seqs == sorted(seqs) for _, seqs in found)
    assert sum(len(seqs) for _, seqs in found) == 7


@given(st.text(st.characters(codec=None, exclude_categories=[]), max_size=20))
def test_any_text_is_kept_as_it_came(text: str) -> None:
    fact = reply(0, text)
    raw = canonical_json(fact)
    assert b"\n" not in raw
    assert decode_json(raw, fact_decoder) == fact
    assert canonical_json(decode_json(raw, fact_decoder)) == raw
