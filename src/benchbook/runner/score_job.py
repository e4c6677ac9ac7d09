"""What an `answer_correctness@v1` run asks: the candidate, once an item, and nobody else."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from benchbook.derivations.plan import CandidatePlan
from benchbook.derivations.requests import CandidateRequests
from benchbook.evalsets import EvalSet
from benchbook.records import Failure, Reply
from benchbook.runner.asking import Call
from benchbook.runner.one_call import OneCall

__all__ = ["ScoreJob"]


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

    def begin(self, sample: int, facts: Sequence[Reply | Failure]) -> OneCall:
        body = self._requests.candidate(self._evalset[sample % self._plan.n_items])
        call = Call(sample, "candidate", 1, body, "candidate", cacheable=sample < self._plan.n_items, begins=True)
        return OneCall(call, facts)
