"""A record that several derive at once: each in its turn, and none is refused for the others."""

from __future__ import annotations

import threading
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from benchbook.errors import RecordError
from benchbook.evaluators.registry import evaluator_of
from benchbook.evaluators.verify import verify
from benchbook.locks import locked_folder
from benchbook.record import derived_files
from benchbook.record.derived_files import deriving
from benchbook.record.folder import Record
from running import benchbook_here
from scored import scored


def together(n: int, work: object) -> None:
    threads = [threading.Thread(target=work) for _ in range(n)]  # type: ignore[arg-type]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def test_many_rescore_at_once(tmp_path: Path) -> None:
    record = scored(tmp_path).record
    before = {path.name: path.read_bytes() for path in record.path.iterdir() if path.is_file()}
    done: list[int] = []

    def rescore() -> None:
        with deriving(record):
            evaluator_of(record).derive(record, record.path)
        done.append(1)

    together(8, rescore)
    assert len(done) == 8
    assert {path.name: path.read_bytes() for path in record.path.iterdir() if path.is_file()} == before
    assert verify(record).holds


def test_the_command_waits_for_its_turn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else it would write what it read before another's sitting over what that sitting derived."""
    record, asked, codes = scored(tmp_path).record, threading.Event(), list[int]()
    aggregates = record.aggregates.read_bytes()

    def locked(folder: Path) -> AbstractContextManager[None]:
        asked.set()
        return locked_folder(folder)

    def rescore() -> None:
        codes.append(benchbook_here("rescore", str(record.path), "--reports", "none").returncode)

    with deriving(record):
        monkeypatch.setattr(derived_files, "locked_folder", locked)
        record.aggregates.write_bytes(b"half")
        waiting = threading.Thread(target=rescore)
        waiting.start()
        assert asked.wait(60)
        assert record.aggregates.read_bytes() == b"half"
    waiting.join()
    assert codes == [0]
    assert record.aggregates.read_bytes() == aggregates


def test_a_record_that_is_gone(tmp_path: Path) -> None:
    with pytest.raises(RecordError, match="can't be held"), deriving(Record(tmp_path / "none")):
        pass
