"""A model on this machine as a judge: what its time-out means, and a whole experiment with the small one."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from benchbook.ask import asking
from benchbook.ask.providers import local
from benchbook.ask.work import run_async
from benchbook.evalsets.output_set_sources import find_in_table
from benchbook.evalsets.output_sets import write_output_set
from benchbook.evaluators.protocol.config import judging_config_from_mapping
from benchbook.evaluators.registry import samples_type, start_run
from benchbook.evaluators.verify import verify
from benchbook.record.facts import Failure, Reply
from benchbook.record.folder import Record
from benchbook.record.reading import read_journal
from benchbook.record.tables import read_rows
from judging import make_set
from local_model import needs_model
from scripted_server import running

SIX_MINUTES_MS = 360_000  # a busy machine is no model that hangs
PARTS = {"meta", "scores", "verdict", "flags", "evidence", "notes"}


@pytest.mark.parametrize(
    ("max_retries", "ends"),
    [(4, ["attempt", "sitting"]), (1, ["attempt", "sitting"]), (0, ["sitting"])],
    ids=["once-and-not-as-often-as-a-servers", "once", "not-where-nothing-is"],
)
def test_its_time_out_is_tried_again_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, max_retries: int, ends: list[str]
) -> None:
    monkeypatch.setattr(asking, "backoff_s", lambda retries, jitter: 0.0)
    make_set(tmp_path, questions=1, targets=("m",))
    (tmp_path / "model.gguf").write_bytes(b"GGUF")

    with running(lambda role, n, request: {"behaviour": "hang"}) as server:

        class Hangs:
            """In the place of the process with a model in it."""

            def __init__(self, *_: Any) -> None:
                self.base_url = server.base_url

            def close(self) -> None:
                pass

        monkeypatch.setattr(local, "LocalServer", Hangs)
        settings = {
            "set": str(tmp_path / "set"), "judges": [{"model": "local/m", "path": str(tmp_path / "model.gguf")}],
            "runs": str(tmp_path / "runs"), "timeout_ms": 100, "max_retries": max_retries, "task": "unknown",
        }  # fmt: skip
        result = run_async(start_run(judging_config_from_mapping(settings, "test")))
    facts = [line.fact for line in read_journal(result.record.journal)]
    failures = [fact for fact in facts if isinstance(fact, Failure)]
    assert {fact.error for fact in failures} == {"timeout"}
    for sample in (0, 1):
        assert [fact.ends for fact in failures if fact.sample == sample] == ends
    assert sum(result.derived.aggregates.judges[0].unanswered.values()) == 2


def replies_of(record: Record) -> list[Reply]:
    if not record.journal.is_dir():
        return []
    return [line.fact for line in read_journal(record.journal) if isinstance(line.fact, Reply)]


def small_set(folder: Path) -> Path:
    """Two outputs to one question; the first is the judge's own."""
    rows = [
        {"question_id": "q", "prompt_variant": "v", "target_model": target, "output_id": "1", "text": text}
        for target, text in (("local/smollm2-135m", "The shop opens at nine."), ("acme", "At nine, but not on Sunday."))
    ]
    table = folder / "outputs.jsonl"
    table.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    write_output_set(find_in_table(table).candidates, folder / "set")
    return folder / "set"


def start(folder: Path, *words: str | Path) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "benchbook", "judge", "run", *words, "--quiet", "--reports", folder / "reports"]
    return subprocess.Popen(command)


def wait_for_a_reply(record: Record, process: subprocess.Popen[bytes]) -> None:
    while not replies_of(record):
        with suppress(subprocess.TimeoutExpired):
            pytest.fail(f"it ended with {process.wait(0.1)} before its first reply")


@needs_model
def test_the_small_model_judges_is_killed_and_goes_on(tmp_path: Path) -> None:
    """Whether its evidence holds is its own matter; its replies are whole, and of the protocol's shape."""
    record = Record(tmp_path / "runs" / "run")
    first = start(
        tmp_path, "--set", small_set(tmp_path), "--judge", "local/smollm2-135m", "--max-connections", "1",
        "--task", "unknown", "--timeout-ms", str(SIX_MINUTES_MS), "--runs", tmp_path / "runs", "--run-id", "run",
    )  # fmt: skip
    wait_for_a_reply(record, first)
    first.kill()
    assert first.wait() == -signal.SIGKILL
    kept = replies_of(record)
    assert len(kept) == 1, "the kill did not fall between the two"

    assert start(tmp_path, "--resume", record.path).wait() in (0, 1)  # 1: none of its evaluations counts
    found = replies_of(record)
    assert found[:1] == kept
    assert [reply.finish_reason for reply in found] == ["stop", "stop"], "a reply was cut: max_tokens is too small"
    assert all(set(json.loads(reply.text or "")) == PARTS for reply in found)
    assert verify(record).holds
    assert {(row.target_model, row.method) for row in read_rows(record.samples, samples_type(record))} == {
        ("local/smollm2-135m", "self_judge"), ("acme", "cross_judge"),
    }  # fmt: skip
    check = ["judge", "archive", str(record.path), "--check", str(tmp_path / "reports" / "run" / "archive")]
    assert subprocess.run([sys.executable, "-m", "benchbook", *check], check=False).returncode == 0
