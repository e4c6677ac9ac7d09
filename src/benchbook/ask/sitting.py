"""One stretch of work on a record: what its journal lacks is asked, within the limits, and how it ended is written."""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import Decimal
from typing import Protocol, runtime_checkable

from benchbook.ask.asking import Asker, Endpoint
from benchbook.ask.limits import Budget, RateLimit, Stop
from benchbook.ask.model_id import PinCheck
from benchbook.ask.requests import ResponseCache
from benchbook.ask.work import Job, Progress, ProgressHandler, Resume, Tell, Work, telling
from benchbook.record.facts import Interrupted, Reply, Resumed, RunEnded, SampleFact
from benchbook.record.folder import Record
from benchbook.record.journal import JournalWriter
from benchbook.record.reading import JournalLine

__all__ = ["Means", "Questions", "Sitting", "two_step_interrupt"]


_SIGNALS = {signal.SIGINT: "Ctrl-C", signal.SIGTERM: "a request to terminate"}


@contextmanager
def two_step_interrupt(stop: Stop, on_first: Callable[[], None] = lambda: None) -> Iterator[None]:
    """Handle SIGINT and SIGTERM while the block runs; the second one cancels the task that entered it.

    `on_first` is called after the first, so that it can be shown at once.
    """
    if threading.current_thread() is not threading.main_thread():
        yield  # signals belong to the main thread; a caller elsewhere cancels the task itself
        return
    loop, task = asyncio.get_running_loop(), asyncio.current_task()
    previous = {number: signal.getsignal(number) for number in _SIGNALS}

    def handle(name: str) -> None:
        if stop.interrupted:
            if task is not None:
                task.cancel()
            return
        stop.interrupted = True
        stop.because(f"interrupted by {name}")
        on_first()

    for number, name in _SIGNALS.items():
        loop.add_signal_handler(number, handle, name)
    try:
        yield
    except asyncio.CancelledError:
        if not stop.interrupted or task is None:
            raise
        task.uncancel()
    finally:
        for number, handler in previous.items():
            loop.remove_signal_handler(number)
            signal.signal(number, handler)


class Questions(Job, Protocol):
    """What a record still asks, for one sitting."""

    def is_finished(self, facts: list[SampleFact]) -> bool:
        """Whether nothing is left to be asked of a sample, by what the journal has of it so far."""
        ...

    def endpoint_of(self, reply: Reply) -> str:
        """Which endpoint a reply in the journal came from."""
        ...

    @property
    def is_decided(self) -> bool:
        """Whether what was asked is enough, though samples are left."""
        ...

    def order(self, journal: JournalWriter, resume: Resume) -> Iterable[int]:
        """Every sample's number, as it is to be asked; what is imported rather than asked is appended on the way."""
        ...

    def close(self) -> None: ...


@runtime_checkable
class Concludes(Protocol):
    """Questions of which more is to be recorded once a sitting has asked what it could."""

    async def conclude(self, journal: JournalWriter, stop: Stop, tell: Tell) -> bool:
        """Appends it, and says to `tell` how far it is; tells whether all of it is there.

        A person who interrupted the asking does not wait for it.
        """
        ...


class Limits(Protocol):
    """The settings of a sitting, whatever it asks."""

    @property
    def max_connections(self) -> int: ...
    @property
    def requests_per_minute(self) -> int | None: ...
    @property
    def tokens_per_minute(self) -> int | None: ...
    @property
    def max_cost_usd(self) -> Decimal | None: ...
    @property
    def max_seconds(self) -> int | None: ...
    @property
    def max_retries(self) -> int: ...
    @property
    def max_wait_ms(self) -> int: ...
    @property
    def accept_unanswered(self) -> bool: ...


@dataclass(frozen=True, slots=True)
class Means:
    """What a sitting asks with."""

    endpoints: Mapping[str, Endpoint]
    cache: ResponseCache | None


