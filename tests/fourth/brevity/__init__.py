"""`brevity@v1`: an evaluator of another package. An answer scores the share of ten words that it leaves unsaid.

It is READY where the mean is at least 0.5. Nothing of Benchbook was changed for it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from benchbook.evalsets import Item
from benchbook.evaluators.answers.evaluator import AnswersEvaluator
from benchbook.evaluators.answers.metric import Metric, Scored
from benchbook.evaluators.answers.rows import AnswerManifest
from benchbook.evaluators.answers.scorecard import UNANSWERED, Scorecard
from benchbook.evaluators.answers.tables import Counted
from benchbook.evaluators.contract import ComparedColumns, Confidence, DerivedFiles
from benchbook.evaluators.exact import NANO
from benchbook.evaluators.gates import Decision, Verdict
from benchbook.evaluators.intervals import Interval
from benchbook.record.folder import Record

MOST_WORDS = 10
NO_PREDICTION, TOO_LONG = "no_prediction", "too_long"


class Row(msgspec.Struct, frozen=True, kw_only=True):
    sample: int
    item_id: str
    repeat: int
    section: str | None
    category: str | None
    difficulty: str | None
    group: str | None
    answer_format: str | None
    prompt: str
    expected: str | None
    predicted: str | None
    score: float | None
    passed: bool | None
    words: int | None
    miss_reason: str | None
    error: str | None
    candidate_error: str | None
    eval_time_ms: int | None
    input_tokens: int | None
    output_tokens: int | None
    model_reported: str | None
    own: str | None
    fact_seq: int | None


class Aggregates(Scorecard, frozen=True, kw_only=True):
    spec: str
    interval: Interval
    errors: dict[str, int]
    warnings: list[str]
    unanswered: Any = msgspec.UNSET
    n_warnings_first: int | msgspec.UnsetType = msgspec.UNSET


class BrevityMetric(Metric):
    id = "brevity@v1"
    name = "brevity"
    reasons = (NO_PREDICTION, TOO_LONG)
    is_rate = False
    needs_expected_answer = False
    sha256 = hashlib.sha256(Path(__file__).read_bytes()).hexdigest()
    aggregates_type = Aggregates
    manifest_type = AnswerManifest

    def row_type(self, derivation: int) -> type[Row]:
        del derivation
        return Row

    def score(self, item: Item, fields: Mapping[str, Any], predicted: str | None) -> Scored:
        del item, fields
        if not predicted:
            return Scored(0, passed=False, reason=NO_PREDICTION, has_prediction=False, columns={"words": 0})
        n_words = len(predicted.split())
        left = max(MOST_WORDS - n_words, 0)
        return Scored(left * NANO // MOST_WORDS, left > 0, None if left else TOO_LONG, columns={"words": n_words})

    def own_columns(self, scored: Scored | None, *, failed: bool) -> Mapping[str, Any]:
        if scored is None or scored.reason == UNANSWERED:
            return {"score": None, "passed": None, "words": None}
        return {
            "score": 0.0 if failed else scored.score_nano / NANO,
            "passed": scored.passed and not failed,
            **scored.columns,
        }

    def aggregates(self, values: Mapping[str, Any], counted: Counted) -> Aggregates:
        return Aggregates(**values, interval=counted.interval(counted.score))

    def decision(self, verdict: Verdict, reason: str | None, aggregates: Aggregates, counted: Counted) -> Decision:
        del counted
        holds = verdict == "pass" and (aggregates.primary_score or 0.0) >= 0.5
        return Decision(
            decision="READY" if holds else "NOT_READY",
            release_ready=holds,
            reasons=(),
            gates=(),
            verdict=verdict,
            reason=reason,
        )


class BrevityEvaluator(AnswersEvaluator):
    id = "brevity@v1"
    metric = BrevityMetric()

    @property
    def spec_sha256(self) -> str:
        return self.metric.sha256

    @property
    def compared(self) -> ComparedColumns:
        return ComparedColumns(
            score="score", passed="passed", answer="predicted", reasons=("miss_reason",), has_every_item=True
        )

    def gated(self, record: Record, target: Path, confidence: Confidence | None = None) -> DerivedFiles:
        del confidence
        return self.derive(record, target)


EVALUATOR = BrevityEvaluator()
