"""The derived files of a record of checks: their columns and fields (SPEC A3 to A5)."""

from __future__ import annotations

from typing import Any

import msgspec

from benchbook.ask.unanswered import Unanswered
from benchbook.evaluators.answers.rows import CAUSE, SCORED, AnswerManifest, AnswerRow, answer_row
from benchbook.evaluators.answers.scorecard import Scorecard
from benchbook.evaluators.checks.spec import CheckSpec, column_names
from benchbook.evaluators.intervals import Interval


def row_type_of(checks: tuple[CheckSpec, ...]) -> type[AnswerRow]:
    """The row of an evaluator with these checks. Each adds three columns: `<check>`, its score; `<check>_reason`, why
    it is not full; `<check>_found`, what was compared, in a few words."""
    columns: list[tuple[str, Any]] = []
    for check in checks:
        columns += zip(column_names(check.name), (float | None, str | None, str | None), strict=True)
    return answer_row({"predicted": SCORED, "error": [CAUSE], "fact_seq": columns})


class CheckCounts(msgspec.Struct, frozen=True, kw_only=True):
    """One check over all items: the mean of its scores, and for each reason how many items have it."""

    mean: float | None
    misses: dict[str, int]


class ChecksAggregates(Scorecard, frozen=True, kw_only=True):
    """aggregates.json: the scorecard over the items' scores, and beside it what passed, check by check.

    `intervals` has those of `primary_score`, `pass_rate`, `no_prediction_rate` and of `<check>_mean` for each check;
    their bounds are null where the run failed.
    """

    spec: str
    n_passed: int
    pass_rate: float | None
    no_prediction_rate: float | None  # items of which no check found anything to compare
    checks: dict[str, CheckCounts]
    intervals: dict[str, Interval]
    errors: dict[str, int]  # error -> items that have it
    warnings: list[str]
    unanswered: list[Unanswered] | msgspec.UnsetType = msgspec.UNSET  # why items are, in words
    n_warnings_first: int | msgspec.UnsetType = msgspec.UNSET  # of the warnings: those that stand before any number


class ChecksManifest(AnswerManifest, frozen=True, kw_only=True):
    """manifest.json: who, what, when, with what, and the hash that names the record."""

    evaluator: str  # `checks`: the spec is data, and stands in the package or among the inputs
