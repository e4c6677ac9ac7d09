"""The derived files of an `answer_correctness@v1` record: what each column and field is (SPEC A3 to A5, A7)."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from benchbook.decisions import Interval
from benchbook.derivations.unanswered import Unanswered
from benchbook.evalsets.set_parts import PartSaid
from benchbook.scorers.answer_correctness_scorecard import Scorecard

__all__ = [
    "CorrectnessAggregates",
    "CorrectnessDecision",
    "CorrectnessManifest",
    "CorrectnessRow",
    "ItemRow",
    "RunStatus",
    "Verdict",
]

# What a run that was recorded elsewhere came to; the last two fail it, and it scores 0.0 (A3).
RunStatus = Literal["completed", "crashed", "timed_out"]
# Whether the run itself held. `incomplete`: it may go on, so there is nothing to say yet (from derivation 3 on).
Verdict = Literal["pass", "fail", "incomplete", "unavailable"]


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


class ItemRow(CorrectnessRow, frozen=True, kw_only=True):
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


class CorrectnessDecision(msgspec.Struct, frozen=True, kw_only=True):
    """decision.json: whether the run itself held (A3). It says nothing of the score; gates and baselines do.

    A dry run is `unavailable`: it neither held nor failed (A6).
    """

    verdict: Verdict
    reason: str | None  # why it did not pass


class CorrectnessManifest(msgspec.Struct, frozen=True, kw_only=True):
    """manifest.json: who, what, when, with what, and the hash that names the record."""

    run_id: str
    timestamp_utc: str
    ended_utc: str | None
    state: str  # complete, interrupted, open
    state_detail: str | None
    run_status: RunStatus
    run_status_reason: str | None
    dry_run: bool  # MockJudge stood in for the scorer (A6): there are no samples
    spec: str
    spec_sha256: str
    dataset_id: str
    dataset_version_or_hash: str
    n_items: int
    repeats: int
    benchmark: bool
    model_id: str
    model_version: str | None
    prompt_template_id: str | None  # null where the predictions were made elsewhere, as the next
    prompt_template_version_or_hash: str | None
    generation_params: dict[str, Any]
    generation_params_effective: dict[str, Any]
    prediction_form: str | None  # jsonl, csv, parquet; null where a model was asked
    prediction_columns: dict[str, str]  # ours -> the file's
    code_version: dict[str, Any]
    environment: dict[str, Any]
    reasoning_tags: list[str]
    config: dict[str, Any]
    plan_sha256: str
    inputs: dict[str, str]  # what it is -> its SHA-256, under inputs/
    journal_segments: int
    journal_facts: int
    journal_sha256: str  # the last fact's hash: it names the whole record
    derived: dict[str, str]  # file -> its SHA-256
    derived_by: dict[str, str]  # the versions that wrote them
    manifest_sha256: str  # of this manifest with this field empty
    # Of the repository that holds the user's config; left out of records before derivation 3.
    project_version: dict[str, Any] | msgspec.UnsetType = msgspec.UNSET
    part: PartSaid | msgspec.UnsetType = msgspec.UNSET  # left out where the whole set was asked
