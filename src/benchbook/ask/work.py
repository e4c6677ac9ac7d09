"""The bounded pipeline: planned samples from a generator, and a fixed number of workers. Memory does not grow.

Progress is counted from facts, while it runs and when it is resumed.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine, Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import islice
from typing import Any, NamedTuple, Protocol, TypeVar

from benchbook.ask.asking import Asker, Call
from benchbook.ask.beside import is_in_a_loop, run_beside
from benchbook.ask.bytes_in_flight import SHORT, bytes_in_flight
from benchbook.ask.model_id import PinCheck
from benchbook.record.batches import PriceFactors
from benchbook.record.facts import BatchPrepared, Failure, Reply, SampleFact
from benchbook.record.journal import JournalWriter
from benchbook.record.reading import JournalLine


@dataclass(slots=True)
class Progress:
    """The progress of a run, as its handler gets it after each sample."""

    planned: int
    done: int = 0
    cost_usd: Decimal = Decimal(0)
    stopping: str | None = None
    waiting: str | None = None  # why calls wait, in words
    step: str = ""  # the step that follows the asking, such as `scored`


class Pace(NamedTuple):
    """How fast a sitting is, by all that it has done: samples end in bursts, so the last few would mislead."""

    seconds: float  # since it began
    n_done: int  # in it
    n_left: int

    @property
    def per_minute(self) -> float | None:
        return 60 * self.n_done / self.seconds if self.n_done and self.seconds > 0 else None

    @property
    def seconds_left(self) -> float | None:
        """None where nothing was done yet, or nothing is left."""
        return self.seconds * self.n_left / self.n_done if self.n_done and self.n_left else None


ProgressHandler = Callable[[Progress], None]
Tell = Callable[[str, int], None]  # takes the name of a step, and the number of samples that it has done


def telling(on_progress: ProgressHandler | None, progress: Progress) -> Tell:
    """A function that reports the progress of a step that follows the asking."""

    def tell(step: str, done: int) -> None:
        if on_progress is not None:
            progress.step, progress.done, progress.waiting = step, done, None
            on_progress(progress)

    return tell


class Resume:
    """The samples that a journal has finished, and the facts of those that it has begun.

    It keeps one bit per finished sample, and facts only of unfinished ones: as many as were under way at once. Samples
    that are none of `only` are another's.
    """

    def __init__(
        self,
        n_samples: int,
        is_finished: Callable[[list[SampleFact]], bool],
        endpoint_of: Callable[[Reply], str] = lambda reply: reply.role,
        only: range | None = None,
    ) -> None:
        self.only = range(n_samples) if only is None else only
        self._is_finished = is_finished
        self._endpoint_of = endpoint_of
        self._done = bytearray((len(self.only) + 7) // 8)
        self.begun: dict[int, list[SampleFact]] = {}
        self.n_done = 0
        self._factors = PriceFactors()
        self.tokens: dict[str, list[int | Decimal]] = {}  # by endpoint: tokens paid for, in and out

    def note(self, line: JournalLine) -> None:
        fact = line.fact
        if isinstance(fact, BatchPrepared):
            self._factors.add(fact)
        if not isinstance(fact, Reply | Failure):
            return
        facts = self.begun.setdefault(fact.sample, [])
        facts.append(fact)
        if isinstance(fact, Reply) and not fact.cached:
            tokens = self.tokens.setdefault(self._endpoint_of(fact), [0, 0])
            factor = 1 if fact.batch is None else self._factors.of(fact)
            tokens[0] += (fact.input_tokens or 0) * factor
            tokens[1] += (fact.output_tokens or 0) * factor
        if self._is_finished(facts):
            self.mark_done(fact.sample)
            del self.begun[fact.sample]

    def mark_done(self, sample: int) -> None:
        place = sample - self.only.start
        self._done[place >> 3] |= 1 << (place & 7)
        self.n_done += 1

    def is_done(self, sample: int) -> bool:
        """True also for another's."""
        if sample not in self.only:
            return True
        place = sample - self.only.start
        return bool(self._done[place >> 3] >> (place & 7) & 1)

    @property
    def n_left(self) -> int:
        return len(self.only) - self.n_done

    def among(self, order: Iterable[int]) -> Iterable[int]:
        """An order without another's samples, where it is the plan's own; any other names them, too."""
        return self.only if isinstance(order, range) else order


# Causes that asking later would not change: the request itself is refused, or there is nobody to ask.
_LASTING = frozenset({"request", "not_recorded"})


class Steps(Protocol):
    """The calls of one sample, one after the other."""

    def next_call(self) -> Call | None:
        """The next call to make; None if there is none now."""
        ...

    def add(self, fact: Reply | Failure) -> None: ...

    @property
    def is_finished(self) -> bool:
        """True if nothing is left to be asked, now or in a later sitting."""
        ...


class Questions(Protocol):
    """The questions of one sitting: a plan's samples, numbered from 0."""

    @property
    def n_samples(self) -> int: ...

    def begin(self, sample: int, facts: Sequence[Reply | Failure]) -> Steps:
        """Begin a sample, given the facts that a journal already has of it."""
        ...

    def is_finished(self, facts: list[SampleFact]) -> bool:
        """True if nothing is left to be asked of a sample, by its facts in the journal so far."""
        ...

    def endpoint_of(self, reply: Reply) -> str:
        """The endpoint that a reply in the journal came from."""
        ...

    @property
    def is_decided(self) -> bool:
        """True if the answers so far are enough, though samples are left."""
        ...

    def order(self, journal: JournalWriter, resume: Resume) -> Iterable[int]:
        """Every sample's number, in the order of asking; answers that are imported are appended on the way."""
        ...

    def close(self) -> None: ...


