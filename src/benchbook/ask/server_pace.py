"""The pace at which one server is asked by everyone together: the waits that it names, the limits that it shows.

Nothing here knows the requests. Each model's own `ConcurrencyLimit` comes before this one.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable


class ServerPace:
    """The turns at one server: unlimited until it first refuses for its load (429, 503, 529). From then on:

    - Nobody asks before the wait that it named is over (SPEC R3.6a).
    - At most `limit` requests are under way: half of those under way when it refused. Refusals of requests that were
      under way together count once. Growth is quick up to where it refused before, and slow from there on.
    - If even one at a time is refused, requests are sent `interval_s` apart: that is doubled until they are let in, and
      then halved towards the last that was refused. A server that refuses at random does so at any interval, so it
      stays within a few times one that the server bore.
    """

    PROBE_AFTER = 10  # rounds without a refusal before the known limit is tried again; doubled each time that it holds
    FIRST_INTERVAL_S = 0.05
    LONGEST_INTERVAL_S = 60.0
    NEAR = 1.05  # times a refused interval: near enough to it
    FORGOTTEN = 0.999  # times a refused interval, after each answer
    AT_RANDOM = 4.0  # times an interval that was borne: refusals beyond that are random
    STRICTER = 1.005  # times a borne interval, with each refusal: a server may bear less than it did
    RECENT_S = 10.0

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self.limit: int | None = None
        self.under_way = 0
        self.interval_s = 0.0
        self.held_until = 0.0
        self.answered_at: float | None = None
        self.refused_since: float | None = None  # the first refusal after the last answer
        self.alone_refused = 0  # refusals since the last answer while nothing else was under way
        self.refusals = 0  # since the last answer; those of requests under way together count once
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._timer: asyncio.TimerHandle | None = None
        self._sent_at = float("-inf")
        self._paced = False  # the last request was sent as soon as the interval allowed
        self._cut_at = float("-inf")
        self._limit_met = 0
        self._rounds = self.PROBE_AFTER
        self._since_growth = 0
        self._refused_interval_s = 0.0
        self._good_interval_s = 0.0
        self._borne_interval_s = float("inf")  # the shortest between two that were let in, one at a time
        self._let_in_at = float("-inf")
        self._last_refusal = float("-inf")
        self._status: int | None = None
        self._named_s: float | None = None

    # ── turns ────────────────────────────────────────────────────────────────────────────────────────────────

    def try_enter(self) -> bool:
        """Take a turn if the server has shown no limit, as is nearly always so."""
        if self.limit is not None or self._waiting:
            return False
        self.under_way += 1
        return True

    async def enter(self) -> None:
        """Wait for a turn, first come, first served."""
        if self.try_enter():
            return
        if not self._waiting and self._blocked_s() == 0:
            self._go()
            return
        turn = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        self._wake()
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():  # its turn had come
                self.leave()
            raise

    def leave(self) -> None:
        self.under_way -= 1
        if self._waiting:
            self._wake()

    def _go(self) -> None:
        now = self._clock()
        self._paced = now - self._sent_at < 1.5 * self.interval_s
        self._sent_at = now
        self.under_way += 1

    def _blocked_s(self) -> float:
        """Seconds until another may go; infinite if that depends on those under way."""
        if self.limit is not None and self.under_way >= self.limit:
            return float("inf")
        return max(0.0, max(self.held_until, self._sent_at + self.interval_s) - self._clock())

    def _wake(self) -> None:
        """Let those go whose turn has come, and set a timer for the next."""
        while self._waiting:
            if self._waiting[0].done():  # cancelled
                self._waiting.popleft()
            elif (blocked_s := self._blocked_s()) > 0:
                self._wake_in(blocked_s)
                return
            else:
                self._go()
                self._waiting.popleft().set_result(None)

    def _wake_in(self, seconds: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if seconds != float("inf"):
            self._timer = asyncio.get_running_loop().call_later(seconds, self._wake)

    # ── what came of it ──────────────────────────────────────────────────────────────────────────────────────

    def answered(self, sent_at: float) -> None:
        """Note an answer to a request that was sent at `sent_at`."""
        self.answered_at = self._clock()
        if self.limit is None:
            return
        self.refused_since = None
        self.alone_refused = self.refusals = 0
        if sent_at <= self._cut_at:
            return  # sent before the cut: it says nothing about the load now
        if self.interval_s and self._paced:
            self._borne_interval_s = min(self._borne_interval_s, sent_at - self._let_in_at)
            self._shorten()
        self._let_in_at = sent_at
        self._grow(self.limit)

    def _shorten(self) -> None:
        """Shorten the interval towards the longest that was refused, which is gradually forgotten."""
        self._good_interval_s = self.interval_s
        self._refused_interval_s *= self.FORGOTTEN
        middle = (self.interval_s + self._refused_interval_s) / 2
        self.interval_s = min(self.interval_s, max(middle, self._refused_interval_s * self.NEAR))

    def _grow(self, limit: int) -> None:
        self._since_growth += 1
        rounds = self._rounds if limit < self._limit_met <= limit + 1 else 1
        if self._since_growth >= limit * rounds:
            self._since_growth = 0
            self.limit = limit + 1
            self._wake()
        elif limit >= self._limit_met and self._rounds > self.PROBE_AFTER:
            self._rounds = self.PROBE_AFTER  # it now bears a load that it refused before

    def refused(self, sent_at: float, *, status: int | None, named_s: float | None, at_a_rate: bool = True) -> bool:
        """Note a refusal: the server or this machine is at its limit. True if nothing else was under way.

        Fewer requests go from now on, cut once for all that were under way together. `at_a_rate`: it limits how often
        it may be asked, so that single requests are spaced too. Call this before `leave`.
        """
        now = self._clock()
        alone = self.under_way <= 1
        self._last_refusal, self._status, self._named_s = now, status, named_s
        self.alone_refused += alone
        if self.refused_since is None:
            self.refused_since = now
        if sent_at <= self._cut_at:
            return alone
        self._cut_at = now
        self.refusals += 1
        if not alone:
            self._cut()
        elif self.limit is None:
            self.limit = 1
        elif at_a_rate and (self._paced or not self.interval_s):
            self._lengthen()
        self._since_growth = 0
        return alone

    def _cut(self) -> None:
        met = self.under_way
        if self._limit_met and met >= self._limit_met - 1:
            self._rounds = min(2 * self._rounds, 16 * self.PROBE_AFTER)  # tried again, and met again
        self._limit_met = met
        self.limit = max(1, met // 2)

    def _lengthen(self) -> None:
        """Lengthen the interval to one that was borne before, else to twice as long."""
        self._borne_interval_s *= self.STRICTER
        most_s = min(self.AT_RANDOM * self._borne_interval_s, self.LONGEST_INTERVAL_S)
        self._refused_interval_s = min(self.interval_s, most_s / 2)
        longer = max(2 * self.interval_s, self.FIRST_INTERVAL_S)
        if self._good_interval_s > self.interval_s:
            longer, self._good_interval_s = self._good_interval_s, 0.0
        self.interval_s = min(longer, most_s)

    def hold(self, seconds: float) -> None:
        """Let nobody ask before so many seconds have passed."""
        self.held_until = max(self.held_until, self._clock() + seconds)

    def silent_s(self) -> float:
        """The seconds for which the server has refused everyone."""
        return 0.0 if self.refused_since is None else self._clock() - self.refused_since

    def unanswered_for_s(self) -> float:
        """The seconds since its last answer; infinite if there was none."""
        return float("inf") if self.answered_at is None else self._clock() - self.answered_at

    def waiting(self) -> str | None:
        """The reason for waiting, in words; None if nobody waits."""
        now = self._clock()
        if now >= self.held_until and now - self._last_refusal > self.RECENT_S:
            return None
        limit = self.limit or 1
        many = "1 request" if limit == 1 else f"{limit} requests"
        if self._status is None:
            return f"this machine is at its limit, {many} at a time"
        asks = "is at its limit" if not self._named_s else f"asks to wait {_seconds(self._named_s)}"
        return f"the server {asks} ({self._status}), {many} at a time"


def _seconds(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds >= 10 else f"{seconds:.2g} s"
