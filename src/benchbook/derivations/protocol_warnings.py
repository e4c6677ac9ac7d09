"""What a reader of a `judge_protocol@v1` record has to know before anything else, in words (SPEC R1.3b, P4.3)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from benchbook.derivations.derivation import derivation_of
from benchbook.derivations.identity_warnings import identity_warnings
from benchbook.derivations.protocol_judges import JudgeCounts
from benchbook.derivations.protocol_plan import ProtocolPlan
from benchbook.derivations.rubric_steps import NOT_ASKED
from benchbook.derivations.state import JournalState
from benchbook.derivations.unanswered import Unanswered

__all__ = ["task_warning", "warnings_of"]


def warnings_of(
    state: JournalState,
    plan: ProtocolPlan,
    judges: Sequence[JudgeCounts],
    unanswered: Sequence[Unanswered],
    *,
    n_attempted: int,
    n_rows: int,
    n_valid: int,
) -> Iterator[str]:
    """In order of importance."""
    yield from (one.words for one in unanswered)
    if unanswered:
        accepted = state.ended is not None and state.ended.accepts_unanswered
        then = "the run was ended as it is" if accepted else "resuming the run asks for it again"
        yield f"What is unanswered is not invalid, and no gap of a judge's making: {then}."
    if plan.task == "unknown":
        yield task_warning(judged_elsewhere=plan.judgements_sha256 is not None)
    for judge in judges:
        if judge.reported.changed:
            yield f"The judge {judge.plan.name} changed during the run."
        if (n_truncated := judge.sums["truncated"]) > 0:
            yield f"{n_truncated} replies of {judge.plan.name} were cut by max_tokens."
    if derivation_of(state.started) >= 3:
        roles = [(f"judge {judge.plan.name}", judge.model_id, judge.reported) for judge in judges]
        yield from identity_warnings(state.started.identity, roles)
    if n_rows and not n_valid:
        yield "No evaluation is valid: nothing here says anything about the targets."
    if state.state != "complete":
        n_answered = n_attempted - sum(one.n_samples for one in unanswered if one.cause != NOT_ASKED)
        yield f"The run is {state.state}: {n_answered} of {plan.n_samples} samples."


def task_warning(*, judged_elsewhere: bool) -> str:
    """P4.3: without the task nobody can say whether its instructions were kept."""
    if judged_elsewhere:
        return (
            "What the targets were asked is not known here, nor whether the judges were shown it: "
            "INSTRUCTION_COMPLIANCE may have been judged without the instructions."
        )
    return "What the targets were asked is not known: INSTRUCTION_COMPLIANCE was judged without the instructions."
