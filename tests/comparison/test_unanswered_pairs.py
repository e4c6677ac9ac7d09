"""What a run was not given an answer to is a pair that is missing, never a loss (SPEC R1.3a)."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

from benchbook.comparison.compared import compare
from benchbook.comparison.items import ComparedRun, UnansweredItems
from benchbook.comparison.leaderboard import history, leaderboard
from benchbook.comparison.regressions import check_regressions
from benchbook.views.comparison_tables import classes_table, first_line, notices
from compared import answer, answers, marks, run_of, scores, unanswered


def before(name: str, *rows: dict[str, Any]) -> ComparedRun:
    """A `rubric@v1` run as it was recorded before derivation 3: what was not answered is accuracy 0."""
    whole = [
        {
            "sample": place, "repeat": 0, "item_id": f"i{place}", "prompt": f"Prompt of i{place}?", "expected": "yes",
            "candidate_answer": None, "sample_score": 0.25, "passed": False, "accuracy_score": 0,
            "score_origin": "rule:no_answer", "answer_seq": None, "error_detail": None, "timed_out": False,
        } | row
        for place, row in enumerate(rows)
    ]  # fmt: skip
    schema = {
        "sample": pl.Int64, "repeat": pl.Int64, "item_id": pl.String, "prompt": pl.String, "expected": pl.String,
        "candidate_answer": pl.String, "sample_score": pl.Float64, "passed": pl.Boolean, "accuracy_score": pl.Int64,
        "score_origin": pl.String, "answer_seq": pl.Int64, "error_detail": pl.String, "timed_out": pl.Boolean,
    }  # fmt: skip
    return run_of(name, pl.DataFrame(whole, schema), "rubric@v1")


ANSWERED = {"candidate_answer": "yes", "sample_score": 1.0, "passed": True, "accuracy_score": 2, "answer_seq": 7,
            "score_origin": "judge"}  # fmt: skip


@pytest.mark.parametrize(
    ("row", "lacks"),
    [
        pytest.param(ANSWERED, False, id="answered"),
        pytest.param({"error_detail": "connection refused"}, True, id="the-provider-failed"),
        pytest.param({"error_detail": "no answer in 60 s", "timed_out": True}, False, id="time-limit"),
        pytest.param({"answer_seq": 9}, False, id="empty-text"),
        pytest.param({"answer_seq": 9, "error_detail": "x"}, False, id="a-reply-is-there"),
    ],
)
def test_a_row_of_before_derivation_3(row: dict[str, Any], lacks: bool) -> None:
    run = before("a", row)
    assert run.items.select("n_scored", "n_unanswered", "unanswered_why").row(0) == (
        (0, 1, "provider_error") if lacks else (1, 0, None)
    )


@pytest.mark.parametrize(
    ("row", "manifest", "why"),
    [
        pytest.param(answer("i", None, error="provider_error"), {}, "provider_error", id="provider-error"),
        pytest.param(answer("i", None, error="provider_error", correctness=None), {}, "provider_error", id="null"),
        pytest.param(answer("i", None, error="timeout"), {}, None, id="time-limit"),
        pytest.param(answer("i", None), {}, None, id="missing-prediction-is-0"),
        pytest.param(answer("i", None), {"state": "interrupted"}, "not asked", id="not-asked-yet"),
        pytest.param(
            answer("i", None, error="connection") | {"miss_reason": "unanswered"}, {}, "connection", id="given-up"
        ),
        pytest.param(
            answer("i", None, error="provider_error"), {"run_status": "crashed"}, None, id="the-run-itself-failed"
        ),
        pytest.param(answer("i", "no", error="provider_error"), {}, None, id="there-is-a-prediction"),
    ],
)
def test_a_row_of_answer_correctness(row: dict[str, Any], manifest: dict[str, str], why: str | None) -> None:
    assert answers("a", row, **manifest).items["unanswered_why"].item() == why


def test_an_outage_is_no_regression() -> None:
    """Forty items, of which the server answered twelve: nothing is lost, and everybody says what is missing."""
    a, b = unanswered("a", [1.0] * 40), unanswered("b", [1.0] * 12 + [None] * 28, state="interrupted")
    assert b.unanswered == UnansweredItems(n_items=28, n_samples=28, why=("provider_error",))
    found = compare(a, b, margin=0.05)
    assert (found.counts["regressed"], found.score.n, found.score.verdict) == (0, 12, "same")
    assert (found.n_unanswered_a, found.n_unanswered_b, found.n_changed) == (0, 28, 0)
    assert first_line(found) == "12 items compared, 28 left out (28 not answered in B)."
    assert "28 of 40 items of B were not answered (provider_error): left out, not lost." in notices(found)
    assert ("Only in A (28 not answered in B)", 28) in classes_table(found).rows
    gate = check_regressions(found)
    assert (gate.outcome, len(gate.unanswered)) == ("not_complete", 28)
    assert gate.reasons == (
        "the run is not complete: it is interrupted",
        "28 items of the baseline were not answered here (provider_error): missing, not regressed",
    )
    board = leaderboard([a, b])
    assert [(one.run, one.rank, one.standing) for one in board.places] == [("a", 1, "alone")]
    assert [(one.run, one.reason) for one in board.apart] == [("b", "not complete: it is interrupted")]
    ended = leaderboard([a, unanswered("b", [1.0] * 12 + [None] * 28)])
    assert [(one.run, one.rank, one.standing) for one in ended.places] == [
        ("a", 1, "among_best"), ("b", 1, "among_best"),
    ]  # fmt: skip
    assert ended.places[1].note == "28 of 40 items not answered (provider_error)"
    assert history([a, b, a]).n_left_out == 28


def test_a_run_that_the_user_ended_as_it_is_can_not_pass_either() -> None:
    found = check_regressions(compare(unanswered("a", [1.0] * 40), unanswered("b", [1.0] * 39 + [None]), margin=0.05))
    assert (found.outcome, found.missing, found.unanswered) == ("undecided", ("i39",), ("i39",))


def test_both_ways() -> None:
    """What neither was answered counts for both; what the baseline was not answered is in the run alone."""
    a, b = unanswered("a", [None, None, 1.0]), unanswered("b", [None, 1.0, 1.0])
    found = compare(a, b)
    assert (found.n_compared, found.n_unanswered_a, found.n_unanswered_b, found.n_unscored) == (1, 2, 1, 1)
    assert first_line(found) == "1 item compared, 2 left out (1 not answered in A, 1 without a score in any run)."
    assert check_regressions(found).outcome == "holds"


def test_an_item_is_missing_where_no_repeat_was_answered() -> None:
    rows = [answer("i", "yes"), answer("i", None, error="provider_error", repeat=1), answer("j", "no"),
            answer("j", "yes", repeat=1)]  # fmt: skip
    run = answers("a", *rows)
    assert run.items.select("item_id", "n_scored", "n_correct", "correct").rows() == [
        ("i", 1, 1, True), ("j", 2, 1, False)
    ]  # fmt: skip
    assert run.unanswered == UnansweredItems(n_items=0, n_samples=1, why=("provider_error",))
    assert any("1 repeat of items of B not answered" in one for one in notices(compare(marks("b", "11"), run)))


def test_a_run_that_failed_stands_apart_and_takes_no_item_from_the_others() -> None:
    runs = [
        marks("a", "1110"), answers("b", answer("i0", None), run_status="crashed"),
        answers("c", *(answer(f"i{n}", None, error="provider_error") for n in range(4))), marks("d", "1100"),
    ]  # fmt: skip
    found = leaderboard(runs)
    assert ([one.run for one in found.places], found.n_items) == (["a", "d"], 4)
    assert [(one.run, one.reason) for one in found.apart] == [
        ("b", "the run itself failed: crashed"), ("c", "nothing was answered (provider_error)"),
    ]  # fmt: skip
    nobody = leaderboard([runs[1], runs[2]])
    assert (nobody.places, len(nobody.apart), nobody.reason) == ((), 2, "no_data")


def test_rubric_runs_are_compared_by_what_else_they_measured() -> None:
    def run(name: str, tokens: int, latency: int) -> ComparedRun:
        frame = pl.DataFrame({
            "sample": range(12), "item_id": [f"i{n}" for n in range(12)], "prompt": ["P?"] * 12, "expected": ["y"] * 12,
            "candidate_answer": ["y"] * 12, "sample_score": [0.9] * 12, "passed": [True] * 12,
            "accuracy_score": [2] * 11 + [None], "faithfulness_score": [1] * 12,
            "latency_e2e_ms": [latency + 10 * n for n in range(12)], "total_tokens": [tokens + n for n in range(12)],
        })  # fmt: skip
        return run_of(name, frame, "rubric@v1")

    found = compare(run("a", 100, 900), run("b", 150, 400)).metrics
    told = [(one.name, one.difference.n, one.difference.difference, one.difference.verdict) for one in found]
    assert told == [
        ("accuracy_score", 11, 0.0, "same"), ("faithfulness_score", 12, 0.0, "same"),
        ("latency_e2e_ms", 12, -500.0, "not_told"), ("total_tokens", 12, 50.0, "not_told"),
    ]  # fmt: skip
    assert found[3].p_holm == pytest.approx(5 * 2 / 2**12)  # of the four, and of passing
    assert compare(scores("a", ("i", 0, 1.0, True)), scores("b", ("i", 0, 1.0, True))).metrics == ()
