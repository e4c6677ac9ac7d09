"""A run that goes on, as far as its journal was read: how many samples are done, what they are worth so far, what it
cost, and how fast it goes.

What is counted is counted as the end of the run will count it: a sample once nothing is left to be asked of it, its
score and the cost by the functions that derive them.
"""

from __future__ import annotations

import time
from collections import Counter, deque
from collections.abc import Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, NamedTuple, Protocol

import msgspec

from benchbook.ask.work import Pace, Resume, is_answered
from benchbook.evaluators.costs import PaidTokens, candidate_cost, evaluator_cost
from benchbook.evaluators.exact import as_float, mean
from benchbook.record.facts import BatchPrepared, Failure, Reply, Resumed, RunStarted, SampleFact, cause_of
from benchbook.record.folder import Record
from benchbook.record.growing import GrowingJournal
from benchbook.record.reading import JournalLine
from benchbook.record.standing import seconds_of
from benchbook.text import shorten

if TYPE_CHECKING:
    from benchbook.evaluators.contract import Evaluator

_LATEST = 20
_LONGEST_TEXT, _LONGEST_DETAIL = 300, 300
_LOOK_AGAIN = 64  # lines after which the clock is looked at


class SampleDone(NamedTuple):
    """A sample of which nothing is left to be asked. `score_nano` is None where it has no score, or none yet."""

    item_id: str | None
    score_nano: int | None = None
    passed: bool | None = None
    text: str | None = None


class SamplesSoFar(Protocol):
    """The word of an evaluator on samples one by one, while the run goes on."""

    def done(self, facts: Sequence[SampleFact]) -> SampleDone | None:
        """The sample with these facts; None while something is left to be asked of it."""
        ...

    def judge_of(self, reply: Reply) -> int:
        """The number of the judge who gave a reply."""
        ...

    def close(self) -> None: ...


class CountedSamples:
    """Samples that need one answer each, and whose scores come at the end of the run alone."""

    def done(self, facts: Sequence[SampleFact]) -> SampleDone | None:
        return SampleDone(None) if is_answered(facts) else None

    def judge_of(self, reply: Reply) -> int:
        return reply.judge

    def close(self) -> None:
        """Nothing is open."""


class LatestSample(msgspec.Struct, frozen=True, kw_only=True):
    """A sample that was done lately. `text` is how the model's answer begins."""

    sample: int
    item_id: str | None
    score: float | None
    passed: bool | None
    text: str | None


class FailedCalls(msgspec.Struct, frozen=True, kw_only=True):
    """Calls that brought no answer, by cause; `detail` is what the last of them said. Most are asked again."""

    cause: str
    n: int
    detail: str


class RunSoFar:
    """A run's record, read on whenever somebody looks. To be closed."""

    def __init__(self, record: Record, evaluator: Evaluator) -> None:
        started = record.started()
        self._started: RunStarted = started
        self._samples: SamplesSoFar = evaluator.samples_so_far(record, started) or CountedSamples()
        self._journal = GrowingJournal(record.journal, self._look_at)
        self.n_planned = started.n_items * started.repeats
        self._resume = Resume(self.n_planned, self._is_done)
        self._paid = PaidTokens()
        self._total_nano = 0
        self.score_name = evaluator.primary
        self.command = evaluator.command
        self.n_scored = 0
        self._failed: Counter[str] = Counter()
        self._details: dict[str, str] = {}
        self.latest: deque[LatestSample] = deque(maxlen=_LATEST)
        self._sitting_at = seconds_of(started.at)
        self._done_before = 0  # by earlier sittings
        self._config = started.config
        self.sha256 = ""  # of the last fact that was read
        self.n_facts = 0

    def close(self) -> None:
        self._samples.close()

    def read_on(self, most_s: float) -> bool:
        """Read what came since, for so many seconds at most; True once all of it is read.

        Raises: as `GrowingJournal.read_on`.
        """
        ends = time.monotonic() + most_s

        def is_enough() -> bool:
            return self.n_facts % _LOOK_AGAIN == 0 and time.monotonic() > ends

        return self._journal.read_on(is_enough) is not None

    @property
    def n_done(self) -> int:
        return self._resume.n_done

    @property
    def score(self) -> float | None:
        """The mean so far of what the run's score is a mean of: final at the end of the run, and not before."""
        return as_float(mean(self._total_nano, self.n_scored))

    @property
    def n_failed(self) -> int:
        """Calls that brought no answer; most were asked again."""
        return self._failed.total()

    @property
    def failed(self) -> tuple[FailedCalls, ...]:
        """Calls that brought no answer, the most frequent cause first."""
        found = self._failed.most_common()
        return tuple(FailedCalls(cause=cause, n=n, detail=self._details[cause]) for cause, n in found)

    @property
    def cost_usd(self) -> Decimal | None:
        """The amount spent so far; None where nothing has a price."""
        costs = (candidate_cost(self._config, self._paid), evaluator_cost(self._config, self._paid))
        known = [Decimal(cost) for cost in costs if cost is not None]
        return sum(known, start=Decimal(0)) if known else None

    def pace(self, now: float) -> Pace:
        """How fast this sitting is, at a time in seconds since 1970."""
        return Pace(now - self._sitting_at, self.n_done - self._done_before, self.n_planned - self.n_done)

    @property
    def last_at(self) -> str | None:
        return self._journal.last_at

    # ── each line ────────────────────────────────────────────────────────────────────────────────────────────

    def _look_at(self, line: JournalLine) -> None:
        self.n_facts, self.sha256 = self.n_facts + 1, line.sha256
        match line.fact:
            case Reply() as reply:
                self._paid.add(self._samples.judge_of(reply) if reply.role == "judge" else "model", reply)
            case Failure() as failure:
                cause = cause_of(failure)
                self._failed[cause] += 1
                self._details[cause] = shorten(failure.detail, _LONGEST_DETAIL)
            case BatchPrepared() as prepared:
                self._paid.factors.add(prepared)
            case Resumed(at=at):
                self._sitting_at, self._done_before = seconds_of(at), self.n_done
            case _:
                return
        self._resume.note(line)

    def _is_done(self, facts: list[SampleFact]) -> bool:
        found = self._samples.done(facts)
        if found is None:
            return False
        if found.score_nano is not None:
            self._total_nano += found.score_nano
            self.n_scored += 1
        text = None if found.text is None else shorten(found.text, _LONGEST_TEXT)
        score = as_float(found.score_nano)
        self.latest.appendleft(
            LatestSample(sample=facts[0].sample, item_id=found.item_id, score=score, passed=found.passed, text=text)
        )
        return True
