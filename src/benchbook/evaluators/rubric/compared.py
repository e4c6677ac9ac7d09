"""The items of a rubric side by side with another run's: which columns, and what was not answered."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from benchbook.evaluators.contract import ComparedColumns, ComparedMetric
from benchbook.evaluators.rubric.scoring import NO_ANSWER
from benchbook.evaluators.rubric.spec import Criterion, RubricSpec

if TYPE_CHECKING:
    import polars

__all__ = ["compared_columns", "unanswered_why"]


def compared_columns(spec: RubricSpec) -> ComparedColumns:
    """The columns of its items: what each criterion and each measure is worth."""
    return ComparedColumns(
        score="sample_score",
        passed="passed",
        answer="candidate_answer",
        reasons=("evaluator_error", "parse_error_reason", "fail_reasons"),
        metrics=(
            *map(_metric, spec.criteria),
            ComparedMetric("latency_e2e_ms", "latency_e2e_ms", "ms", higher_is_better=False),
            ComparedMetric("total_tokens", "total_tokens", "tokens", higher_is_better=False),
        ),
    )


def _metric(one: Criterion) -> ComparedMetric:
    """A criterion on its scale; what an item's own criteria come to is a share of 1."""
    if one.by_item:
        return ComparedMetric(one.score_key, one.score_key, "score", 0, 1)
    return ComparedMetric(one.score_key, one.score_key, "grade", one.lowest, one.highest)


_FAILED_BEFORE = frozenset({"score_origin", "answer_seq", "error_detail", "timed_out"})


def unanswered_why(columns: Collection[str]) -> polars.Expr:
    """The class of what kept a sample from being answered (R1.3a), of records of before derivation 3, too."""
    import polars as pl

    if "candidate_error" in columns:
        return pl.when(pl.col("sample_score").is_null()).then(pl.col("candidate_error"))
    if not _FAILED_BEFORE.issubset(columns):
        return pl.lit(None, pl.String)
    # No reply, though a call failed, and not by the time limit: a fault of the provider, or of what was recorded.
    failed = (
        (pl.col("score_origin") == NO_ANSWER)
        & pl.col("answer_seq").is_null()
        & pl.col("error_detail").is_not_null()
        & ~pl.col("timed_out")
    )
    return pl.when(failed).then(pl.lit("provider_error"))
