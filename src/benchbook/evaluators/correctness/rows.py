"""The derived files of an `answer_correctness@v1` record: their columns and fields (SPEC A3 to A5, A7)."""

from __future__ import annotations

import msgspec

from benchbook.ask.unanswered import Unanswered
from benchbook.evaluators.answers.rows import CAUSE, AnswerManifest, answer_row
from benchbook.evaluators.answers.scorecard import Scorecard
from benchbook.evaluators.intervals import Interval

# 0.0 or 1.0; 0.0 throughout where the run failed (A3); null where it is not answered yet.
_OWN = {"predicted": [("correctness", float | None)]}

CorrectnessRow = answer_row(_OWN, {"expected": str})
# Since derivation 3 it says why an item that a model was asked has no answer (R1.3b).
AskedCorrectnessRow = answer_row(_OWN | {"fact_seq": [CAUSE]}, {"expected": str})


class CorrectnessAggregates(Scorecard, frozen=True, kw_only=True):
    """aggregates.json: the scorecard, with the score's interval and the reasons why items missed (A7)."""

    spec: str
    n_correct: int
    interval: Interval  # of primary_score; null bounds where the run failed
    errors: dict[str, int]  # error -> items that have it
    floor_warning: str | None
    warnings: list[str]
    unanswered: list[Unanswered] | msgspec.UnsetType = msgspec.UNSET  # from derivation 3 on: why items are, in words
    n_warnings_first: int | msgspec.UnsetType = msgspec.UNSET  # of the warnings: those that stand before any number


class CorrectnessManifest(AnswerManifest, frozen=True, kw_only=True):
    """manifest.json: who, what, when, with what, and the hash that names the record."""
