"""A rate that workers elsewhere keep together: a bucket that lends units for a short time, and a worker's side of it.

Nobody is asked for each request: a worker takes a lease of as many as it is about to use, and gives back what it did
not. So a worker that idles leaves its part to the others.
"""

from __future__ import annotations

import asyncio
import math
import time
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from benchbook.ask.limits import RateLimit

LEASE_S = 2.0


@dataclass(frozen=True, slots=True)
class Lease:
    """Units that may be used for `LEASE_S` from when they were asked for; where there are none, when to ask again."""

    units: int
    wait_s: float = 0.0


class LendingBucket:
    """At most `per_minute` units a minute, by all holders of leases together.

    As a `RateLimit` it refills steadily. It holds so much less than a tenth of a minute's units that, whenever holders
    use what they have, any window has at most its part of the rate and that tenth (or 1, and what comes in `LEASE_S`,
    where that is more). What is lent counts as here until it is over: only so is what comes back not used twice.
    """

    def __init__(self, per_minute: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._per_second = per_minute / 60
        self.capacity = max(1.0, per_minute / 10 - LEASE_S * self._per_second)
        self._level = self.capacity
        self._lent = 0
        self._leases: dict[str, tuple[int, float]] = {}  # units, until when; the first to end comes first
        self._asked: dict[str, float] = {}  # when who asked last; the first comes first
        self._clock = clock
        self._at = clock()

    def lease(self, holder: str, wanted: int, unused: float = 0.0, owed: float = 0.0) -> Lease:
        """A lease of at most `wanted` units, in the place of the holder's last, of which `unused` come back.

        One that is over has no unused units: nobody knows what a worker that says nothing did with them. `owed` were
        used beyond any lease (tokens, whose number is known afterwards), and may leave the bucket in debt.
        """
        now = self._clock()
        self._end_leases(now)
        units, _ = self._leases.pop(holder, (0, 0.0))
        self._lent -= units
        self._level += min(max(unused, 0.0), units) - max(owed, 0.0)
        if wanted < 1:
            return Lease(0)
        if self._level < 1:
            return Lease(0, (1 - self._level) / self._per_second)
        lent = min(wanted, max(1, int(self._level / self._holders(holder, now))))
        self._level -= lent
        self._lent += lent
        self._leases[holder] = (lent, now + LEASE_S)
        return Lease(lent)

    def _end_leases(self, now: float) -> None:
        """Refill up to now; leases that ended on the way were used, as far as anyone knows."""
        while self._leases:
            holder, (units, until) = next(iter(self._leases.items()))
            if until > now:
                break
            self._refill(until)
            del self._leases[holder]
            self._lent -= units
        self._refill(now)

    def _refill(self, now: float) -> None:
        self._level = min(self.capacity - self._lent, self._level + (now - self._at) * self._per_second)
        self._at = now

    def _holders(self, holder: str, now: float) -> int:
        """The number of those who ask, this one too, of late: each gets its part where there is not enough for all."""
        self._asked.pop(holder, None)
        self._asked[holder] = now
        while self._asked[oldest := next(iter(self._asked))] < now - 2 * LEASE_S:
            del self._asked[oldest]
        return len(self._asked)


@dataclass(frozen=True, slots=True)
class SharedRates:
    """The units a minute of each rate, and a name: who asks the same servers by it shares them."""

    name: str
    per_minute: Mapping[str, int]


class LendingDesk:
    """Buckets of several rates, by name."""

    def __init__(self, per_minute: Mapping[str, int]) -> None:
        self._buckets = {name: LendingBucket(units) for name, units in per_minute.items()}

    def lease(self, rate: str, holder: str, wanted: int, unused: float, owed: float) -> Lease:
        """A lease of that rate, as `LendingBucket.lease`."""
        return self._buckets[rate].lease(holder, wanted, unused, owed)


# ── a worker's side ──────────────────────────────────────────────────────────────────────────────────────────


class DeskLostError(Exception):
    """Raised where nobody lends any more."""


class Desk(Protocol):
    """A `LendingDesk`, as a worker reaches it."""

    async def lease(self, rate: str, holder: str, wanted: int, unused: float, owed: float) -> Lease:
        """Raises: DeskLostError."""
        ...


class Rate(Protocol):
    """A limit of so many units a minute; see `RateLimit`."""

    async def take(self, units: float, *, urgent: bool = False) -> None: ...
    def charge(self, units: float) -> None: ...


RateOf: TypeAlias = Callable[[str, int | None], Rate | None]


def rate_of(name: str, per_minute: int | None) -> Rate | None:
    """The rate of a run that one process asks; None where it is not limited."""
    del name
    return None if per_minute is None else RateLimit(per_minute)


@dataclass(frozen=True, slots=True)
class RatesOfShard:
    """The rates of one shard: leases of the whole run's where there is a desk, else its part of them.

    Of its part nothing is saved up when it begins: others of the run were asked until then, or are asked, too.
    """

    desk: Desk | None

    def __call__(self, name: str, per_minute: int | None) -> Rate | None:
        """The rate of that name, of which `per_minute` is the shard's part."""
        if per_minute is None:
            return None
        own = RateLimit(per_minute)
        own.empty()
        return own if self.desk is None else LeasedRate(self.desk, name, own)


class LeasedRate:
    """A rate of which a worker has leases. Once the desk is lost, it keeps to `own`, its part of the rate."""

    KEEP = 0.75  # of a lease's time: what is left comes back while it still counts
    LONGEST_WAIT_S = 10.0
    _PAUSE_S = 0.02

    def __init__(self, desk: Desk, name: str, own: RateLimit, clock: Callable[[], float] = time.monotonic) -> None:
        self._desk = desk
        self._name = name
        self._own = own
        self._clock = clock
        self._holder = uuid.uuid4().hex  # of this sitting: what an earlier one left was not given back
        self._left = 0.0  # of the lease; negative where more was charged
        self._until = -math.inf
        self._owed = 0.0
        self._used = 0.0  # since the last lease began
        self._since = clock()
        self._waiting = 0
        self._urgent = 0
        self._turn, self._urgent_turn, self._renewing = asyncio.Lock(), asyncio.Lock(), asyncio.Lock()
        self._giving_back: asyncio.Task[None] | None = None
        self.is_lost = False

    async def take(self, units: float, *, urgent: bool = False) -> None:
        """Wait until `units` may be used; 0 waits until something is left. As `RateLimit.take`."""
        self._waiting += 1
        self._urgent += urgent
        try:
            async with self._urgent_turn if urgent else self._turn:
                while not self.is_lost:
                    if self._urgent and not urgent:
                        await asyncio.sleep(self._PAUSE_S)
                    elif self._has(units):
                        self._left -= units
                        self._used += units
                        return
                    else:
                        await asyncio.sleep(await self._renewed())
        finally:
            self._waiting -= 1
            self._urgent -= urgent
        await self._own.take(units, urgent=urgent)

    def charge(self, units: float) -> None:
        """Count what is known afterwards, which may leave a debt. As `RateLimit.charge`."""
        self._used += units
        if self.is_lost:
            self._own.charge(units)
        elif self._clock() < self._until:
            self._left -= units
        else:
            self._owed += units

    def _has(self, units: float) -> bool:
        return self._clock() < self._until and self._left > 0 and self._left >= units

    async def _renewed(self, *, gives_back: bool = False) -> float:
        """Take another lease, or only give back what is left of the last; return the seconds to wait before the next
        try."""
        async with self._renewing:
            if self._clock() < self._until and self._left > 0:
                return 0.0  # another has
            wanted = 0 if gives_back else self._wanted()
            unused, owed = max(self._left, 0.0), self._owed + max(-self._left, 0.0)
            self._left = self._owed = 0.0
            self._until, asked = -math.inf, self._clock()
            try:
                lease = await self._desk.lease(self._name, self._holder, wanted, unused, owed)
            except DeskLostError:
                self._lose(owed)
                return 0.0
            except asyncio.CancelledError:
                self._owed += owed  # said next time, even if it was heard
                raise
            if lease.units:
                self._left, self._until = float(lease.units), asked + self.KEEP * LEASE_S
                asyncio.get_running_loop().call_later(self.KEEP * LEASE_S, self._give_back)
                return 0.0
            return min(max(lease.wait_s, self._PAUSE_S), self.LONGEST_WAIT_S)

    def _lose(self, owed: float) -> None:
        """Keep to the worker's own part from now on, of which nothing is saved up: all had the whole until now."""
        self.is_lost = True
        self._own.empty()
        self._own.charge(owed + self._owed)

    def _wanted(self) -> int:
        """As many as wait, or as will be used in another lease's time, by the last; at most twice as many as then."""
        now = self._clock()
        used, self._used = self._used, 0.0
        seconds, self._since = max(now - self._since, LEASE_S / 2), now
        return max(1, self._waiting, math.ceil(used * LEASE_S / seconds))

    def _give_back(self) -> None:
        """Give back what is left of a lease that nobody renewed."""
        is_over = self._clock() >= self._until > -math.inf
        if is_over and self._left > 0 and not self._renewing.locked() and not self.is_lost:
            self._giving_back = asyncio.ensure_future(self._gave_back())

    async def _gave_back(self) -> None:
        await self._renewed(gives_back=True)
