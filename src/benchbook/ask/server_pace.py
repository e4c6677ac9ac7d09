"""How much one server is asked by everyone who asks it: the waits that it names, and the limits that it shows.

Nothing here knows what is asked. Each model's own `Gate` is in front of this one.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable


class ServerPace:
    """Unlimited until the server first refuses for its load (429, 503, 529). From then on:

    - Nobody asks before the wait is over that it named (SPEC R3.6a).
    - At most `limit` requests are under way: half of those that were when it refused, once for all that were under way
      together. Growth is quick below where it refused before, and slow from there on.
    - Where even one at a time is refused, requests are sent `interval_s` apart: that is doubled until they are let in,
      and then halved towards the last that was not. A server that refuses at random does so however far apart they are:
      the interval stays within a few times one that it bore.
    """

    PROBE_AFTER = 10  # rounds without a refusal before the limit that was met is tried again; doubled where it holds
    FIRST_INTERVAL_S = 0.05
    LONGEST_INTERVAL_S = 60.0
    NEAR = 1.05  # an interval so near to one that was refused is near enough
    FORGOTTEN = 0.999  # what is left of a refused interval after each answer
    AT_RANDOM = 4.0  # times an interval that was borne: what is refused beyond that is refused at random
    STRICTER = 1.005  # what becomes of a borne interval with each refusal: a server may bear less than it did
    RECENT_S = 10.0

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self.limit: int | None = None
        self.under_way = 0
        self.interval_s = 0.0
        self.held_until = 0.0
        self.answered_at: float | None = None
        self.refused_since: float | None = None  # the first refusal after the last answer
        self.alone_refused = 0  # refusals since the last answer where nothing else was under way
        self.refusals = 0  # since the last answer, one for all that were under way together
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._timer: asyncio.TimerHandle | None = None
        self._sent_at = float("-inf")
        self._paced = False  # whether the last was sent as soon as the interval allowed
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
        """Take a turn where the server has shown no limit, as is nearly always so."""
        if self.limit is not None or self._waiting:
            return False
        self.under_way += 1
        return True

    async def enter(self) -> None:
        """Wait for a turn, in the order of asking."""
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
        """How long until another may go; infinite where that depends on those under way."""
        if self.limit is not None and self.under_way >= self.limit:
            return float("inf")
        return max(0.0, max(self.held_until, self._sent_at + self.interval_s) - self._clock())

    def _wake(self) -> None:
        """Let those go whose turn it is, and come back when the next one's may be."""
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
        """An answer came to a request that was sent then."""
        self.answered_at = self._clock()
        if self.limit is None:
            return
        self.refused_since = None
        self.alone_refused = self.refusals = 0
        if sent_at <= self._cut_at:
            return  # of before the cut: it says nothing of what is bearable now
        if self.interval_s and self._paced:
            self._borne_interval_s = min(self._borne_interval_s, sent_at - self._let_in_at)
            self._shorten()
        self._let_in_at = sent_at
        self._grow(self.limit)

    def _shorten(self) -> None:
        """Towards the longest interval that was refused, which is forgotten little by little."""
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
            self._rounds = self.PROBE_AFTER  # it bears now what it refused before

    def refused(self, sent_at: float, *, status: int | None, named_s: float | None, at_a_rate: bool = True) -> bool:
        """The server is at its limit, or this machine: fewer at once, once for all that were under way together.

        `at_a_rate`: it says how often it may be asked, so one at a time are spaced too. Call it before `leave`. Whether
        nothing else was under way.
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
        """To one that was borne before, else twice as long."""
        self._borne_interval_s *= self.STRICTER
        most_s = min(self.AT_RANDOM * self._borne_interval_s, self.LONGEST_INTERVAL_S)
        self._refused_interval_s = min(self.interval_s, most_s / 2)
        longer = max(2 * self.interval_s, self.FIRST_INTERVAL_S)
        if self._good_interval_s > self.interval_s:
            longer, self._good_interval_s = self._good_interval_s, 0.0
        self.interval_s = min(longer, most_s)

    def hold(self, seconds: float) -> None:
        """Nobody asks before so many seconds have passed."""
        self.held_until = max(self.held_until, self._clock() + seconds)

    def silent_s(self) -> float:
        """For how long the server has refused everyone."""
        return 0.0 if self.refused_since is None else self._clock() - self.refused_since

    def unanswered_for_s(self) -> float:
        """Since when it has answered nobody; infinite where it never did."""
        return float("inf") if self.answered_at is None else self._clock() - self.answered_at

    def waiting(self) -> str | None:
        """Why there is waiting, in words; None where there is none."""
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
