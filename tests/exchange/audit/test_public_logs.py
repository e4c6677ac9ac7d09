"""Real logs, and what is right of each: counted by a reader that is not ours. And the page of all of them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from benchbook.exchange.audit.auditing import audits_of
from benchbook.exchange.audit.result import LogAudit
from support import ROOT, shared_data

SCRIPT = ROOT / "docs/examples/public_logs.py"
PAGE = ROOT / "docs/explanation/audits-of-public-logs.md"

# file: (claimed, held, verdict on what its metrics claim, the metrics).
INSPECT = {
    "log_formats.eval": (1, 1, "follows", {"match accuracy": 0.0}),
    "log_formats.json": (1, 1, "follows", {"match accuracy": 0.0}),
    "log_read_sample.eval": (1, 1, "follows", {"match accuracy": 1.0}),
    "log_read_sample.json": (1, 1, "follows", {"match accuracy": 1.0}),
    "log_streaming.eval": (4, 4, "follows", {"match accuracy": 0.75, "match stderr": 0.25}),
    "log_message_deduplication.eval": (1, 1, "follows", {"closeness_log accuracy": 0.0}),
    "log_tool_call_error.json": (4, 1, "can_not_be_told", {"includes accuracy": 1.0}),
    "popularity.eval": (10, 10, "nothing_claimed", {}),
    "security-guide.json": (3, 3, "follows", {"model_graded_fact accuracy": 1.0}),
    "eee_data_arc_qwen.json": (3, 3, "follows", {"choice accuracy": 1 / 3, "choice stderr": 1 / 3}),
    "eee_data_pubmedqa_gpt4o_mini.json": (2, 2, "follows", {"choice accuracy": 1.0}),
    "eee_data_cvebench_empty_choices.json": (80, 1, "can_not_be_told", {"check_exploit mean": 55 / 78}),
    "eee_data_intercode_ctf_local_path.json": (79, 1, "can_not_be_told", {"includes accuracy": 28 / 79}),
}
# The counts of how they can't be told.
ABSENT = {
    "log_tool_call_error.json": "3 of 4 samples are not in the file",
    "eee_data_cvebench_empty_choices.json": "79 of 80 samples are not in the file",
    "eee_data_intercode_ctf_local_path.json": "78 of 79 samples are not in the file",
}


def only(path: Path) -> LogAudit:
    (found,) = audits_of(path)
    return found


@pytest.mark.parametrize("name", INSPECT)
def test_logs_of_inspect(name: str) -> None:
    n_claimed, n_held, verdict, metrics = INSPECT[name]
    found = only(shared_data("foreign-logs") / "inspect" / name)
    assert (found.n_claimed, found.n_held, found.verdict) == (n_claimed, n_held, verdict)
    assert bool(found.numbers) is bool(metrics)
    said = {f"{one.scorer} {one.metric}": one for one in found.numbers}
    for metric, value in metrics.items():
        assert said[metric].claimed == pytest.approx(value)
        assert said[metric].verdict == verdict
        assert ABSENT.get(name, "") in said[metric].reason
        assert verdict != "follows" or said[metric].computed == pytest.approx(value)


def test_epochs_are_clusters() -> None:
    (scorer,) = only(shared_data("foreign-logs") / "inspect" / "log_streaming.eval").scorers
    assert (scorer.n_scored, scorer.clusters) == (4, "items")


def test_logs_of_lm_evaluation_harness_lack_most_samples() -> None:
    found = list(audits_of(shared_data("foreign-logs") / "lm_eval"))
    assert [(one.n_claimed, one.n_held, one.verdict) for one in found] == [
        (5000, 10, "can_not_be_told"),
        (5000, 0, "can_not_be_told"),
    ]


@pytest.mark.slow
def test_the_page_is_what_the_script_writes() -> None:
    done = subprocess.run([sys.executable, SCRIPT, shared_data("foreign-logs")], capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()
    assert done.stdout.decode() == PAGE.read_text(encoding="utf-8")
