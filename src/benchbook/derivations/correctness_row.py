"""One item's row of an `answer_correctness@v1` record."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import msgspec

from benchbook.derivations.correctness_rows import CorrectnessRow, ItemRow, RunStatus
from benchbook.derivations.derivation import derivation_of
from benchbook.derivations.plan import CandidatePlan
from benchbook.derivations.rubric_steps import NOT_ASKED
from benchbook.evalsets import Item
from benchbook.records.facts import Failure, Reply, RunStarted
from benchbook.scorers.answer_correctness import correctness, reason
from benchbook.scorers.answer_correctness_scorecard import UNANSWERED
from benchbook.scorers.rubric_reply import split_reasoning
from benchbook.text import storable

__all__ = ["RunOfItems", "correctness_row", "row_type_of", "why_unanswered"]

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
