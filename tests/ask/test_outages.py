"""A fault of a server, in every command, in every role: no score from what was not answered, and resumed to the record
of a run that never had the fault (SPEC R1.3a, R1.3b, R3.6a)."""

from __future__ import annotations

import json
import socket
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import pytest

from benchbook.ask import asking
from benchbook.ask.work import run_async
from benchbook.evaluators.protocol.config import judging_config_from_mapping
from benchbook.evaluators.registry import resume_run, start_run
from benchbook.evaluators.settings import RunConfig
from benchbook.evaluators.verify import verify
from benchbook.record.facts import Failure, Reply
from benchbook.record.folder import Record
from benchbook.record.reading import read_journal
from judging import make_set
from outages import FAULTS, well
from panels import panel_config
from running import benchbook_here, config, options, write_items
from scripted_server import ScriptedServer, running

N_ITEMS = 6

# What two runs with the same answers may differ in: places in a journal, and what a clock said.
OF_THE_JOURNAL = {"answer_seq", "seq", "fact_seq", "reply_seqs", "transport_retries"}
OF_THE_CLOCK = {
    "latency_e2e_ms", "latency_model_ms", "latency_ms", "queue_ms", "retry_ms", "eval_time_ms", "evaluator_latency_ms",
    "latency_norm", "sample_score", "time_to_first_token_ms", "request_sha256",
}  # fmt: skip


@dataclass(frozen=True)
class Asking:
    """One way to ask: how it is begun, how it is resumed, and whose calls a fault can meet."""

    start: Callable[[Path, ScriptedServer], Any]
    resume: Callable[[Record], Any]
    is_hit: Callable[[str, dict[str, Any]], bool]  # whether a request is the faulty role's


def _run(folder: Path, server: ScriptedServer, **more: Any) -> Any:
    return run_async(start_run(config(folder, server, N_ITEMS, max_connections=2, max_retries=1, **more)))


def _panel(folder: Path, server: ScriptedServer) -> Any:
    more = {"max_connections": 2, "max_retries": 1}
    return run_async(start_run(panel_config(folder, server, ["a", "b", "c"], N_ITEMS, **more)))


def _recorded(folder: Path, server: ScriptedServer) -> Any:
    rows = [{"id": f"i{n}", "output": f"It is {n + 1}.", "latency_ms": 5, "input_tokens": 9, "output_tokens": 3}
            for n in range(N_ITEMS)]  # fmt: skip
    (folder / "o.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return _run(folder, server, model="recorded/m@1", outputs=str(folder / "o.jsonl"), model_base_url=None)


def _score(folder: Path, server: ScriptedServer) -> Any:
    settings = RunConfig(
        spec="answer_correctness@v1", evalset=str(write_items(folder / "items.jsonl", N_ITEMS)),
        model="openai/m@2026-01-01", model_base_url=server.base_url, runs=str(folder / "runs"), run_id="run",
        max_connections=2, max_retries=1,
    )  # fmt: skip
    return run_async(start_run(settings))


def _judged(folder: Path, server: ScriptedServer) -> Any:
    make_set(folder, questions=1)
    values = {
        "set": str(folder / "set"), "prompts": str(folder / "prompts.jsonl"), "runs": str(folder / "runs"),
        "judges": [{"model": f"openai/{name}@2026-01-01", "base_url": server.base_url} for name in ("j", "k")],
        "run_id": "run", "max_connections": 2, "max_retries": 1,
    }  # fmt: skip
    return run_async(start_run(judging_config_from_mapping(values, "test")))


ASKING: Mapping[str, Asking] = {
    "run-candidate": Asking(_run, lambda r: run_async(resume_run(r)), lambda role, request: role == "candidate"),
    "run-judge": Asking(_run, lambda r: run_async(resume_run(r)), lambda role, request: role == "judge"),
    "panel-one-judge": Asking(
        _panel, lambda r: run_async(resume_run(r)), lambda role, request: request["model"] == "b"
    ),
    "panel-candidate": Asking(_panel, lambda r: run_async(resume_run(r)), lambda role, request: role == "candidate"),
    "recorded-judge": Asking(_recorded, lambda r: run_async(resume_run(r)), lambda role, request: role == "judge"),
    "score-candidate": Asking(_score, lambda r: run_async(resume_run(r)), lambda role, request: True),
    "judge-run": Asking(_judged, lambda r: run_async(resume_run(r)), lambda role, request: request["model"] == "k"),
}


@pytest.fixture(autouse=True)
def no_backoff(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asking, "backoff_s", lambda retries, jitter: 0.0)


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Any]:
    """Of each way to ask, the derived rows of a run that never had a fault."""
    found = {}
    for name, way in ASKING.items():
        with running(well) as server:
            result = way.start(tmp_path_factory.mktemp(name), server)
        assert result.stop.reason is None
        found[name] = told_by(result.record)
    return found


