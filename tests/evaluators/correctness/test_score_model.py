"""`answer_correctness@v1` over a model that is asked: nobody judges, a stopped run resumes, and `verify` holds it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import benchbook as bb
from benchbook.ask.work import run_async
from benchbook.errors import UsageError
from benchbook.evaluators.registry import resume_run, start_run
from benchbook.evaluators.settings import RunConfig
from benchbook.evaluators.verify import verify
from benchbook.record.facts import Reply
from benchbook.record.journal import JournalWriter
from benchbook.record.reading import read_journal
from running import benchbook_here, write_items
from scored import scored
from scripted_server import ScriptedServer, running

USAGE = {"prompt_tokens": 11, "completion_tokens": 3}


def adds_one(role: str, n: int, request: dict[str, Any]) -> dict[str, Any]:
    """Right for even numbers, a sentence for odd ones."""
    del role, n
    number = int(request["messages"][0]["content"].split("What is ")[1].split(" ")[0])
    content = str(number + 1) if number % 2 == 0 else f"It is {number + 1}."
    return {"status": 200, "content": content, "usage": USAGE}


def config(folder: Path, server: ScriptedServer, items: int = 6, **settings: Any) -> RunConfig:
    values = {
        "spec": "answer_correctness@v1", "evalset": str(write_items(folder / "items.jsonl", items)),
        "model": "openai/m@2026-01-01", "model_base_url": server.base_url, "runs": str(folder / "runs"),
        "run_id": "run",
    }  # fmt: skip
    return RunConfig(**(values | settings))


def test_the_model_is_asked_and_nobody_judges(tmp_path: Path) -> None:
    with running(adds_one) as server:
        made = run_async(start_run(config(tmp_path, server)))
        assert (len(server.asked["candidate"]), server.asked["judge"]) == (6, [])
        assert server.asked["candidate"][0]["messages"][0]["content"].startswith("What is ")
    file, manifest = made.derived.aggregates, made.derived.manifest
    assert (file.n_correct, file.n_items, file.n_scored) == (3, 6, 6)
    assert file.misses["expected_inside_longer_text"] == 3
    assert (made.derived.decision.verdict, made.stop.reason) == ("pass", None)
    assert (manifest.prompt_template_id, manifest.model_version) == ("candidate_prompt@v1", "m-2026-01-01")
    assert manifest.generation_params["max_tokens"] == 1024
    rows = [json.loads(line) for line in (made.record.path / "samples.jsonl").read_bytes().splitlines()]
    assert {(row["input_tokens"], row["output_tokens"]) for row in rows} == {(11, 3)}
    assert all(row["eval_time_ms"] is not None for row in rows)
    assert verify(made.record).holds


def test_a_run_that_was_stopped_is_incomplete_until_it_is_resumed(tmp_path: Path) -> None:
    def breaks(role: str, n: int, request: dict[str, Any]) -> dict[str, Any]:
        return {"status": 401} if n >= 2 else adds_one(role, n, request)

    with running(breaks) as server:
        made = run_async(start_run(config(tmp_path, server, max_connections=1)))
    assert made.stop.reason is not None
    assert made.derived.decision.verdict == "incomplete"
    assert "2 of 6 items have a prediction" in str(made.derived.decision.reason)
    file = made.derived.aggregates
    assert (file.n_items, file.n_scored, file.n_skipped, file.n_unanswered) == (6, 2, 0, 4)
    assert (file.primary_score, file.n_correct) == (0.5, 1)  # of the two that were answered
    assert verify(made.record).holds
    with running(adds_one) as server:
        again = run_async(resume_run(made.record, {"model_base_url": server.base_url}))
        assert len(server.asked["candidate"]) == 4
    assert (again.derived.decision.verdict, again.derived.aggregates.n_correct) == ("pass", 3)
    assert verify(again.record).holds
    assert again.derived.manifest.state == "complete"


def test_what_was_not_answered_is_asked_again_or_given_up(tmp_path: Path) -> None:
    """R1.3b: from the command line, as a user has it."""

    def refuses(role: str, n: int, request: dict[str, Any]) -> dict[str, Any]:
        return {"status": 400} if "What is 3 " in request["messages"][0]["content"] else adds_one(role, n, request)

    with running(refuses) as server:
        evalset = str(write_items(tmp_path / "items.jsonl", 4))
        asks = ["--model", "openai/m@2026-01-01", "--model-base-url", server.base_url, "--run-id", "one"]
        words = ["--runs", str(tmp_path / "runs"), "--reports", "none"]
        made = benchbook_here("score", "--evalset", evalset, *asks, *words, "--json")
        found = json.loads(made.stdout)
        assert (made.returncode, found["decision"]["verdict"], found["manifest"]["state"]) == (
            3, "incomplete", "interrupted"
        )  # fmt: skip
        assert (found["aggregates"]["n_unanswered"], found["aggregates"]["primary_score"]) == (1, 0.666666667)
        ended = benchbook_here("score", "--resume", "one", "--accept-unanswered", *words, "--json")
        found = json.loads(ended.stdout)
    assert (ended.returncode, found["decision"]["verdict"], found["manifest"]["state"]) == (1, "fail", "complete")
    assert (found["aggregates"]["n_unanswered"], found["aggregates"]["primary_score"]) == (1, 0.5)
    assert found["aggregates"]["misses"]["unanswered"] == 1
    assert benchbook_here("verify", "one", "--runs", str(tmp_path / "runs")).returncode == 0


def test_a_request_that_is_not_the_plan_s_is_named(tmp_path: Path) -> None:
    with running(adds_one) as server:
        made = run_async(start_run(config(tmp_path, server, max_connections=1)))
    facts = [line.fact for line in read_journal(made.record.journal)]
    (made.record.journal / "000001.jsonl").unlink()
    with JournalWriter(made.record.journal) as writer:
        for fact in facts:
            if isinstance(fact, Reply) and fact.sample == 2:
                fact.request_sha256 = "0" * 64
            writer.append(fact)
    benchbook_here("rescore", str(made.record.path), "--reports", "none")
    (found,) = verify(made.record).findings
    assert "sample 2: inputs and template render to another request" in found.what


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        pytest.param({"judge": "openai/j@2026-01-01"}, "judge: found", id="a-judge"),
        pytest.param({"repeats": 3}, "repeats: found", id="repeats"),
        pytest.param({"model": "recorded/m@1"}, "a model that can be asked", id="recorded"),
        pytest.param({"model": "nobody/m@1"}, "model: found provider 'nobody'", id="no-provider"),
    ],
)
def test_settings_without_a_meaning_here_are_refused(settings: dict[str, Any], says: str, tmp_path: Path) -> None:
    with running(adds_one) as server, pytest.raises(UsageError, match=says):
        run_async(start_run(config(tmp_path, server, **settings)))
    assert not (tmp_path / "runs").exists()


def test_each_command_resumes_its_own(tmp_path: Path) -> None:
    record = scored(tmp_path).record
    with pytest.raises(UsageError, match="there is nothing to resume"):
        run_async(resume_run(record))
    found = benchbook_here("run", "--resume", str(record.path))
    assert found.returncode == 2
    assert b"`benchbook score --resume` goes on with it" in found.stderr


def test_the_command_line_and_python_ask_too(tmp_path: Path) -> None:
    with running(adds_one) as server:
        evalset = write_items(tmp_path / "items.jsonl", 4)
        words = ["--model", "openai/m@2026-01-01", "--model-base-url", server.base_url, "--max-connections", "2"]
        made = benchbook_here(
            "score", "answer_correctness@v1", "--evalset", str(evalset), *words, "--out", str(tmp_path / "runs"),
            "--run-id", "asked", "--reports", "none",
        )  # fmt: skip
        assert made.returncode == 0, made.stderr
        assert b"2 of 4 items correct" in made.stdout
        again = benchbook_here("score", "--resume", str(tmp_path / "runs" / "asked"), "--reports", "none", "--json")
        assert json.loads(again.stdout)["aggregates"]["n_correct"] == 2
        run = bb.score(evalset, model="openai/m@2026-01-01", model_base_url=server.base_url, runs=tmp_path / "runs")
    assert (run.aggregates.n_correct, run.stopped) == (2, None)
    assert verify(run.record).holds


@pytest.mark.parametrize(
    ("words", "says"),
    [
        pytest.param(["--evalset", "e.jsonl"], b"--predictions: found nothing", id="nothing-to-score"),
        pytest.param([], b"--evalset: found nothing", id="no-evalset"),
        pytest.param(
            ["--evalset", "e", "--model", "openai/m@1", "--columns", "predicted=x"], b"--columns: only", id="columns"
        ),
        pytest.param(
            ["--evalset", "e", "--predictions", "p", "--max-retries", "2"], b"--max-retries: nobody is asked", id="both"
        ),
        pytest.param(["--resume", "r", "--model", "openai/m@1"], b"--model: --resume takes it", id="resume-changes"),
    ],
)
def test_words_that_do_not_go_together_end_with_2(words: list[str], says: bytes, tmp_path: Path) -> None:
    made = benchbook_here("score", "answer_correctness@v1", *words, cwd=tmp_path)
    assert (made.returncode, says in made.stderr) == (2, True), made.stderr
