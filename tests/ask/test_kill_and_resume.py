"""A run that was killed goes on where its journal ends: nothing is lost, nothing is asked twice (DESIGN, One idea)."""

from __future__ import annotations

import hashlib
import random
import signal
import subprocess
import sys
import threading
from collections import Counter
from decimal import Decimal
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from benchbook.ask.work import run_async
from benchbook.canonical import canonical_json
from benchbook.errors import RecordLockedError, UsageError
from benchbook.evaluators.registry import resume_run
from benchbook.evaluators.verify import verify
from benchbook.record.facts import Interrupted, Reply, Resumed
from benchbook.record.folder import Record
from benchbook.record.journal import JournalWriter
from benchbook.record.reading import read_journal
from benchbook.record.tables import read_rows
from rubric_v1 import ROW
from running import benchbook, benchbook_here, options, run, write_items
from scripted_server import ScriptedServer, always_good, running

SAMPLES, KILLS = 300, 12  # script/test --attack has hundreds


class Held:
    """Answers the first hundred requests of each role, and the rest once it is let go: no run outruns its test."""

    def __init__(self) -> None:
        self._let_go = threading.Event()

    def answer(self, role: str, n: int, request: dict[str, Any]) -> dict[str, Any]:
        if n >= 100:
            self._let_go.wait()
        return always_good(role, n, request)

    def send(self, number: signal.Signals, process: subprocess.Popen[bytes], server: ScriptedServer) -> None:
        """Send a signal in the middle of the run, and let it go on."""
        try:
            assert server.wait_for_answers(40, lambda: process.poll() is None)
            process.send_signal(number)
        finally:
            self._let_go.set()


class Log:
    """The server's own log: the hash of each request, written down before it is answered.

    So whatever a run has an answer to stands in the log already, and what comes later was asked later. After `most`
    requests no more are answered, so that a slow kill does not find the run at its end.
    """

    def __init__(self) -> None:
        self.hashes: list[str] = []
        self.most: int | None = None

    def answer(self, role: str, n: int, request: dict[str, Any]) -> dict[str, Any]:
        self.hashes.append(hashlib.sha256(canonical_json(request)).hexdigest())
        if self.most is not None and len(self.hashes) > self.most:
            return {"behaviour": "hang"}
        return always_good(role, n, request)


def finished_requests(record: Record) -> set[str]:
    """The requests whose answers are facts."""
    if not record.journal.is_dir():
        return set()
    facts = (line.fact for line in read_journal(record.journal))
    return {fact.request_sha256 for fact in facts if isinstance(fact, Reply) and fact.request_sha256}


def kinds(record: Record) -> list[str]:
    return [type(line.fact).__name__ for line in read_journal(record.journal)]


def start(words: list[str]) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-m", "benchbook", "run", *words, "--quiet", "--max-connections", "8"])


def kill_after(process: subprocess.Popen[bytes], server: ScriptedServer, answers: int) -> None:
    """`kill -9` once the server has given so many more answers, whatever the run is doing then."""
    server.wait_for_answers(len(server.answered) + answers, lambda: process.poll() is None)
    process.kill()
    assert process.wait() == -signal.SIGKILL


@pytest.mark.slow
def test_kill_9_at_a_dozen_moments_loses_nothing_and_asks_nothing_twice(tmp_path: Path) -> None:
    rng = random.Random(20261128)
    write_items(tmp_path / "items.jsonl", SAMPLES)
    record = Record(tmp_path / "runs" / "run")
    log = Log()
    finished: list[set[str]] = [set()]
    with running(log.answer) as server:
        words = options(tmp_path, server)
        for _ in range(KILLS):
            asked_before, answers = len(log.hashes), rng.randint(1, 24)
            log.most = asked_before + answers + 12
            kill_after(start(words), server, answers)
            assert finished[-1].isdisjoint(log.hashes[asked_before:]), "a finished answer was asked for again"
            finished.append(finished_requests(record))
            words = ["--resume", str(record.path), "--reports", "none"]
        asked_before, log.most = len(log.hashes), None
        assert start(words).wait() == 0
    assert finished[-1].isdisjoint(log.hashes[asked_before:]), "a finished answer was asked for again"
    assert all(before <= after for before, after in pairwise(finished)), "an answer was lost"
    assert 0 < len(finished[-1]) < 2 * SAMPLES, "the kills did not fall into the run"
    assert len(set(log.hashes)) == 2 * SAMPLES  # bodies are unique, so a hash names a request
    check_whole(record)


