"""What both layers of the system give those who read and write, beside locks (test_locks) and files (test_writing)."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import benchbook.system
from benchbook.errors import RecordError
from benchbook.record.journal import JournalWriter
from benchbook.record.lines import LineFile
from benchbook.server.problems import ProblemError
from benchbook.server.settings import Settings
from benchbook.server.submission_store import Submissions
from benchbook.system.windows import Windows

pytestmark = pytest.mark.usefixtures("system")


def test_bytes_are_read_where_they_are_asked_for(tmp_path: Path) -> None:
    system = benchbook.system.SYSTEM
    (tmp_path / "x").write_bytes(b"one\r\ntwo\x1athree")
    descriptor = system.open(tmp_path / "x", os.O_RDONLY)
    assert os.read(descriptor, 2) == b"on"
    assert system.read_at(descriptor, 6, 3) == b"\r\ntwo\x1a"
    assert system.read_at(descriptor, 100, 9) == b"three"
    assert system.read_at(descriptor, 1, 100) == b""
    assert os.read(descriptor, 2) == b"e\r"  # where it was before
    os.close(descriptor)


def test_lines_of_many_threads_are_whole(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"0\n{torn")
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda number: LineFile(tmp_path / "x").append(number), range(1, 40)))
    assert sorted(map(int, LineFile(tmp_path / "x").lines()[0])) == list(range(40))


def test_who_sends_holds_a_submission_along_with_others_and_who_ends_it_alone(tmp_path: Path) -> None:
    store = Submissions(Settings(runs=tmp_path, catalog="sqlite://"))
    store.begin("a", {"about.json": b"{}", "items.parquet": b""})
    with store.sending("a") as one, store.sending("a") as other:
        assert one.add("1", b"x\n", lambda path: None)
        assert not other.add("1", b"x\n", lambda path: None)
    with store.ending("a") as ended:
        with pytest.raises(ProblemError, match="being scored"), store.sending("a"):
            raise AssertionError("never")
        assert list(ended.chunks()) == ["1"]
        store.remove(ended)
    with pytest.raises(ProblemError, match="no predictions"), store.sending("a"):
        raise AssertionError("never")
    assert not store.is_open("a")


def test_records_are_written_where_that_is_shown_to_be_safe(tmp_path: Path, system: str) -> None:
    (tmp_path / "run" / "journal").mkdir(parents=True)
    if system == "posix":
        JournalWriter(tmp_path / "run" / "journal").close()
        return
    with pytest.raises(RecordError, match=r"run: can't be written \(records are not written on Windows: "):
        JournalWriter(tmp_path / "run" / "journal")
    assert list((tmp_path / "run" / "journal").iterdir()) == []


class _Broken:
    """A kernel that locks nothing, as a network's file system may."""

    def handle_of(self, descriptor: int) -> int:
        return descriptor

    def last_error(self) -> int:
        return 50  # ERROR_NOT_SUPPORTED

    def lock_file_ex(self, *_: Any) -> int:
        return 0

    unlock_file_ex = lock_file_ex


def test_another_fault_than_a_lock_is_told_apart(tmp_path: Path) -> None:
    lock = Windows(_Broken()).to_lock(tmp_path)
    with pytest.raises(OSError, match="error 50") as caught:
        lock.take(wait=False)
    assert not isinstance(caught.value, BlockingIOError)
    lock.close()
