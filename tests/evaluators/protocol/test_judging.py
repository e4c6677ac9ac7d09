"""`judge_protocol@v1` with judges that are asked: the grid, resuming, what is frozen, verification (SPEC P1 to P7)."""

from __future__ import annotations

import hashlib
import os
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from benchbook.ask.settings import moved_judges
from benchbook.ask.starting import RunResult
from benchbook.ask.work import Progress, run_async
from benchbook.canonical import canonical_json
from benchbook.errors import BenchbookError, ConfigError, UsageError
from benchbook.evaluators.protocol.config import JudgingConfig, judging_config_from_mapping
from benchbook.evaluators.protocol.rows import ProtocolRow
from benchbook.evaluators.protocol.spec import protocol_v1
from benchbook.evaluators.protocol.tables import derive_protocol
from benchbook.evaluators.registry import evaluator_named, resume_run, samples_type, start_run
from benchbook.evaluators.verify import verify
from benchbook.record.facts import Reply
from benchbook.record.folder import Record
from benchbook.record.reading import read_journal
from benchbook.record.tables import read_rows
from benchbook.views.protocol.archive import write_archive
from benchbook.views.protocol.report import archive_of, differences
from judging import make_set, sound_reply
from scripted_server import ScriptedServer, running


def replying(role: str, n: int, request: dict[str, Any]) -> dict[str, Any]:
    usage = {"prompt_tokens": 100, "completion_tokens": 10}
    return {"status": 200, "content": sound_reply(request), "usage": usage}


def config(folder: Path, server: ScriptedServer, **more: Any) -> JudgingConfig:
    judges = [{"model": f"openai/{name}@2026-01-01", "base_url": server.base_url} for name in ("j", "k")]
    values = {
        "set": str(folder / "set"), "prompts": str(folder / "prompts.jsonl"), "judges": judges, "run_id": "run",
        "runs": str(folder / "runs"),
    }  # fmt: skip
    return judging_config_from_mapping(values | more, "test")


def judged(folder: Path, server: ScriptedServer, **more: Any) -> RunResult:
    return run_async(start_run(config(folder, server, **more)))


def rows(result: RunResult) -> list[ProtocolRow]:
    return list(read_rows(result.record.samples, samples_type(result.record)))


def test_every_judge_judges_every_output_and_its_own_apart(tmp_path: Path) -> None:
    make_set(tmp_path)
    with running(replying) as server:
        result = judged(tmp_path, server)
    found = rows(result)
    assert [row.sample for row in found] == list(range(16))
    assert Counter((row.judge_model, row.target_model, row.method) for row in found) == {
        ("j", "j", "self_judge"): 4, ("j", "m", "cross_judge"): 4,
        ("k", "j", "cross_judge"): 4, ("k", "m", "cross_judge"): 4,
    }  # fmt: skip
    assert all(row.valid and row.verdict == "PASS" for row in found), found[0].details
    assert {item.located for row in found for item in row.evidence} == {"exact"}
    aggregates = result.derived.aggregates
    assert (aggregates.n_evaluations, aggregates.n_valid, aggregates.gaps) == (16, 16, [])
    assert [(one.judge_model, one.n_replies, one.input_tokens) for one in aggregates.judges] == [
        ("j", 8, 800), ("k", 8, 800),
    ]  # fmt: skip
    assert verify(result.record).holds


def test_the_prompt_holds_the_task_and_the_fenced_text(tmp_path: Path) -> None:
    made = make_set(tmp_path)
    with running(replying) as server:
        judged(tmp_path, server)
        prompts = [request["messages"][0]["content"] for request in server.asked["candidate"]]
    assert len(prompts) == 16
    texts = [made.text(output) for output in made.outputs]
    assert all("When does it open?" in prompt and any(text in prompt for text in texts) for prompt in prompts)


def test_names_of_one_model_make_a_self_judge(tmp_path: Path) -> None:
    make_set(tmp_path)
    with running(replying) as server:
        result = judged(tmp_path, server, same_model={"k": "m"})
    assert {(row.judge_model, row.target_model): row.method for row in rows(result)} == {
        ("j", "j"): "self_judge", ("j", "m"): "cross_judge", ("k", "j"): "cross_judge", ("k", "m"): "self_judge",
    }  # fmt: skip


