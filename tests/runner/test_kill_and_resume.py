"""A run that was killed goes on where its journal ends: nothing is lost, nothing is asked twice (DESIGN, One idea)."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from benchbook.derivations.rows import RubricRow
from benchbook.derivations.verify import verify
from benchbook.errors import UsageError
from benchbook.records import Record, Reply, read_journal
from benchbook.records.tables import read_rows
from benchbook.runner.loop import run_async
from benchbook.runner.run import resume_run
from running import benchbook, options, run, write_items
from scripted_server import ScriptedServer, always_good, running

SAMPLES, KILLS = 600, 30


def finished_requests(record: Record) -> set[str]:
    """The requests whose answers are facts."""
    facts = (line.fact for line in read_journal(record.journal))
    return {fact.request_sha256 for fact in facts if isinstance(fact, Reply) and fact.request_sha256}


def start(words: list[str]) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-m", "benchbook", "run", *words, "--quiet", "--max-connections", "8"])


@pytest.mark.slow
def test_kill_9_at_thirty_moments_loses_nothing_and_asks_nothing_twice(tmp_path: Path) -> None:
    rng = random.Random(20261128)
    write_items(tmp_path / "items.jsonl", SAMPLES)
    record = Record(tmp_path / "runs" / "run")
    with running(always_good) as server:
        words = options(tmp_path, server)
        again = ["--resume", str(record.path), "--reports", "none"]
        for _ in range(KILLS):
            process = start(words)
            before = len(server.answered)
            target = before + rng.randint(1, 2 * SAMPLES // KILLS)
            server.wait_for_answers(target, lambda process=process: process.poll() is None)
            process.kill()
            process.wait()
            if record.journal.is_dir():
                words = again
                finished, asked_so_far = finished_requests(record), len(server.answered)
                check_nothing_again(server, finished, asked_so_far)
        assert start(words).wait() == 0
        # Every answer that was a fact at some kill was asked for once; only answers lost on the way came again.
        check_nothing_again(server, finished, asked_so_far)
    rows = list(read_rows(record.samples, RubricRow))
    assert [row.sample for row in rows] == list(range(SAMPLES))
    assert all(row.accuracy_score == 2 for row in rows)
    assert verify(record).findings == ()


def check_nothing_again(server: ScriptedServer, finished: set[str], asked_so_far: int) -> None:
    assert finished.isdisjoint(server.answered[asked_so_far:])


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["ctrl-c", "terminate"])
def test_the_first_interrupt_finishes_what_is_under_way(tmp_path: Path, number: int) -> None:
    write_items(tmp_path / "items.jsonl", 3_000)
    with running(always_good) as server:
        process = start(options(tmp_path, server))
        assert server.wait_for_answers(40, lambda: process.poll() is None)
        process.send_signal(number)
        assert process.wait() == 3
        rows = list(read_rows(tmp_path / "runs" / "run" / "samples.parquet", RubricRow))
        assert 0 < len(rows) < 3_000
        assert all(row.evaluator_error is None for row in rows), "a sample that was begun was not finished"
        assert verify(Record(tmp_path / "runs" / "run")).state == "interrupted"


def test_the_second_interrupt_ends_at_once_and_the_record_resumes(tmp_path: Path) -> None:
    write_items(tmp_path / "items.jsonl", 4)

    hangs = [True]

    def judge_that_hangs(role: str, n: int, request: dict[str, object]) -> dict[str, object]:
        return {"behaviour": "hang"} if role == "judge" and hangs else always_good(role, n, request)

    with running(judge_that_hangs) as server:
        process = start(options(tmp_path, server))
        assert server.wait_for_answers(4, lambda: process.poll() is None)
        process.send_signal(signal.SIGINT)
        process.send_signal(signal.SIGTERM)  # another number: two of the same may arrive as one
        assert process.wait() == 3
        hangs.clear()
        resumed = benchbook("run", "--resume", str(tmp_path / "runs" / "run"), "--quiet", "--reports", "none")
        assert resumed.returncode == 0, resumed.stderr
        assert len(server.asked["candidate"]) == 4, "an answer that was there was asked for again"
    assert verify(Record(tmp_path / "runs" / "run")).holds


def test_resuming_a_whole_run_changes_no_byte(tmp_path: Path) -> None:
    with running(always_good) as server:
        record = run(tmp_path, server).record
        before = {path: path.read_bytes() for path in record.path.rglob("*") if path.is_file()}
        run_async(resume_run(record))
        assert len(server.asked["candidate"]) == 8
    assert {path: path.read_bytes() for path in record.path.rglob("*") if path.is_file()} == before


def test_resuming_does_not_change_the_plan(tmp_path: Path) -> None:
    with running(always_good) as server:
        record = run(tmp_path, server).record
    with pytest.raises(UsageError, match="judge is part of the plan"):
        run_async(resume_run(record, {"judge": "openai/another@1"}))