class Sitting:
    """From the opening of a record's journal to its closing. `stop.reason` then says why it ended early."""

    def __init__(
        self,
        record: Record,
        config: Limits,
        means: Means,
        questions: Questions,
        stop: Stop,
        on_progress: ProgressHandler | None,
    ) -> None:
        self._stop = stop
        self._record = record
        self._config = config
        self._means = means
        self._questions = questions
        self._on_progress = on_progress
        self._progress = Progress(planned=questions.n_samples)
        self._resume = Resume(questions.n_samples, questions.is_finished, questions.endpoint_of)
        self._ended = False

    async def ask(self, resumed: Resumed | None, pins: PinCheck, *, as_it_is: bool = False) -> None:
        """Open the journal, ask what it lacks, and say in it how the sitting ended. `resumed` is None at the first.

        `as_it_is`: nobody is asked, and the run ends with what is unanswered (R1.3a).
        """
        with JournalWriter(self._record.journal, on_line=self._note) as journal:
            if self._ended:
                return
            if resumed is not None:
                journal.append(resumed)
            accepts = as_it_is or self._config.accept_unanswered
            if not self._questions.is_decided and not as_it_is:
                await self._ask_all(journal, pins)
                self._stop.over_unanswered(len(self._resume.begun), accept=accepts)
            if not await self._conclude(journal):
                journal.append(Interrupted(reason=self._stop.reason or "stopped at once"))
            elif self._questions.is_decided:
                journal.append(RunEnded())
                self._stop.settle()  # nothing is left to resume
            elif self._resume.n_done == self._questions.n_samples:
                journal.append(RunEnded())
            elif accepts and self._stop.reason is None:
                journal.append(RunEnded(accepts_unanswered=True))
            else:
                journal.append(Interrupted(reason=self._stop.reason or "stopped at once"))

    async def _conclude(self, journal: JournalWriter) -> bool:
        """Whether what follows the asking is done, too."""
        if not isinstance(self._questions, Concludes):
            return True
        is_whole = False
        tell = telling(self._on_progress, self._progress)

        def say_stop() -> None:
            self._progress.stopping = self._stop.reason
            tell(self._progress.step, self._progress.done)

        with two_step_interrupt(self._stop, on_first=say_stop):
            is_whole = await self._questions.conclude(journal, self._stop, tell)
        return is_whole  # noqa: RET504 - a person who interrupts it twice leaves it as it was

    def _note(self, line: JournalLine) -> None:
        self._resume.note(line)
        self._ended = self._ended or isinstance(line.fact, RunEnded)

    async def _ask_all(self, journal: JournalWriter, pins: PinCheck) -> None:
        asker = self._asker(journal)
        asker.on_wait = lambda: self._report(asker)
        work = Work(
            self._questions,
            self._questions.order(journal, self._resume),
            asker,
            self._resume,
            pins,
            workers=self._config.max_connections,
            max_seconds=self._config.max_seconds,
            on_sample=lambda: self._report(asker),
        )
        with two_step_interrupt(self._stop, on_first=lambda: self._report(asker)):
            await work.run()

    def _asker(self, journal: JournalWriter) -> Asker:
        config, endpoints, tokens = self._config, self._means.endpoints, self._resume.tokens
        paid = (endpoint.cost_usd(*tokens[name]) for name, endpoint in endpoints.items() if name in tokens)
        spent = sum(paid, start=Decimal(0))
        return Asker(
            journal=journal,
            endpoints=endpoints,
            stop=self._stop,
            budget=Budget(config.max_cost_usd, spent),
            max_retries=config.max_retries,
            max_wait_ms=config.max_wait_ms,
            requests=RateLimit(config.requests_per_minute) if config.requests_per_minute else None,
            tokens=RateLimit(config.tokens_per_minute) if config.tokens_per_minute else None,
            cache=self._means.cache,
        )

    def _report(self, asker: Asker) -> None:
        if self._on_progress is not None:
            self._progress.done = self._resume.n_done
            self._progress.cost_usd = asker.budget.spent_usd
            self._progress.stopping = self._stop.reason
            self._progress.waiting = asker.waiting
            self._on_progress(self._progress)
