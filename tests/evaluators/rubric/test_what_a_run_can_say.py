"""What keeps a run from READY, and what its reader is warned of (SPEC R6, R7; the ledger of R4)."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from benchbook.ask.starting import RunResult
from benchbook.ask.work import run_async
from benchbook.evaluators.registry import resume_run
from benchbook.evaluators.verify import verify
from running import benchbook_here, options, run, write_items
from scripted_server import GOOD_VERDICT, OK_JUDGE, always_good, running


def verdict(accuracy: int, faithfulness: int) -> dict[str, Any]:
    scores = {"accuracy_score": accuracy, "faithfulness_score": faithfulness}
    return OK_JUDGE | {"content": json.dumps(GOOD_VERDICT | scores)}


def judged(folder: Path, pairs: list[tuple[int, int]], **settings: Any) -> RunResult:
    """A run whose judge gives these scores, one sample after the other."""

    def reply(role: str, n: int, request: dict[str, Any]) -> dict[str, Any]:
        return verdict(*pairs[n]) if role == "judge" else always_good(role, n, request)

    with running(reply) as server:
        return run(folder, server, len(pairs), max_connections=1, **settings)


def warnings(result: RunResult) -> list[str]:
    return result.derived.aggregates.warnings


def decision(result: RunResult) -> str | None:
    return result.derived.decision.decision if result.derived.decision is not None else None


# ── the judge ────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("pairs", "says"),
    [
        pytest.param(
            [(2, 2)] * 5, ["gave all 5 answers the same scores (accuracy 2, faithfulness 2)"], id="all-the-same"
        ),
        pytest.param([(0, 0)] * 6, ["gave all 6 answers the same scores (accuracy 0, faithfulness 0)"], id="all-bad"),
        pytest.param([(2, 2)] * 4, [], id="too-few-to-tell"),
        pytest.param([(2, 2)] * 5 + [(1, 1)], [], id="both-vary"),
        pytest.param([(2, 2), (1, 2)] * 3, ["gave all 6 answers the same faithfulness score (2)"], id="one-does-not"),
        pytest.param([(1, 2), (1, 1)] * 3, ["gave all 6 answers the same accuracy score (1)"], id="nor-the-other"),
    ],
)
def test_a_judge_whose_scores_do_not_vary_is_told(
    tmp_path: Path, pairs: list[tuple[int, int]], says: list[str]
) -> None:
    told = [warning for warning in warnings(judged(tmp_path, pairs)) if "gave all" in warning]
    assert len(told) == len(says)
    assert all(words in warning for words, warning in zip(says, told, strict=True))


def test_a_model_that_judges_itself_is_told(tmp_path: Path) -> None:
    with running(always_good) as server:
        result = run(tmp_path, server, 2, model="openai/m@1", judge="openai/m@1")
    assert "The judge is the model itself: models tend to favour their own answers." in warnings(result)


def test_answers_that_were_cut_are_told(tmp_path: Path) -> None:
    def cut(role: str, n: int, request: dict[str, Any]) -> dict[str, Any]:
        return always_good(role, n, request) | ({"finish_reason": "length"} if role == "candidate" else {})

    with running(cut) as server:
        assert "2 answers were cut by max_tokens, and judged so." in warnings(run(tmp_path, server, 2))


# ── nothing, or not all, was scored ──────────────────────────────────────────────────────────────────────


@pytest.mark.slow
@pytest.mark.parametrize(
    ("judge_says", "reason"),
    [
        pytest.param({"status": 200, "content": "no JSON"}, "parse_error:malformed_json", id="unreadable"),
        pytest.param({"status": 200, "content": "[1]"}, "parse_error:not_an_object", id="no-object"),
        pytest.param({"status": 200, "content": None}, "parse_error:empty_reply", id="silent"),
    ],
)
def test_a_run_in_which_nothing_was_scored_says_so_and_does_not_exit_0(
    tmp_path: Path, judge_says: dict[str, Any], reason: str
) -> None:
    write_items(tmp_path / "items.jsonl", 3)
    with running(lambda role, n, request: judge_says if role == "judge" else always_good(role, n, request)) as server:
        found = benchbook_here("run", *options(tmp_path, server), "--json")
    told = json.loads(found.stdout)
    assert found.returncode == 1
    assert told["aggregates"]["ledger"]["unscored_by_reason"] == {reason: 3}
    assert (told["aggregates"]["ledger"]["n_scored"], told["aggregates"]["aggregates"]["aggregate_score"]) == (0, None)
    assert "Nothing was scored: no number here says anything about the model." in told["aggregates"]["warnings"]
    assert told["decision"]["release_ready"] is False
    assert told["decision"]["decision"] == "INCONCLUSIVE"  # in the best case all would be 2 and 2 (R6.3)


def test_an_unscored_sample_is_in_the_ledger_and_decides_nothing_by_itself(tmp_path: Path) -> None:  # C5, R6.3
    def reply(role: str, n: int, request: dict[str, Any]) -> dict[str, Any]:
        if role == "judge" and n in (4, 5):  # a reply and its parse retry
            return OK_JUDGE | {"content": "no JSON"}
        return always_good(role, n, request)

    with running(reply) as server:
        result = run(tmp_path, server, 40, max_connections=1, confidence="none")
    ledger = result.derived.aggregates.ledger
    assert (ledger.n_planned, ledger.n_attempted, ledger.n_scored, ledger.n_unscored) == (40, 40, 39, 1)
    assert ledger.unscored_by_reason == {"parse_error:malformed_json": 1}
    assert any("1 of 40 samples has no score (parse_error:malformed_json 1)" in one for one in warnings(result))
    assert decision(result) == "READY"  # the gates hold though it be taken at 0 and 0


@pytest.mark.parametrize(
    ("candidate_says", "reason"),
    [
        pytest.param({"status": 200, "content": ""}, "empty", id="empty"),
        pytest.param({"status": 200, "content": " \n"}, "empty", id="white-space"),
        pytest.param(
            {"status": 200, "content": None, "finish_reason": "content_filter"}, "content_filter", id="filter"
        ),
    ],
)
def test_a_model_that_gives_no_answer_fails_without_a_judge(  # R1.3
    tmp_path: Path, candidate_says: dict[str, Any], reason: str
) -> None:
    with running(lambda role, n, request: OK_JUDGE if role == "judge" else candidate_says) as server:
        result = run(tmp_path, server, 3)
        assert server.asked["judge"] == []
    ledger = result.derived.aggregates.ledger
    assert (ledger.n_scored, ledger.n_no_answer, ledger.no_answer_by_reason) == (3, 3, {reason: 3})
    assert decision(result) == "NOT_READY"


# ── a run that is not whole ──────────────────────────────────────────────────────────────────────────────

DOLLAR = {"model_output_price": Decimal(500_000)}  # two output tokens an answer: a dollar a sample


@pytest.mark.parametrize("pairs", [[(2, 2)] * 12, [(0, 0)] * 12], ids=["all-good-so-far", "all-bad-so-far"])
def test_an_incomplete_run_is_inconclusive_whatever_it_found(tmp_path: Path, pairs: list[tuple[int, int]]) -> None:
    result = judged(tmp_path, pairs, max_cost_usd=Decimal(4), **DOLLAR)
    assert decision(result) == "INCONCLUSIVE"
    assert result.derived.decision is not None
    assert "incomplete: 4 of 12 samples, the run is interrupted" in result.derived.decision.reasons
    assert benchbook_here("gate", str(result.record.path)).returncode == 1
    assert benchbook_here("gate", str(result.record.path), "--by-rule").returncode == 1


def test_a_run_that_was_resumed_to_its_end_is_decided_like_any_other(tmp_path: Path) -> None:
    with running(always_good) as server:
        stopped = run(tmp_path, server, 12, max_connections=1, max_cost_usd=Decimal(4), **DOLLAR)
        resumed = run_async(resume_run(stopped.record, {"max_cost_usd": None, "confidence": "none"}))
    assert decision(resumed) == "READY"
    assert resumed.derived.manifest.state == "complete"


# ── another snapshot under way (R7.2) ────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("role", ["candidate", "judge"])
@pytest.mark.parametrize("told", ["model", "system_fingerprint"])
def test_a_snapshot_that_changes_is_told_and_makes_the_run_inconclusive(tmp_path: Path, role: str, told: str) -> None:
    """The n-th answer of that role, from the fourth on, comes from another snapshot."""

    def reply(who: str, n: int, request: dict[str, Any]) -> dict[str, Any]:
        content = OK_JUDGE["content"] if who == "judge" else "Seven."
        named = {"model": "m-2026-01-01", "system_fingerprint": "fp_1"}
        if who == role and n > 2:
            named[told] = {"model": "m-2026-02-02", "system_fingerprint": "fp_2"}[told]
        choice = {"message": {"content": content}, "finish_reason": "stop"}
        usage = {"prompt_tokens": 20, "completion_tokens": 2}
        return {"status": 200, "body": named | {"choices": [choice], "usage": usage}}

    with running(reply) as server:
        result = run(tmp_path, server, 6, max_connections=1)
    name = "model" if role == "candidate" else "judge"
    assert decision(result) == "INCONCLUSIVE"
    assert result.derived.decision is not None
    assert result.derived.decision.capped_by == (f"the {name}'s snapshot or fingerprint changed during the run",)
    (warning,) = (one for one in warnings(result) if one.startswith(f"The {name} changed during the run"))
    assert ("m-2026-02-02" if told == "model" else "fp_2") in warning
    assert verify(result.record).holds


# ── confidence (R6.4) ────────────────────────────────────────────────────────────────────────────────────


def test_eight_good_samples_do_not_hold_at_95_percent_and_the_record_says_what_was_asked(tmp_path: Path) -> None:
    result = judged(tmp_path, [(2, 2)] * 8, confidence=0.95)
    assert decision(result) == "INCONCLUSIVE"
    assert result.derived.decision is not None
    assert result.derived.decision.confidence == 0.95
    assert False in {gate.bound_holds for gate in result.derived.decision.gates}
    assert verify(result.record).holds


def test_a_confidence_that_is_asked_for_on_resuming_counts(tmp_path: Path) -> None:
    with running(always_good) as server:
        stopped = run(tmp_path, server, 8, max_connections=1, max_cost_usd=Decimal(4), **DOLLAR)
        resumed = run_async(resume_run(stopped.record, {"max_cost_usd": None, "confidence": 0.95}))
    assert resumed.derived.decision is not None
    assert resumed.derived.decision.confidence == 0.95
    assert decision(resumed) == "INCONCLUSIVE"
    assert verify(resumed.record).holds
