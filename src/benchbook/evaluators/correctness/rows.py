"""The derived files of an `answer_correctness@v1` record: what each column and field is (SPEC A3 to A5, A7)."""

from __future__ import annotations

import msgspec

from benchbook.ask.unanswered import Unanswered
from benchbook.evaluators.answers.rows import AnswerManifest
from benchbook.evaluators.answers.scorecard import Scorecard
from benchbook.evaluators.intervals import Interval

__all__ = [
    "AskedCorrectnessRow",
    "CorrectnessAggregates",
    "CorrectnessManifest",
    "CorrectnessRow",
]


class CorrectnessRow(msgspec.Struct, frozen=True, kw_only=True):
    """One row of samples.parquet and samples.jsonl: an item, asked or not (A5)."""

    sample: int  # its place in the plan, from 0: repeat * items + item
    item_id: str
    repeat: int  # from 0
    section: str | None
    category: str | None
    difficulty: str | None
    group: str | None
    answer_format: str | None
    prompt: str
    expected: str
    predicted: str | None
    correctness: float | None  # 0.0 or 1.0; 0.0 throughout where the run failed (A3); null where it is not answered yet
    miss_reason: str | None  # the first of A7 that fits, or `unanswered`; null for a text that is right
    error: str | None  # provider_error, timeout, cancelled: of its call. crashed, timed_out: of the whole run
    eval_time_ms: int | None
    input_tokens: int | None
    output_tokens: int | None
    model_reported: str | None
    own: str | None  # the run's own keys, as canonical JSON
    fact_seq: int | None  # the fact in the journal


class AskedCorrectnessRow(CorrectnessRow, frozen=True, kw_only=True):
    """The row since derivation 3: it says why an item that a model was asked has no answer (R1.3b)."""

    candidate_error: str | None  # a cause of `facts.FailureCause`, or not_asked; null for an item that was answered


class CorrectnessAggregates(Scorecard, frozen=True, kw_only=True):
    """aggregates.json: the scorecard of A4, and beside it how sure the score is and why items missed (A7)."""

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
