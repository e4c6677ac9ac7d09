"""A record that is moved, deleted, replaced or cut off while it is written is noticed before more is paid for."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from benchbook.ask.work import run_async
from benchbook.errors import RecordError
from benchbook.evaluators.registry import resume_run
from benchbook.evaluators.verify import verify
from benchbook.record.facts import Reply
from benchbook.record.folder import Record
from benchbook.record.journal import JournalWriter
from running import run
from scripted_server import always_good, running


def _deleted(record: Path) -> None:
    shutil.rmtree(record)


def _moved(record: Path) -> None:
    record.rename(record.with_name("elsewhere"))


def _cut_off(record: Path) -> None:
    os.truncate(record / "journal" / "000001.jsonl", 9)


def _replaced(record: Path) -> None:
    segment = record / "journal" / "000001.jsonl"
    data = segment.read_bytes()
    segment.unlink()
    segment.write_bytes(data)


LOST = [
    pytest.param(_deleted, r"rec: was deleted while the run wrote it; what was recorded is lost", id="deleted"),
    pytest.param(_moved, r"rec: was moved to .*/elsewhere while the run wrote it", id="moved"),
    pytest.param(
        _cut_off, r"000001\.jsonl: was cut off while the run wrote it, from \S+ bytes to \S+; what", id="cut-off"
    ),
    pytest.param(_replaced, r"000001\.jsonl: was replaced by another file", id="replaced"),
]


@pytest.mark.parametrize(("lose", "says"), LOST)
def test_a_writer_says_what_became_of_its_journal(tmp_path: Path, lose: Callable[[Path], None], says: str) -> None:
    record = tmp_path / "rec"
    (record / "journal").mkdir(parents=True)
    writer = JournalWriter(record / "journal")
    writer.append(Reply(sample=0, role="candidate", text="x"))
    writer.sync()
    lose(record)
    writer.append(Reply(sample=1, role="candidate", text="x"))
    with pytest.raises(RecordError, match=says):
        writer.sync()
    with pytest.raises(RecordError, match=says):
        writer.append(Reply(sample=2, role="candidate", text="x"))
    writer.close()


@pytest.mark.parametrize(("lose", "says"), [one for one in LOST if one.id in ("deleted", "moved", "cut-off")])
def test_a_run_asks_no_more_once_its_record_is_gone(tmp_path: Path, lose: Callable[[Path], None], says: str) -> None:
    """It is looked once in sixteen facts, at the least: of 200 samples, each with two, at most nine more are asked."""
    asked = 0

    def reply(role: str, n: int, request: dict[str, Any]) -> dict[str, Any]:
        nonlocal asked
        asked += role == "candidate"
        if asked == 20 and role == "candidate":
            lose(tmp_path / "runs" / "rec")
        return always_good(role, n, request)

    with running(reply) as server, pytest.raises(RecordError, match=says):
        run(tmp_path, server, 200, run_id="rec", max_connections=1)
    assert 20 <= asked <= 29


def test_a_record_that_was_moved_goes_on_where_it_is(tmp_path: Path) -> None:
    with running(always_good) as server:
        made = run(tmp_path, server, 4, run_id="rec", max_connections=1).record
        lines = (made.journal / "000001.jsonl").read_bytes().splitlines(keepends=True)
        (made.journal / "000001.jsonl").write_bytes(b"".join(lines[:4]))
        away = Record(made.path.rename(tmp_path / "runs" / "away"))
        run_async(resume_run(away))
        back = Record(away.path.rename(made.path))
    assert verify(back).holds
