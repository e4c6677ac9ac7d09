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
from benchbook.evaluators.answers.counted import Counted
from benchbook.evaluators.answers.evaluator import AnswersEvaluator
from benchbook.evaluators.answers.metric import Metric, Scored
from benchbook.evaluators.answers.rows import CAUSE, SCORED, AnswerManifest, AnswerRow, answer_row
from benchbook.evaluators.answers.scorecard import Scorecard
from benchbook.evaluators.contract import Confidence, DerivedFiles
from benchbook.evaluators.exact import NANO
from benchbook.evaluators.gates import Decision, Verdict
from benchbook.evaluators.intervals import Interval
from benchbook.record.folder import Record

MOST_WORDS = 10
NO_PREDICTION, TOO_LONG = "no_prediction", "too_long"


ROW = answer_row({"predicted": [*SCORED, ("words", int | None)], "error": [CAUSE]})


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
    columns = ("words",)
    needs_expected_answer = False
    sha256 = hashlib.sha256(Path(__file__).read_bytes()).hexdigest()
    aggregates_type = Aggregates
    manifest_type = AnswerManifest

    def row_type(self, derivation: int) -> type[AnswerRow]:
        del derivation
        return ROW

    def score(self, item: Item, fields: Mapping[str, Any], predicted: str | None) -> Scored:
        del item, fields
        if not predicted:
            return Scored(0, passed=False, reason=NO_PREDICTION, has_prediction=False, columns={"words": 0})
        n_words = len(predicted.split())
        left = max(MOST_WORDS - n_words, 0)
        return Scored(left * NANO // MOST_WORDS, left > 0, None if left else TOO_LONG, columns={"words": n_words})

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

    def gated(self, record: Record, target: Path, confidence: Confidence | None = None) -> DerivedFiles:
        del confidence
        return self.derive(record, target)


EVALUATOR = BrevityEvaluator()
