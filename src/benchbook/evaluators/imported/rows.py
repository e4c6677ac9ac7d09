"""The derived files of an imported record: their columns and fields (A3 to A5, R1.3b)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from benchbook.ask.unanswered import Unanswered
from benchbook.evaluators.answers.rows import (
    CAUSE,
    SCORED,
    AnswerManifest,
    AnswerRow,
    NamedMean,
    Unscoreds,
    answer_row,
)
from benchbook.evaluators.answers.scorecard import Scorecard
from benchbook.evaluators.imported.log import ImportedLog, ImportedScorer
from benchbook.evaluators.intervals import Interval

_OF_SCORER: Sequence[tuple[str, Any]] = (
    ("", float | None),  # on the scorer's own scale
    ("_said", str | None),  # as the log has it, where that is no number
    ("_compared", str | None),  # the answer as the scorer extracted it
    ("_why", str | None),  # what the scorer gave as its reason; or why there is no score
)
SCORER_COLUMNS = tuple(ending for ending, _ in _OF_SCORER)


def row_type_of(scorers: Sequence[ImportedScorer]) -> type[AnswerRow]:
    """The row of a log with these scorers."""
    columns = [(f"{one.column}{ending}", kind) for one in scorers for ending, kind in _OF_SCORER]
    return answer_row({
        "predicted": SCORED,
        "miss_reason": [
            ("unscored", str | None),  # why an answer has no score
            ("limit", str | None),  # what ended the sample before its time
            ("failure", str | None),  # what failed in the tool that asked
        ],
        "error": [CAUSE],
        "fact_seq": columns,
    })  # fmt: skip


class ScorerMean(NamedMean, frozen=True, kw_only=True):
    """One scorer over the samples that it scored, on its own scale."""

    n_unscored: int
    n_guessed: int  # replies of its judge that can be read by guess alone


class ImportedAggregates(Scorecard, frozen=True, kw_only=True):
    """aggregates.json: the scorecard over the items that have a score, and beside it what passed.

    `intervals` has those of `primary_score` and `pass_rate`. `scorers` has each of the log's, by name.
    """

    spec: str
    n_passed: int
    pass_rate: float | None  # of the items that have a score
    unscored: list[Unscoreds]
    scorers: dict[str, ScorerMean]
    limits: dict[str, int]  # what ended samples before their time -> how many
    intervals: dict[str, Interval]
    errors: dict[str, int]  # error -> items that have it
    warnings: list[str]
    unanswered: list[Unanswered] | msgspec.UnsetType = msgspec.UNSET  # why items are, in words
    n_warnings_first: int | msgspec.UnsetType = msgspec.UNSET  # of the warnings: those that stand before any number


class ImportedManifest(AnswerManifest, frozen=True, kw_only=True):
    """manifest.json: who, what, when, with what, and the hash that names the record."""

    evaluator: str  # `imported`: another tool scored, and what its log says are facts
    scored_by: str  # the tool, and the scorer whose values are the score
    imported: ImportedLog