def check_whole(record: Record) -> None:
    """Every sample is there once, with one answer and one verdict, and the record verifies."""
    replies = [line.fact for line in read_journal(record.journal) if isinstance(line.fact, Reply)]
    assert Counter((reply.sample, reply.role) for reply in replies).most_common(1)[0][1] == 1
    rows = list(read_rows(record.samples, ROW))
    assert [row.sample for row in rows] == list(range(SAMPLES))
    assert all(row.accuracy_score == 2 for row in rows)
    assert (verify(record).findings, verify(record).state) == ((), "complete")


def test_a_killed_run_is_interrupted_until_it_is_resumed(tmp_path: Path) -> None:
    write_items(tmp_path / "items.jsonl", SAMPLES)
    record = Record(tmp_path / "runs" / "run")
    log = Log()
    log.most = 40
    with running(log.answer) as server:
        kill_after(start(options(tmp_path, server)), server, 20)
        log.most = None
        found = verify(record)
        assert found.state == "interrupted"
        assert {finding.file for finding in found.findings} == {
            "samples.parquet", "aggregates.json", "decision.json", "manifest.json"
        }  # fmt: skip
        assert all("resume it" in finding.what for finding in found.findings)
        assert start(["--resume", str(record.path)]).wait() == 0
    assert kinds(record).count("Resumed") == 1
    check_whole(record)


# ── interrupts ───────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["ctrl-c", "terminate"])
def test_the_first_interrupt_finishes_what_is_under_way(tmp_path: Path, number: signal.Signals) -> None:
    write_items(tmp_path / "items.jsonl", 3_000)
    held = Held()
    with running(held.answer) as server:
        process = start(options(tmp_path, server))
        held.send(number, process, server)
        assert process.wait() == 3
        rows = list(read_rows(tmp_path / "runs" / "run" / "samples.parquet", ROW))
        assert 0 < len(rows) < 3_000
        assert all(row.evaluator_error is None for row in rows), "a sample that was begun was not finished"
        assert verify(Record(tmp_path / "runs" / "run")).state == "interrupted"


def test_the_record_says_who_interrupted_it_and_how_to_go_on(tmp_path: Path) -> None:
    write_items(tmp_path / "items.jsonl", 3_000)
    held = Held()
    with running(held.answer) as server:
        command = [sys.executable, "-m", "benchbook", "run", *options(tmp_path, server), "--max-connections", "8"]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        held.send(signal.SIGINT, process, server)
        _, said = process.communicate()
    assert f"interrupted by Ctrl-C. Resume: benchbook run --resume {tmp_path / 'runs' / 'run'}" in said.decode("utf-8")
    facts = [line.fact for line in read_journal(tmp_path / "runs" / "run" / "journal")]
    assert isinstance(facts[-1], Interrupted)
    assert facts[-1].reason == "interrupted by Ctrl-C"


def test_an_interrupted_run_resumes_to_the_same_decision_as_an_uninterrupted_one(tmp_path: Path) -> None:
    write_items(tmp_path / "items.jsonl", 1_500)
    held = Held()
    with running(held.answer) as server:
        process = start(options(tmp_path, server))
        held.send(signal.SIGINT, process, server)
        assert process.wait() == 3
        assert start(["--resume", str(tmp_path / "runs" / "run")]).wait() == 0
        assert len(server.asked["candidate"]) == len(server.asked["judge"]) == 1_500
    record = Record(tmp_path / "runs" / "run")
    assert [name for name in kinds(record) if name != "Reply"] == ["RunStarted", "Interrupted", "Resumed", "RunEnded"]
    found = verify(record)
    assert (found.holds, found.state) == (True, "complete")


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
        resumed = benchbook_here("run", "--resume", str(tmp_path / "runs" / "run"), "--quiet", "--reports", "none")
        assert resumed.returncode == 0, resumed.stderr
        assert len(server.asked["candidate"]) == 4, "an answer that was there was asked for again"
    assert verify(Record(tmp_path / "runs" / "run")).holds


def test_a_run_that_was_ended_at_once_verifies_as_it_is(tmp_path: Path) -> None:
    write_items(tmp_path / "items.jsonl", 4)
    with running(lambda role, n, request: always_good(role, n, request) if n < 2 else {"behaviour": "hang"}) as server:
        process = start(options(tmp_path, server))
        assert server.wait_for_answers(3, lambda: process.poll() is None)
        process.send_signal(signal.SIGINT)
        process.send_signal(signal.SIGTERM)
        assert process.wait() == 3
    found = verify(Record(tmp_path / "runs" / "run"))
    assert (found.holds, found.state) == (True, "interrupted")


