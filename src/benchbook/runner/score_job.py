"""What an `answer_correctness@v1` run asks: the candidate, once an item, and nobody else."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from benchbook.derivations.plan import CandidatePlan
from benchbook.derivations.requests import CandidateRequests
from benchbook.evalsets import EvalSet
from benchbook.records import Failure, Reply
from benchbook.runner.asking import Call

__all__ = ["ScoreJob", "is_answered"]


def is_answered(facts: Sequence[Reply | Failure]) -> bool:
    """Whether nothing is left to be asked of an item with these facts."""
    return any(isinstance(fact, Reply) or fact.ends == "sample" for fact in facts)


class ScoreJob:
    def __init__(self, plan: CandidatePlan, evalset: EvalSet, requests: CandidateRequests) -> None:
        self._plan = plan
        self._evalset = evalset
        self._requests = requests

    @property
    def n_samples(self) -> int:
        return self._plan.n_samples

    def order(self) -> Iterable[int]:
        return range(self.n_samples)

    def begin(self, sample: int, facts: Sequence[Reply | Failure]) -> _ScoreSteps:
        body = self._requests.candidate(self._evalset[sample % self._plan.n_items])
        call = Call(sample, "candidate", 1, body, "candidate", cacheable=sample < self._plan.n_items, begins=True)
        return _ScoreSteps(call, is_done=is_answered(facts))


class _ScoreSteps:
    def __init__(self, call: Call, *, is_done: bool) -> None:
        self._call = call
        self._is_done = is_done

    def add(self, fact: Reply | Failure) -> None:
        self._is_done = is_answered([fact])

    def next_call(self) -> Call | None:
        return None if self._is_done else self._call
