"""How `answer_correctness@v1` runs are shown: its own words in the report of answers."""

from __future__ import annotations

from collections.abc import Mapping

from benchbook.evaluators.correctness.rows import CorrectnessRow
from benchbook.views.answers.report import Terms, misses_by_run_or_item, view_over

__all__ = ["MISS_REASONS", "VIEW"]


MISS_REASONS: Mapping[str, str] = {
    "no_prediction": "no prediction",
    "expected_inside_longer_text": "the expected answer stands inside a longer text",
    "numerically_equal": "the same number, written otherwise",
    "different": "another answer",
}


def _why_missed(row: CorrectnessRow) -> list[str]:
    return [] if row.correctness == 1.0 else misses_by_run_or_item(row, row.miss_reason)


VIEW = view_over(
    Terms(
        passed="correct",
        score_of="Score: mean correctness",
        passed_of="Correct items",
        reasons=MISS_REASONS,
        n_passed=lambda file: int(file.n_correct),
        interval=lambda file: file.interval,
        why_missed=_why_missed,
        is_missed=lambda row: row.correctness == 0.0,
        warning=lambda file: file.floor_warning,
    )
)