def told_by(record: Record) -> list[dict[str, Any]]:
    """The rows of a record's table, but for what another run with the same answers differs in."""
    import polars as pl

    return [_same(row) for row in pl.read_parquet(record.samples).to_dicts()]


def _same(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _same(one) for key, one in value.items() if key not in OF_THE_JOURNAL | OF_THE_CLOCK}
    return [_same(one) for one in value] if isinstance(value, list) else value


def replies_of(record: Record) -> Counter[str]:
    facts = (line.fact for line in read_journal(record.journal))
    return Counter(fact.request_sha256 for fact in facts if isinstance(fact, Reply) and fact.request_sha256)


@pytest.mark.parametrize("way", ASKING)
@pytest.mark.parametrize("fault", FAULTS)
def test_what_was_not_answered_is_no_score_and_is_asked_again(
    tmp_path: Path, undisturbed: Mapping[str, Any], fault: str, way: str
) -> None:
    asked = ASKING[way]
    is_well = False
    n_hit = 0

    def reply(role: str, n: int, request: dict[str, Any]) -> dict[str, Any]:
        nonlocal n_hit
        if is_well or not asked.is_hit(role, request):
            return well(role, n, request)
        n_hit += 1
        return well(role, n, request) if n_hit <= 2 else FAULTS[fault]  # it breaks in the middle

    with running(reply) as server:
        stopped = asked.start(tmp_path, server)
        assert stopped.stop.reason is not None
        assert stopped.stop.failed
        assert stopped.derived.manifest.state == "interrupted"
        assert verify(stopped.record).holds
        assert_no_score_from_failures(stopped.record, way)
        is_well = True
        whole = asked.resume(stopped.record)
    assert whole.stop.reason is None
    assert whole.derived.manifest.state == "complete"
    assert verify(whole.record).holds
    assert told_by(whole.record) == undisturbed[way]
    assert set(replies_of(whole.record).values()) <= {1}  # nothing that was answered was asked again


def assert_no_score_from_failures(record: Record, way: str) -> None:
    """A sample whose calls failed has no score, and says why; means are over those that were answered."""
    facts = [line.fact for line in read_journal(record.journal)]
    failures = [fact for fact in facts if isinstance(fact, Failure) and fact.ends != "attempt"]
    assert failures
    assert {fact.ends for fact in failures} <= {"sitting", "run"}
    failed = {fact.sample for fact in failures}
    ledger = json.loads(record.aggregates.read_bytes()).get("ledger", {})
    assert sum(ledger.get("unanswered_by_cause", {}).values()) == ledger.get("n_unanswered", 0)  # each with one cause
    rows = {row["sample"]: row for row in told_by(record)}
    for sample in failed:
        if way == "judge-run":
            assert sample not in rows  # it is not there yet, and so not invalid
        elif way == "score-candidate":
            assert (rows[sample]["correctness"], rows[sample]["miss_reason"]) == (None, None)
            assert rows[sample]["candidate_error"] is not None
        elif way.endswith("candidate"):
            assert (rows[sample]["accuracy_score"], rows[sample]["score_origin"]) == (None, None)
            assert rows[sample]["candidate_error"] is not None
        elif way != "panel-one-judge":  # a panel has a score where the judge that is missing could not change it
            assert rows[sample]["accuracy_score"] is None