class Work:
    """Asks everything that a record still lacks, until all is done or there is a reason to stop.

    `order` has every sample's number, in the order of asking.
    """

    def __init__(
        self,
        questions: Questions,
        order: Iterable[int],
        asker: Asker,
        resume: Resume,
        pins: PinCheck,
        *,
        workers: int,
        max_seconds: int | None,
        on_sample: Callable[[], None],
    ) -> None:
        self._questions = questions
        self._order = order
        self._asker = asker
        self._resume = resume
        self._pins = pins
        self._workers = workers
        self._deadline = None if max_seconds is None else time.monotonic() + max_seconds
        self._max_seconds = max_seconds
        self._on_sample = on_sample
        self._may_pass: list[int] = []  # unanswered, for a cause that may be over by the end of the sitting

    async def run(self) -> None:
        """Ask. Raises: RecordError if the journal can't be written; then every worker ends at once."""
        pending = self._pending(self._order)
        if self._first_alone():
            await self._worker(islice(pending, 1))
        await self._ask(pending)
        # A fault that has passed should not need a resume by hand: each sample is asked once more (R1.3a).
        if self._may_pass and self._asker.stop.n_answered and self._asker.stop.reason is None:
            again, self._may_pass = self._may_pass, []
            self._asker.asks_again = True
            await self._ask(self._pending(again))

    async def _ask(self, pending: Iterator[int]) -> None:
        count = min(self._workers, self._resume.n_left)
        try:
            async with asyncio.TaskGroup() as workers:
                for _ in range(count):
                    workers.create_task(self._worker(pending))
        except BaseExceptionGroup as group:
            raise group.exceptions[0] from None

    def _first_alone(self) -> bool:
        """True if one sample is to come back before others are paid for: it shows their cost, and who answers."""
        return self._asker.budget.limit_usd is not None or self._pins.unsure

    def _pending(self, samples: Iterable[int]) -> Iterator[int]:
        """Unfinished samples in the order given, until a limit is reached or the run stops."""
        for sample in samples:
            if self._resume.is_done(sample):
                continue
            self._look_at_limits()
            if self._asker.stop.reason is not None:
                return
            yield sample

    def _look_at_limits(self) -> None:
        stop, budget = self._asker.stop, self._asker.budget
        if not budget.allows_another():
            stop.because(f"the cost limit: {budget.spent_usd:.4f} of {budget.limit_usd} dollars are spent")
        if self._deadline is not None and time.monotonic() >= self._deadline:
            stop.because(f"the time limit: {self._max_seconds} seconds have passed")

    async def _worker(self, pending: Iterator[int]) -> None:
        for sample in pending:
            self._asker.budget.begin()
            if await self._sample(sample):
                self._resume.mark_done(sample)
            self._on_sample()

    async def _sample(self, sample: int) -> bool:
        """Ask whatever this sample lacks, one step after the other; return True if it is finished."""
        facts = list(self._resume.begun.pop(sample, ()))
        steps = self._questions.begin(sample, facts)
        cost, n_kept = Decimal(0), 0
        fact: Reply | Failure | None = None
        try:
            while (call := steps.next_call()) is not None:
                fact = await self._asker.ask(call)
                if fact is None:
                    return False
                steps.add(fact)
                facts.append(fact)
                if isinstance(fact, Reply):
                    n_kept += _keep(fact)
                    cost += self._asker.cost_of(call, fact)
                    self._pins.look_at(call.endpoint, fact, self._asker.stop)
                elif fact.ends == "run":
                    return False
        finally:
            self._asker.budget.end(cost)
            if n_kept:
                bytes_in_flight().drop(n_kept)
        if steps.is_finished:
            self._asker.stop.note_answer()
            return True
        if isinstance(fact, Failure) and fact.cause not in _LASTING:
            self._may_pass.append(sample)
        self._resume.begun[sample] = facts
        return False


_COPIES = 4  # of a long answer: its text, and the request that shows it to a judge as text, as JSON and as it is sent


def _keep(reply: Reply) -> int:
    """Count a long answer among the bytes in flight, since later calls of its sample need it; return their number."""
    length = len(reply.text or "")
    if length <= SHORT:
        return 0
    bytes_in_flight().keep(length * _COPIES)
    return length * _COPIES


def is_answered(facts: Sequence[Reply | Failure]) -> bool:
    """True if a sample with these facts, which needs one answer, is finished."""
    return any(isinstance(fact, Reply) or fact.ends == "sample" for fact in facts)


class OneCall:
    """The steps of a sample that needs one answer (`Steps`). `on_reply` gets the reply that comes in this sitting."""

    def __init__(
        self, call: Call, facts: Sequence[Reply | Failure], on_reply: Callable[[Reply], None] | None = None
    ) -> None:
        self._call = call
        self._on_reply = on_reply
        self._asked = False  # in this sitting
        self.is_finished = is_answered(facts)

    def add(self, fact: Reply | Failure) -> None:
        self.is_finished = is_answered([fact])
        if isinstance(fact, Reply) and self._on_reply is not None:
            self._on_reply(fact)

    def next_call(self) -> Call | None:
        if self.is_finished or self._asked:
            return None
        self._asked = True
        return self._call


_T = TypeVar("_T")


def run_async(work: Coroutine[Any, Any, _T]) -> _T:
    """Run `work` to its end in a new event loop, as `asyncio.run` does; where one runs here already, beside it."""
    return run_beside(work, _in_a_new_loop) if is_in_a_loop() else _in_a_new_loop(work)


def _in_a_new_loop(work: Coroutine[Any, Any, _T]) -> _T:
    try:
        import uvloop
    except ImportError:
        return asyncio.run(work)
    return uvloop.run(work)
