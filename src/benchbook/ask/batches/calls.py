"""The calls that would be made next for a sample, by its facts so far: by the one interface that all evaluators ask by.

A sitting of `benchbook run` waits for each answer. Here none comes for a day, so each call is answered with the failure
that a sitting would record of somebody who can't be reached: whatever else may be asked meanwhile is then asked.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from benchbook.ask.asking import Call
from benchbook.ask.work import Steps
from benchbook.record.facts import Failure, Reply, SampleFact


def calls_now(steps: Steps) -> Iterator[Call]:
    """Every call of a sample that waits for no other's answer. `steps` are good for no more than the last one given."""
    given: set[tuple[str, int, int]] = set()
    while (call := steps.next_call()) is not None:
        who = (call.role, call.judge, call.attempt)
        if who in given:  # it is asked whatever comes of it
            return
        given.add(who)
        yield call
        steps.add(
            Failure(
                sample=call.sample,
                role=call.role,
                judge=call.judge,
                attempt=call.attempt,
                error="cancelled",
                ends="sitting",
            )
        )


def n_tries(facts: Sequence[SampleFact], call: Call) -> int:
    """How often a call was made in vain, one time after the other, up to now."""
    n = 0
    for fact in _about(facts, call):
        if isinstance(fact, Reply) or fact.ends != "attempt":
            break
        n += 1
    return n


def is_given_up(facts: Sequence[SampleFact], call: Call, since: int) -> bool:
    """True if a call ended in vain since the fact with which the sitting began: it is for another sitting."""
    last = next(_about(facts, call), None)
    return isinstance(last, Failure) and last.ends in ("sitting", "run") and last.seq > since


def _about(facts: Sequence[SampleFact], call: Call) -> Iterator[SampleFact]:
    """The facts of whoever a call asks, the last first."""
    return (fact for fact in reversed(facts) if (fact.role, fact.judge) == (call.role, call.judge))