def closed_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


@pytest.mark.parametrize("role", ["model", "judge"])
def test_a_server_that_is_down_is_told_first_and_the_run_resumes_at_another_address(tmp_path: Path, role: str) -> None:
    write_items(tmp_path / "items.jsonl", 3)
    with running(well) as server:
        words = options(tmp_path, server, **{f"{role}-base-url": f"http://127.0.0.1:{closed_port()}/v1"})
        down = benchbook_here("run", *words, "--max-retries", "0", "--reports", str(tmp_path / "reports"))
        assert down.returncode == 3
        first = next(line for line in down.stdout.decode().splitlines() if line)
        whose = "the model" if role == "model" else "the judge"
        assert first.startswith(f"! 3 of 3 samples are unanswered: {whose}'s server at http://127.0.0.1:")
        for name in ("report.html", "report.md", "junit.xml"):
            text = (tmp_path / "reports" / "run" / name).read_text("utf-8")
            assert "3 of 3 samples are unanswered" in text, name
        mended = ["--resume", str(tmp_path / "runs" / "run"), f"--{role}-base-url", server.base_url, "--json"]
        whole = benchbook_here("run", *mended, "--reports", "none")
    told = json.loads(whole.stdout)
    assert told["manifest"]["state"] == "complete"
    assert told["aggregates"]["aggregates"]["n_unanswered"] == 0
    assert told["aggregates"]["unanswered"] == []


def test_a_run_that_is_ended_as_it_is_says_so_and_counts_every_planned_sample(tmp_path: Path) -> None:
    write_items(tmp_path / "items.jsonl", 40)

    def half(role: str, n: int, request: dict[str, Any]) -> dict[str, Any]:
        return FAULTS["503"] if role == "candidate" and n >= 20 else well(role, n, request)

    with running(half) as server:
        words = [*options(tmp_path, server, **{"max-retries": 0, "max-connections": 1}), "--json"]
        stopped = json.loads(benchbook_here("run", *words).stdout)
        n_asked = len(server.asked["candidate"])
        ended = benchbook_here("run", "--resume", str(tmp_path / "runs" / "run"), "--accept-unanswered", "--json")
        assert len(server.asked["candidate"]) == n_asked  # nobody is asked
    told = json.loads(ended.stdout)
    assert ended.returncode == 0
    assert stopped["aggregates"]["aggregates"]["n_unanswered"] == 10  # ten in a row stop it
    assert told["manifest"]["state"] == "complete"
    assert told["manifest"]["accepted_unanswered"] is True
    aggregates = told["aggregates"]["aggregates"]
    assert (aggregates["n_samples"], aggregates["n_unanswered"], aggregates["n_scored"]) == (40, 20, 20)
    assert told["aggregates"]["ledger"]["unanswered_by_cause"] == {"not_asked": 10, "server_error": 10}
    assert told["decision"]["decision"] != "READY"
    assert verify(Record(tmp_path / "runs" / "run")).holds


def test_what_passes_by_the_end_of_a_sitting_is_asked_once_more(tmp_path: Path) -> None:
    failed: set[str] = set()

    def passing(role: str, n: int, request: dict[str, Any]) -> dict[str, Any]:
        key = json.dumps(request["messages"])
        if role == "candidate" and key not in failed and len(failed) < 3:
            failed.add(key)
            return FAULTS["503"]
        return well(role, n, request)

    with running(passing) as server:
        result = run_async(start_run(config(tmp_path, server, N_ITEMS, max_retries=0, max_connections=1)))
    assert len(failed) == 3
    assert (result.stop.reason, result.derived.aggregates.aggregates.n_unanswered) == (None, 0)
    assert msgspec.to_builtins(result.derived.manifest)["state"] == "complete"
