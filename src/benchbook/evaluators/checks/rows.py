"""The derived files of a record of checks: what each column and field is (SPEC A3 to A5)."""

from __future__ import annotations

from typing import cast

import msgspec

from benchbook.ask.unanswered import Unanswered
from benchbook.evaluators.answers.rows import AnswerManifest
from benchbook.evaluators.answers.scorecard import Scorecard
from benchbook.evaluators.checks.spec import CheckSpec, column_names
from benchbook.evaluators.intervals import Interval

__all__ = ["CheckCounts", "ChecksAggregates", "ChecksManifest", "ChecksRow", "row_type_of"]


class ChecksRow(msgspec.Struct, frozen=True, kw_only=True):
    """One row of samples.parquet and samples.jsonl: an item, asked or not (A5). Each check adds three columns:
    `<check>`, its score; `<check>_reason`, why that is not full; `<check>_found`, what was compared, in a few words."""

    sample: int  # its place in the plan, from 0: repeat * items + item
    item_id: str
    repeat: int  # from 0
    section: str | None
    category: str | None
    difficulty: str | None
    group: str | None
    answer_format: str | None
    prompt: str
    expected: str | None  # the item's expected answer, where it has one
    predicted: str | None
    score: float | None  # from 0 to 1; 0.0 throughout where the run failed (A3); null where it is not answered yet
    passed: bool | None
    miss_reason: str | None  # why it did not pass: of the first check that must pass and missed, or `unanswered`
    error: str | None  # provider_error, timeout, cancelled: of its call. crashed, timed_out: of the whole run
    candidate_error: str | None  # a cause of `facts.FailureCause`, or not_asked; null for an item that was answered
    eval_time_ms: int | None
    input_tokens: int | None
    output_tokens: int | None
    model_reported: str | None
    own: str | None  # the run's own keys, as canonical JSON
    fact_seq: int | None  # the fact in the journal


def row_type_of(checks: tuple[CheckSpec, ...]) -> type[ChecksRow]:
    """The row of an evaluator with these checks."""
    columns: list[tuple[str, type]] = []
    for check in checks:
        types = (float | None, str | None, str | None)
        columns += zip(column_names(check.name), types, strict=True)  # type: ignore[arg-type]
    found = msgspec.defstruct("ChecksRow", columns, bases=(ChecksRow,), frozen=True, kw_only=True, module=__name__)
    return cast("type[ChecksRow]", found)


class CheckCounts(msgspec.Struct, frozen=True, kw_only=True):
    """One check over all items: the mean of its scores, and for each reason how many items have it."""

    mean: float | None
    misses: dict[str, int]


class ChecksAggregates(Scorecard, frozen=True, kw_only=True):
    """aggregates.json: the scorecard of A4 over the items' scores, and beside it what passed, check by check.

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
