"""`answer_correctness@v1`: the metric of an item, and the evaluator over it (SPEC A1 to A3, A7)."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchbook.evalsets import Item
from benchbook.evaluators.answers.counted import Counted
from benchbook.evaluators.answers.evaluator import AnswersEvaluator
from benchbook.evaluators.answers.metric import Metric, Scored
from benchbook.evaluators.answers.rows import AnswerRow
from benchbook.evaluators.answers.scorecard import UNANSWERED, Scorecard
from benchbook.evaluators.contract import ComparedColumns, DerivedTypes
from benchbook.evaluators.correctness.rows import (
    AskedCorrectnessRow,
    CorrectnessAggregates,
    CorrectnessManifest,
    CorrectnessRow,
)
from benchbook.evaluators.correctness.scorecard import METRIC_NAME, floor_warning
from benchbook.evaluators.correctness.scoring import REASONS, SPEC_ID, has_prediction, reason
from benchbook.evaluators.exact import NANO
from benchbook.specs import load_spec

if TYPE_CHECKING:
    import polars


class CorrectnessMetric(Metric):
    """1 where the whole answer is the expected one, white space at its ends and case aside, else 0 (A1)."""

    id = SPEC_ID
    name = METRIC_NAME
    reasons = REASONS
    aggregates_type = CorrectnessAggregates
    manifest_type = CorrectnessManifest

    @property
    def sha256(self) -> str:  # type: ignore[override]
        return load_spec(SPEC_ID).sha256

    def row_type(self, derivation: int) -> type[AnswerRow]:
        return AskedCorrectnessRow if derivation >= 3 else CorrectnessRow

    def score(self, item: Item, fields: Mapping[str, Any], predicted: str | None) -> Scored:
        del fields
        why = reason(item.expected_answer, predicted, item.answer_format)
        return Scored(NANO if why is None else 0, why is None, why, has_prediction(why))

    def own_columns(self, scored: Scored | None, *, failed: bool) -> Mapping[str, Any]:
        if scored is None:
            return {"correctness": 0.0 if failed else None}
        return {"correctness": 1.0 if scored.passed and not failed else 0.0}

    def aggregates(self, values: Mapping[str, Any], counted: Counted) -> CorrectnessAggregates:
        card = counted.scorecard()
        return CorrectnessAggregates(
            **values,
            n_correct=counted.score.total,
            interval=counted.interval(counted.score),
            floor_warning=None if counted.failed else floor_warning(card),
        )


METRIC = CorrectnessMetric()


class CorrectnessEvaluator(AnswersEvaluator):
    """Answers held against expected ones, without a judge (SPEC A)."""

    id = SPEC_ID
    view = "benchbook.views.answers.terms:CORRECTNESS"
    metric = METRIC

    def score_table(
        self, evalset: str, predictions: str, target: Path, *, columns: Mapping[str, str] | None = None
    ) -> Scorecard:
        from benchbook.evaluators.correctness.tables import score_table

        return score_table(evalset, predictions, target, columns=columns)

    @property
    def compared(self) -> ComparedColumns:
        return replace(super().compared, score="correctness", passed="correctness", tells_containment=True)

    def unanswered_why(self, columns: Collection[str], manifest: Mapping[str, Any]) -> polars.Expr:
        """Records of before derivation 3 counted such an item as a wrong answer; their rows still tell."""
        import polars as pl

        by_error = pl.col("error") if "error" in columns else pl.lit(None, pl.String)
        has_none = pl.col("predicted").is_null()
        kept_from = has_none & by_error.is_in(["provider_error", "cancelled"])
        if manifest.get("state", "complete") != "complete":
            kept_from = kept_from | (has_none & by_error.is_null())
        by_reason = pl.col("miss_reason") == UNANSWERED
        return pl.when(by_reason | kept_from | pl.col("correctness").is_null()).then(
            pl.coalesce(by_error, pl.lit("not asked"))
        )


EVALUATOR = CorrectnessEvaluator()


def derived_types() -> DerivedTypes:
    return DerivedTypes(CorrectnessMetric.manifest_type, CorrectnessMetric.aggregates_type)
