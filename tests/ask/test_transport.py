"""SPEC R1.2 to R1.4, R3.5, R3.6: what servers do, and what becomes of the sample."""

from __future__ import annotations

import json
import time
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from benchbook.ask import asking
from benchbook.ask.starting import RunResult
from benchbook.ask.work import run_async
from benchbook.evaluators.registry import start_run
from benchbook.evaluators.rubric.rows import CausedRow
from benchbook.evaluators.settings import RunConfig
from benchbook.evaluators.verify import verify
from benchbook.record.facts import Failure, Reply
from benchbook.record.reading import read_journal
from benchbook.record.tables import read_rows
from rubric_v1 import CAUSED_ROW, ROW
from running import options, run
from scripted_server import OK_CANDIDATE, OK_JUDGE, ScriptedServer, always_good, running
from support import cases, peak_memory_mb


def script_of(case: dict[str, Any]) -> Any:
    """The case's replies for its role, its last one for ever where it says so, and good ones for everything else."""
    steps = case["server"]

    def reply(role: str, n: int, request: dict[str, Any]) -> dict[str, Any]:
        good = OK_JUDGE if role == "judge" else OK_CANDIDATE
        if role != case["role"]:
            return good
        if n < len(steps):
            return steps[n]
        return steps[-1] if steps[-1].get("repeat") else good

    return reply


def config_of(case: dict[str, Any], server: ScriptedServer, folder: Path) -> RunConfig:
    item = {"id": "one", "prompt": "How many days has a week?", "expected_answer": "Seven."}
    (folder / "set.jsonl").write_text(json.dumps(item) + "\n", encoding="utf-8")
    limits = case["options"]
    if all(step.get("behaviour") != "hang" for step in case["server"]):
        limits = limits | {"timeout_ms": 60_000}  # a busy machine is no server that hangs
    return RunConfig(
        evalset=str(folder / "set.jsonl"), model="openai/m@2026-01-01", judge="openai/j@2026-01-01",
        model_base_url=server.base_url, judge_base_url=server.base_url, runs=str(folder / "runs"), run_id="run",
        **limits,
    )  # fmt: skip


def outcome_of(result: RunResult, row: CausedRow, role: str) -> str:
    ledger = result.derived.aggregates.ledger
    if row.candidate_error is not None:
        return "provider_error"  # R1.3a; its cause is in `candidate_error`
    if ledger.n_no_answer:
        (reason,) = ledger.no_answer_by_reason
        return reason if reason in ("provider_error", "timeout") else "no_answer"
    if role == "candidate":
        return "answer"
    return "scored" if row.evaluator_error is None else "unscored"


