"""The answers of one run under another evaluator: nobody is asked, and what was not answered is no wrong answer."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import benchbook as bb
from benchbook.errors import ConfigError, InputError, UsageError
from benchbook.exchange.importing import Wanted, import_log
from benchbook.exchange.log import LogFailure, LogScore, LogScorer
from labelled import judged_run
from made_logs import Made, sample
from outages import number_of
from own_scorers import near
from running import benchbook_here, write_items
from scored import scored, write_lines
from scripted_server import Reply, running


@pytest.fixture
def script(tmp_path: Path) -> str:
    """A judge that gives every answer 2 and 1."""
    verdict = json.dumps({"accuracy_score": 2, "faithfulness_score": 1, "rationale": "So it is."})
    (tmp_path / "judge.json").write_text(json.dumps({"replies": [{"contains": "", "text": verdict}]}), encoding="utf-8")
    return str(tmp_path / "judge.json")


def scores(run: Any) -> dict[str, Any]:
    return dict(run.samples.select("item_id", "score").iter_rows())


def test_answers_are_scored_under_another_evaluator(tmp_path: Path) -> None:
    first = scored(tmp_path).record
    second = bb.score(spec="contains@v1", run=first.path, runs=tmp_path / "runs", run_id="again")
    # Whole answers, by `answer_correctness@v1`, and now the expected words anywhere: "It is 2." has a 2.
    assert scores(second) == {"a": 1.0, "b": 1.0, "c": 1.0, "d": 0.0, "e": 0.0}
    assert second.manifest.dataset_version_or_hash == bb.load(first.path).manifest.dataset_version_or_hash
    assert second.manifest.dataset_id == "items"
    assert second.manifest.model_id == "recorded/predictions"
    assert dict(second.samples.select("item_id", "eval_time_ms").iter_rows())["b"] == 12
    sha256 = bb.load(first.path).manifest.journal_sha256
    assert second.manifest.config["predictions"].endswith(f"answers-of-run-{sha256}.jsonl")
    assert second.verify().holds


def test_a_function_scores_a_run(tmp_path: Path) -> None:
    items = [{"id": "a", "prompt": "1 + 1?", "expected_answer": "2"}]
    first = bb.score(items, [{"item_id": "a", "predicted": "3"}], runs=tmp_path, run_id="first")
    assert scores(bb.score(near, run=first, runs=tmp_path, run_id="second")) == {"a": 0.5}


def _failing_second(role: str, n: int, request: dict[str, Any]) -> Reply:
    del role, n
    if number_of(request) == 1:
        return {"status": 503}
    return {"status": 200, "content": "1", "usage": {"prompt_tokens": 7, "completion_tokens": 2}}


@pytest.fixture
def with_a_gap(tmp_path: Path) -> Path:
    """A run of three items, the second of which was not answered."""
    write_items(tmp_path / "items.jsonl", 3)
    with running(_failing_second) as server:
        run = bb.score(
            tmp_path / "items.jsonl", model="openai/m@2026-01-01", model_base_url=server.base_url,
            runs=tmp_path / "runs", run_id="gap", max_retries=0,
        )  # fmt: skip
    return run.path


def test_what_was_not_answered_is_left_out_and_said(with_a_gap: Path, tmp_path: Path) -> None:
    words = ("score", "contains@v1", "--from", "gap", "--run-id", "again", "--reports", "none")
    done = benchbook_here(*words, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stderr.decode().startswith("1 sample of the run was not answered, and is left out\n")
    found = bb.load(tmp_path / "runs" / "again")
    assert scores(found) == {"i0": 1.0, "i2": 0.0}
    assert found.manifest.model_id == "openai/m@2026-01-01"
    assert found.manifest.part.words == "2 of 3 items: --ids answered-in-gap.jsonl"
    del with_a_gap


def test_a_judge_has_it_unanswered(with_a_gap: Path, tmp_path: Path, script: str) -> None:
    run = bb.run(run=with_a_gap, judge="scripted/j@1", judge_path=script, runs=str(tmp_path / "runs"), run_id="judged")
    assert run.manifest.model_id == "recorded/m@2026-01-01"
    assert run.aggregates.ledger.n_unanswered == 1
    assert run.samples["candidate_answer"].to_list() == ["1", None, "1"]
    assert run.samples["accuracy_score"].to_list() == [2, None, 2]
    assert run.samples["output_tokens"].to_list() == [2, None, 2]
    assert run.manifest.unmeasured == []
    assert run.verify().holds


def test_a_judge_scores_every_repeat(tmp_path: Path, script: str) -> None:
    first = judged_run(tmp_path / "first", [(2, 2), (1, 1)], repeats=2)
    words = ("run", "--from", str(first.path), "--judge", "scripted/j@1", "--judge-path", script, "--run-id", "again")
    done = benchbook_here(*words, "--reports", "none", "--quiet", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    run = bb.load(tmp_path / "runs" / "again")
    assert run.samples["faithfulness_score"].to_list() == [1, 1, 1, 1]
    assert run.samples["repeat"].to_list() == [0, 0, 1, 1]
    assert (run.manifest.model_id, run.manifest.unmeasured) == ("recorded/m@1", [])


def test_of_repeats_one_is_named(tmp_path: Path) -> None:
    first = judged_run(tmp_path, [(2, 2), (1, 1)], repeats=2)
    with pytest.raises(ConfigError, match="expected 0 to 1"):
        bb.score(run=first.path, runs=tmp_path / "runs")
    with pytest.raises(ConfigError, match="expected 0 to 1"):
        bb.score(run=first.path, repeat=2, runs=tmp_path / "runs")
    run = bb.score(run=first.path, repeat=1, runs=tmp_path / "runs", run_id="second")
    assert run.samples["predicted"].to_list() == ["Answer 000.", "Answer 001."]


def test_an_imported_log_is_scored_under_an_evaluator_of_ours(tmp_path: Path, script: str) -> None:
    samples = [
        sample(id="a", references=("2",), answer="It is 2.", scores={"match": LogScore(value=0.0)}),
        sample(id="b", references=("3",), answer=None, failure=LogFailure(message="HTTP 500")),
        sample(id="c", references=("4",), answer="four", scores={"match": LogScore(value=1.0)}),
    ]
    log = Made(samples, scorers=(LogScorer(name="match"),), model="acme/m@2")
    first = import_log(log, Wanted(runs=str(tmp_path), run_id="imported")).record
    run = bb.score(spec="contains@v1", run=first.path, runs=tmp_path, run_id="ours")
    assert scores(run) == {"a": 1.0, "c": 0.0}
    assert run.manifest.model_id == bb.load(first.path).manifest.model_id
    judged = bb.run(run=first.path, judge="scripted/j@1", judge_path=script, runs=str(tmp_path), run_id="judged")
    assert judged.manifest.unmeasured == ["latency", "tokens"]
    assert judged.samples["accuracy_score"].to_list() == [2, None, 2]


def test_a_part_stays_that_part(tmp_path: Path) -> None:
    first = scored(tmp_path, limit=2).record
    run = bb.score(spec="contains@v1", run=first.path, runs=tmp_path / "runs", run_id="again")
    assert scores(run) == {"a": 1.0, "b": 1.0}


def test_items_that_lack_what_is_needed_are_named_in_the_record(tmp_path: Path) -> None:
    first = scored(tmp_path).record
    kept = first.input(first.started().inputs["evalset"])
    with pytest.raises(InputError, match=f"inputs/{kept.name}:2: expected_answer"):
        bb.score(spec="number@v1", run=first.path, runs=tmp_path / "runs")
    assert [one.name for one in (tmp_path / "runs").iterdir()] == ["run"]


def test_what_a_run_has_can_not_be_said_otherwise(tmp_path: Path, script: str) -> None:
    first = scored(tmp_path).record
    write_lines(tmp_path / "other.jsonl", [{"id": "a", "prompt": "b", "expected_answer": "c"}])
    for words, said in (
        (("score", "--from", "run", "--evalset", "other.jsonl"), "--evalset: --from takes"),
        (("score", "--from", "run", "--max-retries", "1"), "--max-retries: nobody is asked"),
        (("score", "--evalset", "other.jsonl", "--repeat", "1"), "--repeat: only with --from"),
        (("run", "--from", "run", "--judge", "scripted/j@1", "--evalset", "other.jsonl"), "evalset: found"),
        (("run", "--from", "run", "--judge", "scripted/j@1"), "expected recorded/predictions@VERSION"),
        (("run", "--from", "run", "--resume", "run"), "--from begins a run"),
        (("score", "--from", "nowhere"), "not a record"),
    ):
        done = benchbook_here(*words, cwd=tmp_path)
        assert done.returncode == 2
        assert said in done.stderr.decode()
    with pytest.raises(UsageError, match="evalset: the answers"):
        bb.score("other.jsonl", run=first.path)
    with pytest.raises(UsageError, match="max_retries: the answers"):
        bb.score(run=first.path, max_retries=2)
    with pytest.raises(UsageError, match="repeat: only with run"):
        bb.score(tmp_path / "other.jsonl", [], repeat=0)
    named = bb.run(
        run=first.path, model="recorded/mine@1", judge="scripted/j@1", judge_path=script,
        runs=str(tmp_path / "runs"), run_id="named",
    )  # fmt: skip
    assert named.manifest.model_id == "recorded/mine@1"


def test_nothing_was_answered(tmp_path: Path) -> None:
    failed = [sample(answer=None, failure=LogFailure(message="HTTP 500"))]
    first = import_log(Made(failed, scorers=()), Wanted(runs=str(tmp_path), run_id="imported")).record
    with pytest.raises(UsageError, match="none of its samples was answered"):
        bb.score(run=first.path, runs=tmp_path)