# ── resuming ─────────────────────────────────────────────────────────────────────────────────────────────


def bytes_of(record: Record) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in record.path.rglob("*") if path.is_file()}


def test_resuming_a_whole_run_changes_no_byte(tmp_path: Path) -> None:
    with running(always_good) as server:
        record = run(tmp_path, server).record
        before = bytes_of(record)
        run_async(resume_run(record))
        assert len(server.asked["candidate"]) == 8
    assert bytes_of(record) == before


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({"judge": "openai/another@1"}, id="judge"),
        pytest.param({"model": "openai/another@1"}, id="model"),
        pytest.param({"evalset": "another.jsonl"}, id="evalset"),
        pytest.param({"repeats": 2}, id="repeats"),
        pytest.param({"model_params": {"temperature": 1}}, id="params"),
        pytest.param({"prompt_template": "prompt.txt"}, id="template"),
        pytest.param({"judge_reasoning_tags": ("think",)}, id="reasoning-tags"),
        pytest.param({"benchmark": True}, id="benchmark"),
        pytest.param({"max_retries": 1, "spec": "rubric@v2"}, id="spec-among-others"),
    ],
)
def test_resuming_does_not_change_the_plan(tmp_path: Path, changes: dict[str, Any]) -> None:
    with running(always_good) as server:
        record = run(tmp_path, server).record
        before = bytes_of(record)
        with pytest.raises(UsageError, match="is part of the plan and can't change"):
            run_async(resume_run(record, changes))
    assert bytes_of(record) == before


def test_limits_and_addresses_may_change_on_resuming(tmp_path: Path) -> None:
    with running(always_good) as first:
        record = stopped_run(tmp_path, first)
    with running(always_good) as second:
        changes = {"model_base_url": second.base_url, "judge_base_url": second.base_url, "max_cost_usd": None}
        run_async(resume_run(record, changes))
        assert len(second.asked["candidate"]) == 8 - len(first.asked["candidate"])
    (resumed,) = [line.fact for line in read_journal(record.journal) if isinstance(line.fact, Resumed)]
    assert resumed.config["judge_base_url"] == second.base_url
    assert verify(record).holds


def stopped_run(folder: Path, server: ScriptedServer) -> Record:
    """A run of eight samples that its cost limit stopped after three."""
    # Two output tokens a sample: two dollars.
    record = run(
        folder, server, max_connections=1, model_output_price=Decimal(1_000_000), max_cost_usd=Decimal(6)
    ).record
    assert len(server.asked["candidate"]) == 3
    return record


def test_a_second_writer_is_refused(tmp_path: Path) -> None:
    with running(always_good) as server:
        record = stopped_run(tmp_path, server)
        with JournalWriter(record.journal), pytest.raises(RecordLockedError, match="another process is writing"):
            run_async(resume_run(record))
        with JournalWriter(record.journal):
            found = benchbook("run", "--resume", str(record.path))
    assert found.returncode == 3
    assert found.stderr.decode("utf-8") == f"benchbook: {record.path}: another process is writing this record\n"


def test_a_torn_last_line_is_asked_for_again_and_nothing_else(tmp_path: Path) -> None:
    with running(always_good) as server:
        record = stopped_run(tmp_path, server)
        path = record.journal / "000001.jsonl"
        lines = path.read_bytes().splitlines(keepends=True)
        assert isinstance(list(read_journal(record.journal))[-2].fact, Reply)
        path.write_bytes(b"".join(lines[:-2]) + lines[-2][:-40])  # as a power cut would: the third verdict is torn
        run_async(resume_run(record, {"max_cost_usd": None}))
        assert len(server.asked["candidate"]) == 8
        assert len(server.asked["judge"]) == 9
    assert verify(record).holds


DIE_BEFORE_THE_FIRST_FACT = """
import os
from benchbook.cli import main
from benchbook.record.journal import JournalWriter

JournalWriter._recover = lambda *_: os._exit(9)
main()
"""


def test_a_kill_before_the_first_fact_leaves_a_way_on(tmp_path: Path) -> None:
    """Either nothing stands under the run's id, so that it begins anew, or its first fact does, so that it resumes."""
    write_items(tmp_path / "items.jsonl", 2)
    with running(always_good) as server:
        words = options(tmp_path, server)
        assert subprocess.run([sys.executable, "-c", DIE_BEFORE_THE_FIRST_FACT, "run", *words]).returncode == 9
        path = tmp_path / "runs" / "run"
        found = benchbook_here("run", *(["--resume", str(path)] if path.exists() else words))
    assert found.returncode == 0, found.stderr
