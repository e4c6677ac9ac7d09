"""The judge of a dry run (SPEC A6)."""

from __future__ import annotations

from benchbook.evaluators.answers.scorecard import MockJudge, Unavailable


def test_it_makes_no_predictions_and_says_why() -> None:
    assert MockJudge("answer_correctness@v1").predictions() == Unavailable(
        reason="this was a dry run (MockJudge in the place of answer_correctness@v1): it makes no predictions"
    )
    assert MockJudge("answer_correctness@v1").predictions().status == "unavailable"
