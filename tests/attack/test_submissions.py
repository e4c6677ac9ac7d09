"""Submissions under attack: killed at each operation of their end, and in any order of steps, for longer than in CI."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from hypothesis import settings as examples
from hypothesis.stateful import run_state_machine_as_test

from benchbook.evaluators.registry import evaluator_of
from benchbook.evaluators.verify import verify
from benchbook.record.folder import Record, is_record
from benchbook.server.settings import Settings
from benchbook.server.submission_store import Submissions
from crashing import crashes, why_not_here
from server.ending_submissions import begun, ended
from server.making import api_over, make_records
from server.test_submissions import Sending

pytestmark = pytest.mark.attack


@pytest.mark.skipif(bool(why_not_here()), reason=why_not_here())
def test_wherever_its_end_is_killed_the_predictions_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the submission, in the record, or in both; and the end can be asked for again."""
    kinds = ("kill", "torn", "full", "power", "io")
    for crash in crashes(ended, tmp_path, prepare=begun, kinds=kinds, pick=lambda every: every[::2]):
        runs = crash.folder / "runs"
        record, store = Record(runs / "sent"), Submissions(Settings(runs=runs, catalog=""))
        assert store.is_open("sent") or is_record(record.path), str(crash)
        assert "ended" not in crash.acknowledged or not store.is_open("sent"), str(crash)
        if store.is_open("sent"):
            with store.sending("sent") as sent:
                assert list(sent.chunks()) == ["1", "2"], str(crash)
            monkeypatch.chdir(crash.folder)
            ended(crash.folder, lambda _: None)
        else:  # derived files need not be on the disk at a power cut: they can be made again
            evaluator_of(record).derive(record, record.path)
        assert verify(record).holds, str(crash)
        monkeypatch.chdir(tmp_path)


def test_what_was_acknowledged_is_there_after_very_many_steps(tmp_path: Path) -> None:
    class Here(Sending):
        pass

    records = make_records(tmp_path)
    for name in ("live", "experiment", "rubric", "rubric2"):
        shutil.rmtree(records / name)
    Here.api = api_over(records, str(tmp_path / "c.sqlite"))
    run_state_machine_as_test(Here, settings=examples(max_examples=60, stateful_step_count=20, deadline=None))
    Here.api.app.stop()
