"""The derived files of a record of answers: their shared columns and fields (SPEC A3 to A5)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import msgspec

from benchbook.ask.requests import split_reasoning
from benchbook.evalsets import Item
from benchbook.evalsets.set_parts import PartSaid
from benchbook.evaluators.answers.metric import Metric, Scored, Unscored
from benchbook.evaluators.candidate import CandidatePlan
from benchbook.evaluators.made import Made, made
from benchbook.evaluators.settings import RunStatus
from benchbook.record.derived_files import Manifest
from benchbook.record.facts import NOT_ASKED, Failure, Reply
from benchbook.text import storable


class AnswerRow(Made, frozen=True, kw_only=True):
    """One row of samples.parquet and samples.jsonl: an item, asked or not (A5). Each evaluator's own columns stand
    between these (`answer_row`)."""

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
    miss_reason: str | None  # why it did not pass: one of the metric's reasons, or `unanswered`
    error: str | None  # provider_error, timeout, cancelled: of its call. crashed, timed_out: of the whole run
    eval_time_ms: int | None
    input_tokens: int | None
    output_tokens: int | None
    model_reported: str | None
    own: str | None  # the run's own keys, as canonical JSON
    fact_seq: int | None  # the fact in the journal


Column = tuple[str, Any]  # its name and type
# Since derivation 3: a cause of `facts.FailureCause`, or not_asked; null for an item that was answered (R1.3b).
CAUSE: Column = ("candidate_error", str | None)
# From 0 to 1, 0.0 throughout where the run failed (A3); null where there is none, as whether it passed.
SCORED: tuple[Column, ...] = (("score", float | None), ("passed", bool | None))


def answer_row(added: Mapping[str, Sequence[Column]], types: Mapping[str, Any] | None = None) -> type[AnswerRow]:
    """A row with an evaluator's own columns, each after the column that they are given for; and with other `types`."""
    return made(AnswerRow, added, types)


class AnswerManifest(Manifest, frozen=True, kw_only=True):
    """manifest.json: who, what, when, with what, and the hash that names the record."""

    run_status: RunStatus
    run_status_reason: str | None
    dry_run: bool  # MockJudge stood in for the scorer (A6): there are no samples
    n_items: int
    benchmark: bool
    model_id: str
    model_version: str | None
    prompt_template_id: str | None  # null where the predictions were made elsewhere, as the next
    prompt_template_version_or_hash: str | None
    generation_params: dict[str, Any]
    generation_params_effective: dict[str, Any]
    prediction_form: str | None  # jsonl, csv, parquet; null where a model was asked
    prediction_columns: dict[str, str]  # ours -> the file's
    reasoning_tags: list[str]
    part: PartSaid | msgspec.UnsetType = msgspec.UNSET  # left out where the whole set was asked


class NamedMean(msgspec.Struct, frozen=True, kw_only=True):
    """A number beside the score, over the items that have it; true and false count 1 and 0."""

    mean: float | None
    n: int


class Unscoreds(msgspec.Struct, frozen=True, kw_only=True):
    """Answers without a score, by reason: what a scorer raised, or gave instead of one."""

    why: str
    n_items: int


# What a run's own failure made of each of its items before derivation 3; since then a crash is called a crash (A3).
_ERROR_OF_RUN = {"crashed": "provider_error", "timed_out": "timeout"}


@dataclass(frozen=True, slots=True)
class RunOfItems:
    """The facts that hold for all items of a run."""

    metric: Metric
    plan: CandidatePlan
    run_status: RunStatus
    is_ended: bool
    derivation: int

    @property
    def asks_a_model(self) -> bool:
        """True if a model was asked, here or by the tool whose log was imported: items may then be unanswered, where
        predictions that were made elsewhere are there or missing."""
        return bool(self.plan.prompt_template_id) or self.metric.was_asked_elsewhere

    @property
    def error(self) -> str | None:
        """The error of each of its items where the run itself failed."""
        if self.run_status == "completed":
            return None
        return self.run_status if self.derivation >= 3 else _ERROR_OF_RUN[self.run_status]


class ItemOutcome(NamedTuple):
    """One item as it is recorded and counted. `scored` is None where it is not answered yet, and where it is
    `unscored`."""

    row: Any
    scored: Scored | None
    unscored: Unscored | None
    unanswered: str | None  # why no answer came (R1.3a)


def item_outcome(
    sample: int,
    item: Item,
    fields: Mapping[str, Any],
    facts: Sequence[Reply | Failure],
    run: RunOfItems,
    row_type: type[msgspec.Struct],
) -> ItemOutcome:
    """All that is known of one item. A run that failed scores 0.0 on every item, whatever its texts (A3).

    Raises: UsageError where the item lacks what its score needs.
    """
    reply = last_reply(facts)
    unanswered = why_unanswered(facts) if run.derivation >= 3 and run.asks_a_model else None
    failure = _failure(facts, unanswered) if reply is None else None
    predicted = predicted_text(reply, run.plan, run.derivation)
    found: Scored | Unscored | None
    if unanswered is None:
        found = run.metric.score_sample(sample, item, fields, predicted)
    else:
        found = run.metric.unanswered(sample) if run.is_ended else None
    scored, unscored = (None, found) if isinstance(found, Unscored) else (found, None)
    values = {
        "sample": sample,
        "item_id": storable(item.id),
        "repeat": sample // run.plan.n_items,
        "section": item.section,
        "category": item.category,
        "difficulty": item.difficulty,
        "group": item.group,
        "answer_format": item.answer_format,
        "prompt": item.prompt,
        "expected": item.expected_answer,
        "predicted": predicted,
        "miss_reason": None if scored is None else scored.reason,
        "error": run.error or (failure.error if failure else None),
        "eval_time_ms": _eval_time_ms(reply, None if unanswered else failure),
        "input_tokens": reply.input_tokens if reply else None,
        "output_tokens": reply.output_tokens if reply else None,
        "model_reported": reply.model_reported if reply else None,
        "own": reply.own if reply else None,
        "fact_seq": reply.seq if reply else failure.seq if failure else None,
        **run.metric.own_columns(scored, failed=run.error is not None),
        **(unscored.columns if unscored else {}),
    }
    if run.derivation >= 3:
        values["candidate_error"] = unanswered
    return ItemOutcome(row_type(**values), scored, unscored, unanswered)


def why_unanswered(facts: Sequence[Reply | Failure]) -> str | None:
    """The cause for which an item that a model was asked has no answer, where it is not the model's (R1.3a).

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
    """The failure that ended the item, or the last one before it is asked again.

    One that ended an attempt or the run leaves the item to be asked again: before derivation 3 it was none.
    """
    failures = [fact for fact in facts if isinstance(fact, Failure)]
    if unanswered is not None:
        return failures[-1] if failures else None
    return next((fact for fact in failures if fact.ends == "sample"), None)


def _eval_time_ms(reply: Reply | None, failure: Failure | None) -> int | None:
    """The time that the answer took, or that the model let pass; None where the model was not reached (R1.3a)."""
    return reply.latency_e2e_ms if reply else failure.latency_ms if failure else None


def predicted_text(reply: Reply | None, plan: CandidatePlan, derivation: int) -> str | None:
    """The candidate's text without declared reasoning; None where it gave no text."""
    if reply is None or reply.text is None:
        return None
    _, answer = split_reasoning(reply.text, plan.candidate.reasoning_tags, lone_closing=derivation >= 3)
    return storable(answer)


def last_reply(facts: Sequence[Reply | Failure]) -> Reply | None:
    """The reply that an item is scored by."""
    return next((fact for fact in reversed(facts) if isinstance(fact, Reply)), None)