@pytest.mark.slow
def test_an_interrupted_experiment_goes_on_and_asks_nothing_twice(tmp_path: Path) -> None:
    make_set(tmp_path, questions=10)

    def stop(progress: Progress) -> None:
        if progress.done == 5 and not progress.stopping:
            os.kill(os.getpid(), signal.SIGINT)

    with running(replying) as server:
        first = run_async(start_run(config(tmp_path, server, max_connections=2), stop))
        assert first.stop.reason == "interrupted by Ctrl-C"
        assert 5 <= first.derived.aggregates.n_evaluations < 80
        assert first.derived.aggregates.warnings
        assert verify(first.record).holds
        second = run_async(resume_run(first.record, {"max_connections": 8}))
        assert len(server.asked["candidate"]) == 80
    assert second.derived.aggregates.n_valid == 80
    assert second.derived.aggregates.warnings == []
    assert verify(second.record).holds


def start(*words: str | Path) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-m", "benchbook", "judge", "run", *words, "--quiet"])


def kept_requests(record: Record) -> list[str]:
    """The requests whose replies are facts, in their order."""
    if not record.journal.is_dir():
        return []
    facts = (line.fact for line in read_journal(record.journal))
    return [fact.request_sha256 for fact in facts if isinstance(fact, Reply) and fact.request_sha256]


@pytest.mark.parametrize("declared", [{}, {"k": "k-old"}, {"openai/k@2026-01-01": "k"}, {"k": "openai/k@2026-01-01"}])
def test_a_judge_knows_its_own_outputs_by_its_models_id(tmp_path: Path, declared: dict[str, str]) -> None:
    """P1: a set may name its targets by ids, and the judges are called by their names."""
    make_set(tmp_path, targets=("openai/k@2026-01-01", "openai/k@2025-01-01"))
    with running(replying) as server:
        result = judged(tmp_path, server, same_model=declared)
    found = {(row.judge_model, row.target_model): row.method for row in rows(result)}
    assert [one for one, method in found.items() if method == "self_judge"] == [("k", "openai/k@2026-01-01")]
    assert all(row.valid for row in rows(result))
    assert verify(result.record).holds


def test_a_judge_knows_its_own_outputs_by_its_models_id_without_the_version(tmp_path: Path) -> None:
    make_set(tmp_path, targets=("openai/k", "openai/kk"))
    with running(replying) as server:
        result = judged(tmp_path, server)
    found = {(row.judge_model, row.target_model): row.method for row in rows(result)}
    assert [one for one, method in found.items() if method == "self_judge"] == [("k", "openai/k")]
    assert all(row.valid for row in rows(result))
    assert verify(result.record).holds


@pytest.mark.slow
def test_kill_9_at_any_moment_loses_nothing_and_asks_nothing_twice(tmp_path: Path) -> None:
    make_set(tmp_path, questions=40)
    record, asked, kept = Record(tmp_path / "runs" / "run"), list[str](), list[list[str]]()
    most = 0  # replies at most; then the server hangs, so that a slow kill does not find the run at its end

    def reply(role: str, n: int, request: dict[str, Any]) -> dict[str, Any]:
        asked.append(hashlib.sha256(canonical_json(request)).hexdigest())
        return replying(role, n, request) if len(asked) <= most else {"behaviour": "hang"}

    with running(reply) as server:
        words = settings_file(tmp_path, server)
        for answers in (1, 7, 40, 2, 90):
            before, most = len(asked), len(asked) + answers + 6
            process = start(*words)
            server.wait_for_answers(len(server.answered) + answers, lambda process=process: process.poll() is None)
            process.kill()
            assert process.wait() == -signal.SIGKILL
            assert set(asked[before:]).isdisjoint(kept[-1] if kept else ()), "a reply that was kept was asked for again"
            kept.append(kept_requests(record))
            words = ["--resume", record.path] if record.path.exists() else words
        before, most = len(asked), 10**9
        assert start("--resume", record.path).wait() == 0
        assert set(asked[before:]).isdisjoint(kept[-1]), "a reply that was kept was asked for again"
    whole = kept_requests(record)
    assert all(whole[: len(part)] == part for part in kept), "a reply was lost"
    assert 0 < len(kept[-1]) < len(whole) == len(set(whole)) == 320, "the kills did not fall into the run"
    assert verify(record).holds
    found = list(read_rows(record.samples, samples_type(record)))
    assert [row.sample for row in found] == list(range(320))
    assert all(row.valid for row in found)


def settings_file(folder: Path, server: ScriptedServer) -> list[str | Path]:
    """The words that start the experiment of `config` from a terminal."""
    judges = "".join(
        f'[[judges]]\nmodel = "openai/{name}@2026-01-01"\nbase_url = "{server.base_url}"\n' for name in ("j", "k")
    )
    path = folder / "judging.toml"
    path.write_text(f'set = "set"\nprompts = "prompts.jsonl"\nrun_id = "run"\n{judges}', encoding="utf-8")
    return [path, "--runs", folder / "runs", "--reports", "none", "--max-connections", "8"]


