"""Repeats within one experiment: mean, standard deviation, agreement (SPEC R7.3, C3, C4); what was not measured (R1.4).

Recorded outputs, so that every latency is known, and a judge that scores each answer by its own words.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from benchbook.ask.starting import RunResult
from benchbook.evaluators.rubric.rows import RubricRow
from benchbook.evaluators.verify import verify
from benchbook.record.tables import read_rows
from rubric_v1 import ROW
from running import run
from scripted_server import OK_JUDGE, running


def judge(role: str, n: int, request: dict[str, Any]) -> dict[str, Any]:
    """Scores an answer `2 1 …` with accuracy 2 and faithfulness 1; one that begins with `?` not at all."""
    assert role == "judge"
    answer = request["messages"][0]["content"].split("CANDIDATE_ANSWER:")[-1].split("says: ")[1]
    if answer[0] == "?":
        return OK_JUDGE | {"content": "I would rather not."}
    scores = f'"accuracy_score": {answer[0]}, "faithfulness_score": {answer[2]}'
    return OK_JUDGE | {"content": f'{{{scores}, "rationale": "So."}}'}


def recorded(folder: Path, outputs: list[dict[str, Any]], items: int, **settings: Any) -> RunResult:
    path = folder / "outputs.jsonl"
    path.write_text("".join(json.dumps(output) + "\n" for output in outputs), encoding="utf-8")
    with running(judge) as server:
        values = {"model": "recorded/m@1", "model_base_url": None, "outputs": str(path), "max_connections": 1}
        return run(folder, server, items, **(values | settings))


def output(item: int, repeat: int, says: str, latency_ms: int | None = 100, **more: Any) -> dict[str, Any]:
    counts = {"latency_ms": latency_ms, "input_tokens": 10, "output_tokens": 10} | more
    return {"id": f"i{item}", "repeat": repeat, "output": f"says: {says}"} | counts


def rows(result: RunResult) -> list[RubricRow]:
    return list(read_rows(result.record.samples, ROW))


def summary(result: RunResult, aggregate: str) -> tuple[list[float | None], float | None, float | None]:
    (found,) = [one for one in result.derived.aggregates.repeats if one.aggregate == aggregate]
    return found.per_repeat, found.mean, found.sd


# ── mean and standard deviation ──────────────────────────────────────────────────────────────────────────

TWO_BY_THREE = [
    output(0, 0, "2 2", 100), output(1, 0, "2 2", 200),
    output(0, 1, "1 1", 200), output(1, 1, "1 1", 300),
    output(0, 2, "0 0", 300), output(1, 2, "0 0", 500),
]  # fmt: skip


def test_mean_and_sd_of_the_score(tmp_path: Path) -> None:
    """0.45 a/2 + 0.30 f/2 + 0.15 + 0.10: the repeats score 1, 0.625 and 0.25."""
    assert summary(recorded(tmp_path, TWO_BY_THREE, 2, repeats=3), "aggregate_score") == (
        [1.0, 0.625, 0.25], 0.625, 0.375
    )  # fmt: skip


def test_mean_and_sd_of_the_95th_percentile_of_latency(tmp_path: Path) -> None:
    """Type 7 over two values is low + 0.95 (high - low): 195, 295, 490. Mean 980/3, sd the root of 135050/6."""
    assert summary(recorded(tmp_path, TWO_BY_THREE, 2, repeats=3), "latency_e2e_p95_ms") == (
        [195.0, 295.0, 490.0], 326.666666667, 150.027775206
    )  # fmt: skip


def test_the_whole_experiments_percentile_is_over_all_samples(tmp_path: Path) -> None:
    """100, 200, 200, 300, 300, 500: rank 1 + 0.95 * 5 = 5.75, so 300 + 0.75 * 200."""
    found = recorded(tmp_path, TWO_BY_THREE, 2, repeats=3).derived.aggregates.aggregates
    assert (found.latency_e2e_p50_ms, found.latency_e2e_p95_ms) == (250.0, 450.0)


def test_one_repeat_has_no_sd_and_no_agreement(tmp_path: Path) -> None:  # C4
    result = recorded(tmp_path, TWO_BY_THREE[:2], 2, repeats=1)
    assert summary(result, "aggregate_score") == ([1.0], 1.0, None)
    assert result.derived.aggregates.item_agreement is None


def test_a_repeat_in_which_nothing_was_scored_is_null_and_left_out(tmp_path: Path) -> None:  # C5
    outputs = [output(0, 0, "2 2"), output(0, 1, "? ?"), output(0, 2, "1 1")]
    result = recorded(tmp_path, outputs, 1, repeats=3)
    assert summary(result, "aggregate_score") == ([1.0, None, 0.625], 0.8125, 0.265165043)  # sd = 0.375 / sqrt 2


# ── agreement ────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("said", "n_items", "same_answer", "same_scores", "same_passed"),
    [
        pytest.param(["2 2", "2 2", "2 2"], 1, 1, 1, 1, id="all-the-same"),
        pytest.param(["2 2 a", "2 2 b", "2 2 a"], 1, 0, 1, 1, id="another-text"),
        pytest.param(["2 2", "1 1", "2 2"], 1, 0, 0, 1, id="other-scores-that-pass"),
        pytest.param(["2 2", "0 2", "2 2"], 1, 0, 0, 0, id="one-that-fails"),
        pytest.param(["2 2", "2 2", "2 1"], 1, 0, 0, 1, id="the-last-differs"),
        pytest.param(["0 0", "0 0", "0 0"], 1, 1, 1, 1, id="alike-in-failing"),
        pytest.param(["2 2", "? ?", "2 2"], 1, 1, 1, 1, id="an-unscored-one-is-left-out"),
        pytest.param(["2 2", "? ?", "? ?"], 0, 0, 0, 0, id="one-scored-repeat-agrees-with-nothing"),
        pytest.param(["? ?", "? ?", "? ?"], 0, 0, 0, 0, id="none-scored"),
    ],
)
def test_repeats_of_an_item_agree(
    tmp_path: Path, said: list[str], n_items: int, same_answer: int, same_scores: int, same_passed: int
) -> None:
    outputs = [output(0, repeat, says) for repeat, says in enumerate(said)]
    found = recorded(tmp_path, outputs, 1, repeats=3).derived.aggregates.item_agreement
    assert found is not None
    assert (found.n_items, found.same_answer, found.same_scores, found.same_passed) == (
        n_items, same_answer, same_scores, same_passed
    )  # fmt: skip


def test_items_that_agree_are_counted(tmp_path: Path) -> None:
    outputs = [output(item, repeat, says) for item, repeat, says in (
        (0, 0, "2 2"), (1, 0, "2 2"), (2, 0, "2 2 x"), (0, 1, "2 2"), (1, 1, "0 0"), (2, 1, "2 2 y")
    )]  # fmt: skip
    found = recorded(tmp_path, outputs, 3, repeats=2).derived.aggregates.item_agreement
    assert found is not None
    assert (found.n_items, found.same_answer, found.same_scores, found.same_passed) == (3, 1, 2, 2)


# ── not measured (R1.4) ──────────────────────────────────────────────────────────────────────────────────

NOTHING = {"input_tokens": None, "output_tokens": None}


def test_what_was_not_measured_is_not_met(tmp_path: Path) -> None:
    result = recorded(tmp_path, [output(0, 0, "2 2", None, **NOTHING)], 1)
    (row,) = rows(result)
    assert (row.passed, row.fail_reasons) == (False, ["latency_unmeasured", "tokens_unmeasured"])
    assert (row.latency_e2e_ms, row.total_tokens, row.latency_norm) == (None, None, None)
    assert row.sample_score == 0.75  # R5.2: what is null adds nothing
    assert result.derived.decision is not None
    assert result.derived.decision.decision == "INCONCLUSIVE"  # one sample shows nothing, neither way (R6.4)
    assert {gate.aggregate: gate.holds for gate in result.derived.decision.gates}["latency_e2e_p95_ms"] is False


@pytest.mark.parametrize(
    ("unmeasured", "says", "fail_reasons", "sample_score"),
    [
        pytest.param(("latency", "tokens"), "2 2", [], 1.0, id="both"),
        pytest.param(("latency", "tokens"), "1 2", [], 0.7, id="both-half-right"),  # (0.225 + 0.30) / 0.75
        pytest.param(("tokens",), "2 2", ["latency_unmeasured"], 0.833333333, id="tokens"),  # 0.75 / 0.90
        pytest.param(("latency",), "2 2", ["tokens_unmeasured"], 0.882352941, id="latency"),  # 0.75 / 0.85
    ],
)
def test_what_is_declared_unmeasured_is_left_out_and_its_weight_shared(
    tmp_path: Path, unmeasured: tuple[str, ...], says: str, fail_reasons: list[str], sample_score: float
) -> None:
    result = recorded(tmp_path, [output(0, 0, says, None, **NOTHING)], 1, unmeasured=unmeasured)
    (row,) = rows(result)
    assert (row.fail_reasons, row.sample_score) == (fail_reasons, sample_score)
    assert result.derived.manifest.unmeasured == sorted(unmeasured)
    assert verify(result.record).holds


def test_with_something_unmeasured_the_decision_is_inconclusive_at_best(tmp_path: Path) -> None:
    outputs = [output(item, 0, "2 2", None, **NOTHING) for item in range(8)]
    decision = recorded(tmp_path, outputs, 8, unmeasured=("latency", "tokens")).derived.decision
    assert decision is not None
    assert (decision.decision, decision.release_ready) == ("INCONCLUSIVE", False)
    assert decision.reasons[:2] == ("latency was declared unmeasured", "tokens was declared unmeasured")
    assert decision.caps == ("unmeasured", "unmeasured")


def test_with_something_unmeasured_bad_answers_are_not_ready_all_the_same(tmp_path: Path) -> None:
    outputs = [output(item, 0, "0 0", None, **NOTHING) for item in range(8)]
    decision = recorded(tmp_path, outputs, 8, unmeasured=("latency", "tokens")).derived.decision
    assert decision is not None
    assert decision.decision == "NOT_READY"


def test_what_was_measured_here_and_there_counts_where_it_was(tmp_path: Path) -> None:  # C5
    outputs = [output(0, 0, "2 2", 100), output(1, 0, "2 2", None, **NOTHING), output(2, 0, "2 2", 300)]
    found = recorded(tmp_path, outputs, 3).derived.aggregates.aggregates
    assert found.latency_e2e_p50_ms == 200.0
    assert found.total_tokens == 40
    assert found.pass_rate == pytest.approx(2 / 3)
