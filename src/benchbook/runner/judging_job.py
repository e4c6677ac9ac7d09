"""What a `judge_protocol@v1` experiment asks: each judge about each output, once a repeat, and its probes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from benchbook.derivations.protocol_plan import ProtocolPlan
from benchbook.derivations.protocol_requests import ProtocolRequests
from benchbook.derivations.protocol_samples import ProtocolSamples
from benchbook.records import Failure, Reply
from benchbook.runner.asking import Call
from benchbook.runner.one_call import OneCall

__all__ = ["JudgingJob", "endpoint_name", "judge_of"]


def endpoint_name(judge: int) -> str:
    """What a judge's endpoint is called: its number, for a name is somebody's text."""
    return f"judge {judge}"


def judge_of(plan: ProtocolPlan, sample: int) -> int:
    """The number of the judge that a sample asks."""
    place = sample if sample < plan.n_regular else sample - plan.n_regular
    return place % len(plan.judges)


class JudgingJob:
    """`on_reply` is told of each reply that comes in this sitting, with the number of its judge."""

    def __init__(self, plan: ProtocolPlan, samples: ProtocolSamples, on_reply: Callable[[Reply, int], None]) -> None:
        self._on_reply = on_reply
        self._plan = plan
        self._samples = samples
        self._requests = ProtocolRequests(samples)

    @property
    def n_samples(self) -> int:
        return self._plan.n_samples

    def order(self) -> Iterable[int]:
        return range(self.n_samples)

    def begin(self, sample: int, facts: Sequence[Reply | Failure]) -> OneCall:
        what = self._samples[sample]
        body = self._requests.body(what)
        judge = judge_of(self._plan, sample)
        endpoint = endpoint_name(judge)
        # A repeat, or the same output again as a probe, from the cache would measure nothing (R7.3).
        cacheable = what.probe is None and what.asked.repeat == 0
        call = Call(sample, "judge", 1, body, endpoint, cacheable, begins=True)
        return OneCall(call, facts, lambda reply: self._on_reply(reply, judge))
