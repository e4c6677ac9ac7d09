"""The derived files of an `answer_correctness@v1` record: what each column and field is (SPEC A3 to A5, A7)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import msgspec

from benchbook.ask.reasoning import split_reasoning
from benchbook.ask.unanswered import Unanswered
from benchbook.evalsets import Item
from benchbook.evalsets.set_parts import PartSaid
from benchbook.evaluators.candidate import CandidatePlan
from benchbook.evaluators.correctness.scorecard import UNANSWERED, Scorecard
from benchbook.evaluators.correctness.scoring import correctness, reason
from benchbook.evaluators.derivation import derivation_of
from benchbook.evaluators.intervals import Interval
from benchbook.record.facts import NOT_ASKED, Failure, Reply, RunStarted
from benchbook.text import storable

__all__ = [
    "CorrectnessAggregates",
    "CorrectnessDecision",
    "CorrectnessManifest",
    "CorrectnessRow",
    "ItemRow",
    "RunOfItems",
    "RunStatus",
    "Verdict",
    "correctness_row",
    "row_type_of",
    "why_unanswered",
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


# What a run's own failure made of each of its items before derivation 3; since then a crash is called a crash (A3).
_ERROR_OF_RUN = {"crashed": "provider_error", "timed_out": "timeout"}


@dataclass(frozen=True, slots=True)
class RunOfItems:
    """What is true of all items of a run."""

    plan: CandidatePlan
    run_status: RunStatus
    is_ended: bool
    derivation: int

    @property
    def asks_a_model(self) -> bool:
        """Whether a model was asked here; predictions that were made elsewhere are there or missing."""
        return bool(self.plan.prompt_template_id)

    @property
    def error(self) -> str | None:
        """The error of each of its items where the run itself failed."""
        if self.run_status == "completed":
            return None
        return self.run_status if self.derivation >= 3 else _ERROR_OF_RUN[self.run_status]


def row_type_of(started: RunStarted) -> type[CorrectnessRow]:
    """What a row of the record's tables is."""
    return ItemRow if derivation_of(started) >= 3 else CorrectnessRow


def correctness_row(sample: int, item: Item, facts: Sequence[Reply | Failure], run: RunOfItems) -> CorrectnessRow:
    """Everything that is known of one item. A run that failed scores 0.0 in all of them, whatever its texts (A3).

    Raises: UsageError where the item has no expected answer.
    """
    reply = next((fact for fact in reversed(facts) if isinstance(fact, Reply)), None)
    unanswered = why_unanswered(facts) if run.derivation >= 3 and run.asks_a_model else None
    failure = _failure(facts, unanswered) if reply is None else None
    predicted = _predicted(reply, run)
    score: float | None = correctness(item.expected_answer, predicted, item.answer_format)
    why: str | None = reason(item.expected_answer, predicted, item.answer_format)
    if unanswered is not None:
        score, why = (0.0, UNANSWERED) if run.is_ended else (None, None)
    row = CorrectnessRow(
        sample=sample,
        item_id=storable(item.id),
        repeat=sample // run.plan.n_items,
        section=item.section,
        category=item.category,
        difficulty=item.difficulty,
        group=item.group,
        answer_format=item.answer_format,
        prompt=item.prompt,
        expected=item.expected_answer or "",
        predicted=predicted,
        correctness=0.0 if run.error else score,
        miss_reason=why,
        error=run.error or (failure.error if failure else None),
        eval_time_ms=_eval_time_ms(reply, None if unanswered else failure),
        input_tokens=reply.input_tokens if reply else None,
        output_tokens=reply.output_tokens if reply else None,
        model_reported=reply.model_reported if reply else None,
        own=reply.own if reply else None,
        fact_seq=reply.seq if reply else failure.seq if failure else None,
    )
    return row if run.derivation < 3 else ItemRow(**msgspec.structs.asdict(row), candidate_error=unanswered)


def why_unanswered(facts: Sequence[Reply | Failure]) -> str | None:
    """Why no answer came to an item that a model was asked, where that is not the model's (R1.3a): the cause.

    None for an item that was answered, and for one whose time limit the model let pass.
    """
    if any(isinstance(fact, Reply) for fact in facts):
        return None
    last = facts[-1] if facts else None
    if not isinstance(last, Failure):
        return NOT_ASKED
    is_the_models = last.error == "timeout" and last.ends == "sample" and last.cause in (None, "time_limit")
    return None if is_the_models else last.cause or last.error


def _failure(facts: Sequence[Reply | Failure], unanswered: str | None) -> Failure | None:
    """The failure that was the item's end, or that it stands at until it is asked again.

    One that ended an attempt or the run leaves the item to be asked again: before derivation 3 it was none.
    """
    failures = [fact for fact in facts if isinstance(fact, Failure)]
    if unanswered is not None:
        return failures[-1] if failures else None
    return next((fact for fact in failures if fact.ends == "sample"), None)


def _eval_time_ms(reply: Reply | None, failure: Failure | None) -> int | None:
    """How long the answer took, or the time that the model let pass; none where it was not reached (R1.3a)."""
    return reply.latency_e2e_ms if reply else failure.latency_ms if failure else None


def _predicted(reply: Reply | None, run: RunOfItems) -> str | None:
    """The candidate's text without declared reasoning; None where it gave no text."""
    if reply is None or reply.text is None:
        return None
    tags = run.plan.candidate.reasoning_tags
    _, answer = split_reasoning(reply.text, tags, lone_closing=run.derivation >= 3)
    return storable(answer)