@pytest.mark.parametrize(
    "change", [{"evidence": "report"}, {"repeats": 2}, {"set": "other"}, {"judges": []}, {"same_model": {"a": "b"}}]
)
def test_what_the_first_call_froze_can_not_change(tmp_path: Path, change: dict[str, Any]) -> None:
    """P3: another evidence rule, judge or set is another experiment."""
    make_set(tmp_path)
    with running(replying) as server:
        result = judged(tmp_path, server, max_seconds=None)
        with pytest.raises(UsageError, match="is part of the plan and can't change"):
            run_async(resume_run(result.record, change))


def test_judges_may_be_elsewhere_when_an_experiment_is_resumed(tmp_path: Path) -> None:
    make_set(tmp_path)

    def gone(role: str, n: int, request: dict[str, Any]) -> dict[str, Any]:
        del role, n, request
        return {"status": 401, "body": {"error": {"message": "no"}}}

    with running(gone) as here, running(replying) as there:
        stopped = judged(tmp_path, here)
        assert stopped.stop.failed
        moves = [f"{name}.base_url={there.base_url}" for name in ("j", "k")]
        judges = moved_judges(stopped.record.started().config["judges"], moves)
        resumed = run_async(resume_run(stopped.record, {"judges": judges}))
    assert resumed.derived.aggregates.n_valid == 16
    assert verify(resumed.record).holds


def test_what_a_judge_did_wrong_is_counted_and_enters_no_score(tmp_path: Path) -> None:
    make_set(tmp_path)

    def reply(role: str, n: int, request: dict[str, Any]) -> dict[str, Any]:
        bad = request["model"] == "k"
        return {"status": 200, "content": "I will not judge this." if bad else sound_reply(request, 1)}

    with running(reply) as server:
        result = judged(tmp_path, server)
    by_judge = {judge.judge_model: judge for judge in result.derived.aggregates.analysis.judges}
    assert by_judge["k"].cross_judge.n_valid == 0
    assert by_judge["k"].cross_judge.flags["JUDGE_REFUSAL_OR_EVASION"] == 8
    targets = result.derived.aggregates.analysis.targets
    assert {one.overall.value for one in targets if one.n_valid} == {4.0}
    assert verify(result.record).holds


def test_a_judge_that_can_not_be_reached_leaves_what_is_not_there_yet(tmp_path: Path) -> None:
    """R1.3b: no evaluation is invalid for it, and it is no gap of the judge's making."""
    make_set(tmp_path)

    def reply(role: str, n: int, request: dict[str, Any]) -> dict[str, Any]:
        gone = request["model"] == "k" and "q0" in request["messages"][0]["content"]
        return {"status": 400} if gone else replying(role, n, request)

    with running(reply) as server:
        result = judged(tmp_path, server)
    aggregates = result.derived.aggregates
    assert [sum(one.unanswered.values()) for one in aggregates.judges] == [0, 4]
    assert (aggregates.n_unanswered, aggregates.n_invalid, aggregates.analysis.n_gaps) == (4, 0, 0)
    assert {(gap.question_id, gap.judge_model) for gap in aggregates.gaps} == {("q0", "k")}
    assert {(gap.flag, gap.why) for gap in aggregates.gaps} == {(None, "unanswered")}
    assert aggregates.warnings[0].startswith("4 of 16 samples are unanswered: the judge k's server at ")
    assert aggregates.warnings[1].startswith("What is unanswered is not invalid")
    assert (result.derived.manifest.state, result.stop.failed) == ("interrupted", True)
    assert verify(result.record).holds


def test_probes_tell_a_sound_judge_from_one_that_obeys_the_text(tmp_path: Path) -> None:
    """Judge j reads what it judges; judge k gives 2 everywhere, whatever is there."""
    make_set(tmp_path)

    def reply(role: str, n: int, request: dict[str, Any]) -> dict[str, Any]:
        prompt = request["messages"][0]["content"]
        judged_text = prompt.split("BEGIN JUDGED TEXT ")[1]
        refuses = "can't help" in judged_text or "opens at nine" not in judged_text
        return {"status": 200, "content": sound_reply(request, 0 if refuses and request["model"] == "j" else 2)}

    with running(reply) as server:
        result = judged(tmp_path, server, probes=1, repeats=2)
    aggregates = result.derived.aggregates
    assert aggregates.n_evaluations == 32
    passed = {(one.judge_model, one.probe): one.passed for one in aggregates.analysis.probes}
    assert passed["j", "refusal"] is True
    assert passed["k", "refusal"] is False
    assert passed["j", "injected_refusal"] is True
    assert passed["k", "injected_refusal"] is False
    assert passed["j", "same_again"] is passed["k", "same_again"] is True
    assert verify(result.record).holds