@pytest.mark.cases
@pytest.mark.parametrize("case", cases("transport"))
def test_a_server_does_and_the_sample_becomes(
    case: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(asking, "backoff_s", lambda retries, jitter: 0.0)
    with running(script_of(case)) as server:
        started = time.monotonic()
        result = run_async(start_run(config_of(case, server, tmp_path)))
        took_ms = 1000 * (time.monotonic() - started)
    (row,) = read_rows(result.record.samples, CAUSED_ROW)
    expect = dict(case["expect"])
    expect.pop("note", None)
    if row.candidate_error is not None:
        # R1.3a: it is unanswered. A case that was written before says that it is scored 0, by R1.3.
        assert (row.accuracy_score, row.score_origin, row.latency_e2e_ms) == (None, None, None)
        assert result.stop.reason is not None
        expect = {name: value for name, value in expect.items() if name not in ("accuracy_score", "score_origin")}
    reasons = expect.pop("reasons", None)
    if reasons is not None:
        assert [reply.parse_error_reason for reply in row.judge_replies] == reasons
    if (low_high := expect.pop("latency_e2e_ms_between", None)) is not None:
        assert (
            low_high[0] <= row.latency_e2e_ms <= max(low_high[1], took_ms)
        )  # where the machine was busy, the run was slow
    if (least := expect.pop("min_wait_ms", None)) is not None:
        assert row.retry_ms >= least
    if expect.pop("latency_excludes_wait", False):
        assert row.latency_e2e_ms + row.retry_ms <= took_ms  # with the wait in both it would be more
    if (reason := expect.pop("fail_reasons_include", None)) is not None:
        assert reason in row.fail_reasons
    if (secret := expect.pop("absent_everywhere", None)) is not None:
        assert [path for path in files_of(tmp_path / "runs") if secret.encode() in path.read_bytes()] == []
    if (limit := expect.pop("peak_memory_mb_below", None)) is not None:
        assert peak_of_a_run(case, tmp_path) < limit
    found = {
        "attempts": len(server.asked[case["role"]]),
        "outcome": outcome_of(result, row, case["role"]),
        "text": row.candidate_answer,
        "judge_called": bool(server.asked["judge"]),
        "run_stops": result.stop.reason is not None,
        "raw_replies_kept": len(row.judge_replies),
    }
    for name, value in expect.items():
        assert (found[name] if name in found else getattr(row, name)) == value, name


@pytest.mark.parametrize("null", [None, "null"], ids=["null", "word"])
def test_the_options_of_a_stream_can_be_left_out(tmp_path: Path, null: str | None) -> None:
    """Some servers refuse them. What is sent is what the plan says, and is rendered alike to verify."""

    def reply(role: str, n: int, request: dict[str, Any]) -> dict[str, Any]:
        if "stream_options" in request:
            return {"status": 400, "body": {"error": {"message": "Unrecognized request argument: stream_options"}}}
        return always_good(role, n, request)

    with running(reply) as server:
        refused = run(tmp_path, server, 3, stream=True, run_id="refused")
        result = run(tmp_path, server, 3, stream=True, model_params={"stream_options": null})
    assert refused.stop.failed
    (first, *_) = [line.fact for line in read_journal(refused.record.journal) if isinstance(line.fact, Failure)]
    assert (first.cause, first.parameter) == ("parameter", "stream_options")
    assert result.derived.aggregates.ledger.n_scored == 3
    assert result.derived.manifest.generation_params_effective["stream_options"] is None
    assert verify(result.record).holds


def test_an_answer_that_came_whole_is_none_the_worse_for_null_options(tmp_path: Path) -> None:
    with running(always_good) as server:
        result = run(tmp_path, server, 2, model_params={"stream_options": None})
        assert all("stream_options" not in request for request in server.asked["candidate"])
    assert "stream_options" not in result.derived.manifest.generation_params_effective


def test_tokens_that_only_the_total_holds_count_and_cost(tmp_path: Path) -> None:  # R1.5
    usage = {"prompt_tokens": 20, "completion_tokens": 5, "total_tokens": 9025}

    def reply(role: str, n: int, request: dict[str, Any]) -> dict[str, Any]:
        return always_good(role, n, request) | ({"usage": usage} if role == "candidate" else {})

    with running(reply) as server:
        result = run(
            tmp_path, server, 3, model_output_price=Decimal(10), max_cost_usd=Decimal("0.1"), max_connections=1
        )
    assert "cost limit" in (result.stop.reason or "")
    (row, *_) = read_rows(result.record.samples, ROW)
    assert (row.output_tokens, row.total_tokens) == (9005, 9025)
    replies = [line.fact for line in read_journal(result.record.journal) if isinstance(line.fact, Reply)]
    assert replies[0].output_tokens_reported == 5
    assert result.derived.aggregates.candidate_cost_usd == "0.090050"


def files_of(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


def peak_of_a_run(case: dict[str, Any], folder: Path) -> float:
    """Megabytes, of a whole `benchbook run` in a process of its own."""
    with running(script_of(case)) as server:
        config_of(case, server, folder)
        words = options(folder, server, evalset=folder / "set.jsonl", runs=folder / "again")
        main = "from benchbook.cli import main; main()"
        return peak_memory_mb(main, ["run", *words, "--quiet", "--max-retries", "0"])[1]
