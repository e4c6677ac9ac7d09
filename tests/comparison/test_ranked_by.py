"""Runs ranked by another number than their score: passes, contained answers, a criterion."""

from __future__ import annotations

import polars as pl
import pytest

from benchbook.comparison.contenders import rank_metrics
from benchbook.comparison.items import ComparedRun
from benchbook.comparison.leaderboard import leaderboard
from benchbook.errors import UsageError
from benchbook.views.several_runs import leaderboard_table, with_titles
from compared import answer, answers, run_of


def judged(name: str, accuracy: list[int | None], faithfulness: list[int]) -> ComparedRun:
    n = len(accuracy)
    frame = pl.DataFrame({
        "sample": range(n), "item_id": [f"i{place}" for place in range(n)], "prompt": ["P?"] * n, "expected": ["y"] * n,
        "candidate_answer": ["y"] * n, "sample_score": [0.5] * n, "passed": [one == 2 for one in accuracy],
        "accuracy_score": accuracy, "faithfulness_score": faithfulness, "latency_e2e_ms": [100] * n,
        "total_tokens": [10] * n,
    }, schema_overrides={"accuracy_score": pl.Int64})  # fmt: skip
    return run_of(name, frame, "rubric@v1")


RUNS = [judged("a", [2] * 30, [0] * 30), judged("b", [1] * 20 + [2] * 9 + [None], [2] * 30)]


def test_the_order_is_that_of_the_number_asked_for_in_its_own_unit() -> None:
    """Of accuracy one item has no score in b: both are ranked over the other 29."""
    by = {name: leaderboard(RUNS, metric=name) for name in ("score", "passing", "accuracy_score", "faithfulness_score")}
    assert [[(one.run, one.score, one.rank) for one in found.places] for found in by.values()] == [
        [("a", 0.5, 1), ("b", 0.5, 1)],
        [("a", 1.0, 1), ("b", 0.3, 2)],
        [("a", 2.0, 1), ("b", round(38 / 29, 9), 2)],
        [("b", 2.0, 1), ("a", 0.0, 2)],
    ]
    assert [(found.n_items, found.n_left_out) for found in by.values()] == [(30, 0), (30, 0), (29, 1), (30, 0)]
    assert [found.best for found in by.values()] == ["several", "one", "one", "one"]
    assert by["faithfulness_score"].places[1].note == "no item scores above 0"


def test_what_has_no_upper_end_is_no_number_to_rank_by() -> None:
    names = [one.name for one in rank_metrics(RUNS[0])]
    assert names == ["score", "passing", "accuracy_score", "faithfulness_score"]
    with pytest.raises(
        UsageError, match="latency_e2e_ms: no metric that these runs can be ranked by; expected score, pa"
    ):
        leaderboard(RUNS, metric="latency_e2e_ms")


def test_contained_answers_are_a_diagnosis_that_runs_can_be_ranked_by() -> None:
    said = ("yes", "it is yes", "no", "no")
    runs = [answers("a", *(answer(f"i{n}", one) for n, one in enumerate(said))),
            answers("b", *(answer(f"i{n}", "no") for n in range(4)))]  # fmt: skip
    found = leaderboard(runs, metric="contained")
    assert [(one.run, one.score) for one in found.places] == [("a", 0.5), ("b", 0.0)]


def test_the_table_names_it() -> None:
    found = with_titles(leaderboard(RUNS, metric="accuracy_score"))
    assert [one.title for one in found.metrics] == [
        "Score",
        "Items that pass",
        "Accuracy, 0 to 2",
        "Faithfulness, 0 to 2",
    ]
    assert [column.name for column in leaderboard_table(found).columns][3] == "Accuracy, 0 to 2"
