"""The user's limits, concurrency that adapts below them, and the reasons that stop a run: a limit, fault or Ctrl-C."""

from __future__ import annotations

import asyncio
import signal
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from decimal import Decimal

from benchbook.ask.beside import SIGNALS, interrupted_by
from benchbook.text import sentences


class ConcurrencyLimit:
    """A limit on the requests that are under way at one endpoint.

    Starts at `start`, grows by one for every `limit` answers that come without the latency climbing, and never exceeds
    `ceiling`, the user's limit. The server's own limits are in `ServerPace`.
    `first_alone`: no other request is sent before the first has an outcome, which may show that none need be (R3.6a).
    """

    LATENCY_CLIMB = 2.0  # growth stops while the recent latency is over this many times the best seen
    SMOOTHING = 0.05

    def __init__(self, ceiling: int, start: int | None = None, *, first_alone: bool = False) -> None:
        self.ceiling = ceiling
        self._start = min(ceiling, start if start is not None else ceiling)
        self.limit = 1 if first_alone else self._start
        self.under_way = 0
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._since_growth = 0
        self._recent_ms = 0.0
        self._best_ms = float("inf")

    @property
    def has_room(self) -> bool:
        return self.under_way < self.limit

    def try_enter(self) -> bool:
        """Take a turn if there is one now."""
        if self.under_way >= self.limit:
            return False
        self.under_way += 1
        return True

    async def enter(self) -> None:
        while self.under_way >= self.limit:
            turn = asyncio.get_running_loop().create_future()
            self._waiting.append(turn)
            try:
                await turn
            except asyncio.CancelledError:
                if turn.done() and not turn.cancelled():
                    self._wake()
                raise
        self.under_way += 1

    def leave(self) -> None:
        self.under_way -= 1
        self.limit = max(self.limit, self._start)
        self._wake()

    def _wake(self) -> None:
        free = self.limit - self.under_way
        while free > 0 and self._waiting:
            turn = self._waiting.popleft()
            if not turn.done():
                turn.set_result(None)
                free -= 1

    def answered(self, latency_ms: int) -> None:
        """Note an answer, and grow if that does not cost latency."""
        self._recent_ms += (latency_ms - self._recent_ms) * (self.SMOOTHING if self._recent_ms else 1.0)
        self._best_ms = min(self._best_ms, max(self._recent_ms, 1.0))
        if self.limit >= self.ceiling:
            return
        self._since_growth += 1
        if self._since_growth >= self.limit and self._recent_ms <= self.LATENCY_CLIMB * self._best_ms:
            self._since_growth = 0
            self.limit += 1
            self._wake()


