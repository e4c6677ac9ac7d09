"""One item's row of an `answer_correctness@v1` record."""

from __future__ import annotations

from collections.abc import Sequence

from benchbook.derivations.correctness_rows import CorrectnessRow, RunStatus
from benchbook.derivations.plan import CandidatePlan
from benchbook.evalsets import Item
from benchbook.records.facts import Failure, Reply
from benchbook.scorers.answer_correctness import correctness, reason
from benchbook.scorers.rubric_reply import split_reasoning
from benchbook.text import storable

__all__ = ["correctness_row"]

# What a run's own failure makes of each of its items (A3).
_ERROR_OF_RUN = {"crashed": "provider_error", "timed_out": "timeout"}


def correctness_row(
    sample: int, item: Item, facts: Sequence[Reply | Failure], plan: CandidatePlan, run_status: RunStatus
) -> CorrectnessRow:
    """Everything that is known of one item. A run that failed scores 0.0 in all of them, whatever its texts (A3).

    Raises: UsageError where the item has no expected answer.
    """
    reply = next((fact for fact in reversed(facts) if isinstance(fact, Reply)), None)
    failure = _end(facts) if reply is None else None
    predicted = _predicted(reply, plan)
    error_of_run = _ERROR_OF_RUN.get(run_status)
    score = correctness(item.expected_answer, predicted, item.answer_format)
    return CorrectnessRow(
        sample=sample,
        item_id=storable(item.id),
        repeat=sample // plan.n_items,
        section=item.section,
        category=item.category,
        difficulty=item.difficulty,
        group=item.group,
        answer_format=item.answer_format,
        prompt=item.prompt,
        expected=item.expected_answer or "",
        predicted=predicted,
        correctness=0.0 if error_of_run else score,
        miss_reason=reason(item.expected_answer, predicted, item.answer_format),
        error=error_of_run or (failure.error if failure else None),
        eval_time_ms=reply.latency_e2e_ms if reply else failure.latency_ms if failure else None,
        input_tokens=reply.input_tokens if reply else None,
        output_tokens=reply.output_tokens if reply else None,
        model_reported=reply.model_reported if reply else None,
        own=reply.own if reply else None,
        fact_seq=reply.seq if reply else failure.seq if failure else None,
    )


def _end(facts: Sequence[Reply | Failure]) -> Failure | None:
    """The failure that was the item's end. One that ended an attempt or the run leaves the item to be asked again."""
    return next((fact for fact in facts if isinstance(fact, Failure) and fact.ends == "sample"), None)


def _predicted(reply: Reply | None, plan: CandidatePlan) -> str | None:
    """The candidate's text without declared reasoning; None where it gave no text."""
    if reply is None or reply.text is None:
        return None
    _, answer = split_reasoning(reply.text, plan.candidate.reasoning_tags)
    return storable(answer)