def test_the_same_journal_gives_the_same_bytes(tmp_path: Path) -> None:
    make_set(tmp_path)
    with running(replying) as server:
        result = judged(tmp_path, server, probes=1)
    again = tmp_path / "again"
    again.mkdir()
    derive_protocol(result.record, again)
    for path in sorted(again.iterdir()):
        assert path.read_bytes() == (result.record.path / path.name).read_bytes(), path.name


def test_the_archive_of_a_run_is_that_of_its_record(tmp_path: Path) -> None:
    """P5: what a run writes at its end is written again from its files, whatever the order of judges and settings."""
    make_set(tmp_path)
    with running(replying) as server:
        judges = [
            {"model": f"openai/{name}@1", "base_url": server.base_url, "params": {"top_p": 1, "max_tokens": 99}}
            for name in ("k", "b", "j")
        ]
        result = judged(tmp_path, server, judges=judges, probes=1)
    found = list(rows(result))
    at_its_end = archive_of(result.derived.manifest, result.derived.aggregates, found, protocol_v1())
    write_archive(at_its_end, tmp_path / "archive")
    read = evaluator_named("judge_protocol@v1").read(result.record)
    assert (
        list(differences(archive_of(read.manifest, read.aggregates, found, protocol_v1()), tmp_path / "archive")) == []
    )


@pytest.mark.parametrize("name", ["samples.parquet", "aggregates.json", "manifest.json"])
def test_a_changed_byte_of_a_derived_file_is_named(tmp_path: Path, name: str) -> None:
    make_set(tmp_path)
    with running(replying) as server:
        record = judged(tmp_path, server).record
    data = bytearray((record.path / name).read_bytes())
    data[len(data) // 2] ^= 1
    (record.path / name).write_bytes(data)
    assert {finding.file for finding in verify(record).findings} == {name}


def test_a_changed_text_is_named(tmp_path: Path) -> None:
    make_set(tmp_path)
    with running(replying) as server:
        record = judged(tmp_path, server).record
    started = record.started()
    text = next(sha256 for name, sha256 in started.inputs.items() if name.startswith("text/"))
    record.input(text).write_bytes(record.input(text).read_bytes().replace(b"nine", b"five"))
    assert [finding.file for finding in verify(record).findings] == [f"inputs/{text}"]


@pytest.mark.parametrize(
    ("more", "says"),
    [
        pytest.param({"judges": []}, "judges: found none", id="no-judge"),
        pytest.param({"judges": [{"model": "nobody/x@1"}]}, r"judges\[0\].model: found provider 'nobody'", id="vendor"),
        pytest.param({"judges": [{"model": "recorded/x@1"}]}, "a judge that can be asked", id="recorded"),
        pytest.param({"judges": [{"model": "openai/x@1", "nam": "y"}]}, r"judges\[0\]|unknown field", id="misspelt"),
        pytest.param({"evidence": "maybe"}, "evidence", id="evidence"),
        pytest.param({"repeats": 0}, "repeats", id="repeats"),
        pytest.param({"max_cost_usd": "-1"}, "max_cost_usd: found -1", id="cost"),
        pytest.param({"same_model": {"a": "b", "b": "a"}}, "a circle", id="circle"),
        pytest.param({"prompts": "empty.jsonl"}, "none for question 'q0'", id="a-prompt-is-missing"),
        pytest.param({"set": "."}, "no evaluation set", id="no-set"),
    ],
)
def test_a_wrong_setting_is_named_and_nothing_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, more: dict[str, Any], says: str
) -> None:
    make_set(tmp_path)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty.jsonl").write_text("", encoding="utf-8")
    with running(replying) as server, pytest.raises(BenchbookError, match=says):
        judged(tmp_path, server, **more)
    assert not (tmp_path / "runs").exists()


def test_two_judges_of_one_name_are_refused(tmp_path: Path) -> None:
    make_set(tmp_path)
    with running(replying) as server, pytest.raises(ConfigError, match="'j' again"):
        judged(tmp_path, server, judges=[{"model": f"openai/j@{n}", "base_url": server.base_url} for n in (1, 2)])
