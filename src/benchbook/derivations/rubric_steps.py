"""What a sample's facts say is to be done next, and what came of it (SPEC R1.3, R3.5, R3.6).

The runner asks `next_step` until it says Done; a resumed run asks it of the facts that are already there. So going
on after a kill is nothing special.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

import msgspec

from benchbook.derivations.plan import Plan
from benchbook.records.facts import Failure, Reply
from benchbook.scorers.rubric import NO_ANSWER, EvaluatorError, Outcome
from benchbook.scorers.rubric_reply import Parsed, Rejected, parse_reply, split_reasoning

__all__ = ["AskCandidate", "AskJudge", "Done", "History", "SampleFact", "Step", "next_step", "read_history"]

SampleFact = Reply | Failure
MAX_JUDGE_ATTEMPTS = 2  # R3.5: a rejected reply is asked for once more


class AskCandidate(msgspec.Struct, frozen=True):
    pass


class AskJudge(msgspec.Struct, frozen=True):
    attempt: int  # from 1
    answer: str


class Done(msgspec.Struct, frozen=True):
    pass


Step = AskCandidate | AskJudge | Done


@dataclass(slots=True)
class History:
    """A sample's facts, sorted out as they come, in the order of the journal.

    `answer` is the candidate's text without declared reasoning; None where it gave none.
    """

    plan: Plan
    candidate: Reply | None = None
    candidate_failure: Failure | None = None
    answer: str | None = None
    reasoning: str | None = None
    judge_replies: list[tuple[Reply, Parsed | Rejected]] = field(default_factory=list)
    judge_failure: Failure | None = None
    transport_retries: int = 0

    @property
    def parsed(self) -> Parsed | None:
        """The judge's scores, where its last reply kept the rules."""
        last = self.judge_replies[-1][1] if self.judge_replies else None
        return last if isinstance(last, Parsed) else None

    def add(self, fact: SampleFact) -> None:
        if isinstance(fact, Failure):
            self._add_failure(fact)
        elif fact.role == "candidate":
            self.candidate, self.candidate_failure = fact, None
            if fact.text is not None:
                self.reasoning, answer = split_reasoning(fact.text, self.plan.candidate.reasoning_tags)
                self.answer = answer if answer.strip() else None
        else:
            self.judge_failure = None
            self.judge_replies.append((fact, _read_judge(fact, self.plan)))

    def _add_failure(self, fact: Failure) -> None:
        if fact.ends == "attempt":
            self.transport_retries += 1
        elif fact.role == "candidate":
            self.candidate_failure = fact
        else:
            self.judge_failure = fact


def read_history(facts: Sequence[SampleFact], plan: Plan) -> History:
    """Sort out a sample's facts."""
    history = History(plan)
    for fact in facts:
        history.add(fact)
    return history


def _read_judge(fact: Reply, plan: Plan) -> Parsed | Rejected:
    if fact.text is None:
        return Rejected("empty_reply", f"no text came (finish reason {fact.finish_reason})")
    found = parse_reply(fact.text, plan.judge.reasoning_tags)
    if isinstance(found, Rejected) and found.reason == "malformed_json" and fact.finish_reason == "length":
        return Rejected("truncated", f"cut by max_tokens: {found.detail}")
    return found


def next_step(history: History) -> Step:
    """What is to be asked next. A failure that ended the run is not the sample's end: it is asked again."""
    if history.candidate is None:
        failure = history.candidate_failure
        return Done() if failure is not None and failure.ends == "sample" else AskCandidate()
    if history.answer is None:
        return Done()  # R1.3: no text, no judge
    if history.judge_failure is not None and history.judge_failure.ends == "sample":
        return Done()
    attempts = len(history.judge_replies)
    if history.parsed is not None or attempts >= MAX_JUDGE_ATTEMPTS:
        return Done()
    return AskJudge(attempts + 1, history.answer)


def no_answer_reason(history: History) -> str | None:
    """Why the candidate gave no answer (R1.3); None where it gave one."""
    if history.answer is not None:
        return None
    if history.candidate is None:
        failure = history.candidate_failure
        return "not_asked" if failure is None else failure.error
    return "content_filter" if history.candidate.finish_reason == "content_filter" else "empty"


def outcome_of(history: History) -> Outcome:
    """What the scores are computed from."""
    candidate, failure = history.candidate, history.candidate_failure
    if history.answer is None:
        # Only a time-out has a latency (R1.2): a call that failed at once was not quick to answer.
        timed_out = failure is not None and failure.error == "timeout"
        elapsed_ms = failure.latency_ms if failure and timed_out else candidate.latency_e2e_ms if candidate else None
        return Outcome(
            accuracy_score=0,
            score_origin=NO_ANSWER,
            timed_out=timed_out,
            latency_e2e_ms=elapsed_ms,
            latency_model_ms=candidate.latency_model_ms if candidate else None,
            input_tokens=candidate.input_tokens if candidate else None,
            output_tokens=candidate.output_tokens if candidate else None,
        )
    assert candidate is not None  # noqa: S101 - an answer has its reply
    parsed = history.parsed
    return Outcome(
        accuracy_score=parsed.accuracy_score if parsed else None,
        faithfulness_score=parsed.faithfulness_score if parsed else None,
        evaluator_error=None if parsed else evaluator_error(history),
        latency_e2e_ms=candidate.latency_e2e_ms,
        latency_model_ms=candidate.latency_model_ms,
        input_tokens=candidate.input_tokens,
        output_tokens=candidate.output_tokens,
    )


def evaluator_error(history: History) -> EvaluatorError:
    """Why no judge's score came (R3.5, R3.6); `cancelled` where the run ended before one could."""
    if history.judge_failure is not None:
        error: Literal["provider_error", "timeout", "cancelled"] = history.judge_failure.error
        return error
    return "parse_error" if len(history.judge_replies) >= MAX_JUDGE_ATTEMPTS else "cancelled"