class RateLimit:
    """At most `per_minute` units a minute, in a bucket that refills steadily and holds a tenth of a minute.

    A cost that is known only afterwards (tokens) is charged then, and may leave the bucket in debt.
    """

    def __init__(self, per_minute: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._per_second = per_minute / 60
        self._capacity = max(1.0, per_minute / 10)
        self._level = self._capacity
        self._clock = clock
        self._at = clock()
        self._turn = asyncio.Lock()
        self._urgent_turn = asyncio.Lock()
        self._urgent = 0  # the number that wait, or are about to go

    def _refill(self) -> None:
        now = self._clock()
        self._level = min(self._capacity, self._level + (now - self._at) * self._per_second)
        self._at = now

    async def take(self, units: float, *, urgent: bool = False) -> None:
        """Wait, in turn, until `units` may be used; 0 waits until there is no debt.

        The urgent have a queue of their own, before all others: samples that are begun are finished first.
        """
        self._urgent += urgent
        try:
            async with self._urgent_turn if urgent else self._turn:
                self._refill()
                while self._level < units or (self._urgent and not urgent):
                    await asyncio.sleep(max(units - self._level, 1) / self._per_second)
                    self._refill()
                self._level -= units
        finally:
            self._urgent -= urgent

    def charge(self, units: float) -> None:
        self._refill()
        self._level -= units

    def empty(self) -> None:
        """Have nothing saved up: it was used elsewhere."""
        self._refill()
        self._level = min(self._level, 0.0)


class Budget:
    """The money that a run may spend.

    The cost of a sample is known once it is done. So that many under way at once do not overspend together, each counts
    as much as the dearest so far. The limit can be exceeded by the first samples, before any cost is known.
    """

    def __init__(self, limit_usd: Decimal | None, spent_usd: Decimal = Decimal(0)) -> None:
        self.limit_usd = limit_usd
        self.spent_usd = spent_usd
        self._dearest = Decimal(0)
        self._under_way = 0

    def allows_another(self) -> bool:
        if self.limit_usd is None:
            return True
        return self.spent_usd + (self._under_way + 1) * self._dearest <= self.limit_usd and (
            self.spent_usd < self.limit_usd
        )

    def begin(self) -> None:
        self._under_way += 1

    def end(self, cost_usd: Decimal) -> None:
        self._under_way -= 1
        self._dearest = max(self._dearest, cost_usd)

    def spend(self, cost_usd: Decimal) -> None:
        self.spent_usd += cost_usd


UNANSWERED_IN_A_ROW = 10  # R3.6a: so many unanswered samples in a row stop the run


class Stop:
    """The reason to stop a run, set by whoever finds one; workers check it before they take the next sample.

    `failed`: something is wrong and a person must act, as opposed to a limit that was reached or a Ctrl-C.
    """

    def __init__(self) -> None:
        self.reason: str | None = None
        self.failed = False
        self.interrupted = False  # once already, by a person
        self.usage = False  # the fault is in how the run was set up
        self.on_stop: Callable[[], None] = lambda: None
        self.n_answered = 0  # in this sitting
        self._in_a_row = 0
        self._last_said = ""
        self._last_advice = ""

    def because(self, reason: str, *, failed: bool = False, usage: bool = False) -> None:
        """Stop for this reason, unless there is one already."""
        if self.reason is None:
            self.reason, self.failed, self.usage = reason, failed, usage
            self.on_stop()

    def settle(self) -> None:
        """Drop the reason: the run is whole, however the asking ended."""
        self.reason, self.failed, self.usage, self.interrupted = None, False, False, False

    def note_unanswered(self, said: str, advice: str, *, in_a_row: bool = True) -> None:
        """Note a sample that ended unanswered: `said` has who was asked and what happened, `advice` the remedy."""
        self._in_a_row += in_a_row
        self._last_said, self._last_advice = said, advice
        if self._in_a_row >= UNANSWERED_IN_A_ROW:
            reason = f"{UNANSWERED_IN_A_ROW} samples in a row are unanswered: {said}"
            self.because(sentences(reason, advice), failed=True)

    def note_answer(self) -> None:
        """Note a sample that is finished; a candidate's answer alone does not undo its judge's failure."""
        self._in_a_row = 0
        self.n_answered += 1

    def over_unanswered(self, n_left: int, *, accept: bool) -> None:
        """Stop the run, resumably, for the `n_left` samples without an answer, unless it may `accept` them. A set
        without a single answer is never accepted at once (R3.6a)."""
        if self.reason is not None or not n_left or (accept and self.n_answered):
            return
        are = "1 sample is" if n_left == 1 else f"{n_left:,} samples are"
        said = sentences(f": {self._last_said}", self._last_advice) if self._last_said else ""
        self.because(f"{are} unanswered{said}", failed=True)


@contextmanager
def two_step_interrupt(stop: Stop, on_first: Callable[[], None] = lambda: None) -> Iterator[None]:
    """Handle SIGINT and SIGTERM while the block runs; the second one cancels the task that entered it.

    `on_first` is called after the first, so that the stop can be shown at once. Signals belong to the main thread: in
    another they are those that a waiting caller passes on, and a caller elsewhere cancels the task itself.
    """
    task = asyncio.current_task()

    def handle(name: str) -> None:
        if stop.interrupted:
            if task is not None:
                task.cancel()
            return
        stop.interrupted = True
        stop.because(f"interrupted by {name}")
        on_first()

    in_main = threading.current_thread() is threading.main_thread()
    try:
        with _signals_handled(handle) if in_main else interrupted_by(handle):
            yield
    except asyncio.CancelledError:
        if not stop.interrupted or task is None:
            raise
        task.uncancel()


@contextmanager
def _signals_handled(handle: Callable[[str], None]) -> Iterator[None]:
    loop, previous = asyncio.get_running_loop(), {number: signal.getsignal(number) for number in SIGNALS}
    for number, name in SIGNALS.items():
        loop.add_signal_handler(number, handle, name)
    try:
        yield
    finally:
        for number, handler in previous.items():
            loop.remove_signal_handler(number)
            signal.signal(number, handler)
