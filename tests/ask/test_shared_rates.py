"""A rate that is kept together: never more in any window than it allows, nothing lent twice, nothing kept by idlers."""

from __future__ import annotations

import asyncio
import math
import selectors
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from benchbook.ask.limits import RateLimit
from benchbook.ask.shared_rates import LEASE_S, DeskLostError, Lease, LeasedRate, LendingBucket, RatesOfShard, rate_of


class Clock:
    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now


# ── the bucket ───────────────────────────────────────────────────────────────────────────────────────────────

# What is asked: after so many seconds, who, how many, of which so many come back, and so many are owed. What is lent.
Step = tuple[float, str, int, float, float, Lease]
TABLE: dict[str, tuple[int, list[Step]]] = {
    # 600 a minute: ten a second. It holds a tenth of a minute's, 60, less 20 for the time of a lease.
    "one takes all there is, and then waits for one": (600, [
        (0, "a", 100, 0, 0, Lease(40)), (0, "a", 5, 0, 0, Lease(0, 0.1)), (0.1, "a", 5, 0, 0, Lease(1)),
    ]),
    "no more than is wanted": (600, [(0, "a", 7, 0, 0, Lease(7)), (0, "b", 100, 0, 0, Lease(16))]),
    "what is not used comes back": (600, [
        (0, "a", 40, 0, 0, Lease(40)), (0, "a", 0, 25, 0, Lease(0)), (0, "a", 100, 0, 0, Lease(25)),
    ]),
    "at most what was lent comes back": (600, [
        (0, "a", 10, 0, 0, Lease(10)), (0, "a", 0, 99, 0, Lease(0)), (0, "a", 0, 99, 0, Lease(0)),
        (0, "a", 99, 0, 0, Lease(40)),
    ]),
    "nothing of a lease that is over": (600, [
        (0, "a", 40, 0, 0, Lease(40)), (2.0, "a", 0, 40, 0, Lease(0)), (0, "a", 99, 0, 0, Lease(0, 0.1)),
    ]),
    "while all is lent nothing is added": (600, [
        (0, "a", 40, 0, 0, Lease(40)), (1.0, "b", 1, 0, 0, Lease(0, 0.1)), (1.5, "b", 40, 0, 0, Lease(2)),
    ]),
    "what is owed is a debt": (600, [(0, "a", 1, 0, 60, Lease(0, 2.1)), (2.1, "a", 9, 0, 0, Lease(1))]),
    "several have a part each": (600, [
        (0, "a", 10, 0, 0, Lease(10)), (0, "b", 99, 0, 0, Lease(15)), (0, "c", 99, 0, 0, Lease(5)),
    ]),
    "one that was not heard of has none": (600, [
        (0, "a", 1, 0, 0, Lease(1)), (4.5, "b", 99, 0, 0, Lease(40)),
    ]),
    # 6 a minute: one every ten seconds.
    "a low rate lends one": (6, [
        (0, "a", 3, 0, 0, Lease(1)), (0, "a", 3, 0, 0, Lease(0, 10.0)), (9, "b", 1, 0, 0, Lease(0, 1.0)),
        (1, "b", 1, 0, 0, Lease(1)),
    ]),
}  # fmt: skip


@pytest.mark.parametrize("name", TABLE)
def test_leases(name: str) -> None:
    per_minute, steps = TABLE[name]
    clock = Clock()
    bucket = LendingBucket(per_minute, clock)
    for number, (after_s, holder, wanted, unused, owed, lease) in enumerate(steps):
        clock.now += after_s
        found = bucket.lease(holder, wanted, unused, owed)
        assert (found.units, round(found.wait_s, 6)) == (lease.units, lease.wait_s), number


def most_in(per_minute: int, seconds: float) -> float:
    """The units that any window may have: its part of the rate, and a tenth of a minute's."""
    return per_minute / 60 * seconds + max(per_minute / 10, 1 + LEASE_S * per_minute / 60)


# After some time, one of four holders uses a part of its lease somewhere in its time; then it asks again, and gives
# back what it did not use, or is killed and says nothing.
MOVES = st.lists(
    st.tuples(
        st.integers(0, 24).map(lambda eighths: eighths / 8),
        st.integers(0, 3),
        st.floats(0, 1),
        st.floats(0, 0.999),
        st.booleans(),
        st.integers(0, 200),
    ),
    max_size=60,
)


@given(per_minute=st.integers(1, 3_000), moves=MOVES)
@example(per_minute=600, moves=[(0.0, 0, 0.0, 0.0, True, 200), (1.875, 0, 0.0, 0.0, True, 200)] * 20)
def test_no_window_has_more_than_the_rate_and_the_burst(
    per_minute: int, moves: list[tuple[float, int, float, float, bool, int]]
) -> None:
    clock = Clock()
    bucket = LendingBucket(per_minute, clock)
    leases: dict[int, tuple[float, int]] = {}
    uses: list[tuple[float, int]] = []  # when, and how many
    lent = came_back = 0
    for after_s, holder, part, at, is_alive, wanted in moves:
        clock.now += after_s
        asked, units = leases.pop(holder, (0.0, 0))
        is_over = clock.now >= asked + LEASE_S
        used = math.floor(units * part) if is_alive else units
        uses.append((asked + at * min(LEASE_S, clock.now - asked), used))
        unused = units - used if is_alive else 0
        lease = bucket.lease(str(holder), wanted, unused)
        assert lease.units <= wanted
        assert lease.units or not wanted or lease.wait_s > 0
        leases[holder] = (clock.now, lease.units)
        lent += lease.units
        came_back += 0 if is_over else unused
        assert bucket._lent == sum(n for began, n in leases.values() if clock.now < began + LEASE_S)
        assert bucket._level >= 0
        assert bucket._level + bucket._lent <= bucket.capacity + 1e-6
    uses += [(asked, units) for asked, units in leases.values()]
    uses.sort()
    for first, (begins, _) in enumerate(uses):
        inside = 0
        for ends, used in uses[first:]:
            inside += used
            assert inside <= most_in(per_minute, ends - begins) + 1e-6
    elapsed = sum(move[0] for move in moves)
    assert lent - came_back <= bucket.capacity + per_minute / 60 * elapsed + 1e-6


@given(per_minute=st.integers(1, 3_000), wanted=st.integers(1, 500), eighths=st.integers(0, 15))
def test_what_comes_back_in_time_is_lent_again(per_minute: int, wanted: int, eighths: int) -> None:
    clock = Clock()
    bucket = LendingBucket(per_minute, clock)
    first = bucket.lease("a", wanted)
    clock.now += eighths / 8
    assert bucket.lease("a", 0, unused=first.units).units == 0
    assert bucket._level >= bucket.capacity - 1e-6
    assert bucket.lease("a", wanted) == first


# ── a worker's side, in virtual time ─────────────────────────────────────────────────────────────────────────


class _Passing(selectors.SelectSelector):
    """Waits for nothing: the time that somebody would wait has passed."""

    passed_s = 0.0

    def select(self, timeout: float | None = None) -> Any:
        assert timeout is not None, "nobody is waited for"
        self.passed_s += timeout
        return super().select(0)


class VirtualLoop(asyncio.SelectorEventLoop):
    """A loop whose time passes as soon as all wait."""

    def __init__(self) -> None:
        self._passing = _Passing()
        super().__init__(self._passing)

    def time(self) -> float:
        return self._passing.passed_s


def in_virtual_time(work: Callable[[Callable[[], float]], Coroutine[Any, Any, None]]) -> None:
    loop = VirtualLoop()
    with asyncio.Runner(loop_factory=lambda: loop) as runner:
        runner.run(work(loop.time))


@dataclass
class MadeDesk:
    """A desk of one bucket; it is lost after so many leases."""

    bucket: LendingBucket
    lost_after: float = math.inf
    asked: list[tuple[int, float, float]] = field(default_factory=list)

    async def lease(self, rate: str, holder: str, wanted: int, unused: float, owed: float) -> Lease:
        assert rate == "requests"
        await asyncio.sleep(0.001)
        if len(self.asked) >= self.lost_after:
            raise DeskLostError
        self.asked.append((wanted, unused, owed))
        return self.bucket.lease(holder, wanted, unused, owed)


def workers_of(desk: MadeDesk, number: int, per_minute: int, clock: Callable[[], float]) -> list[LeasedRate]:
    part = max(per_minute // number, 1)
    return [LeasedRate(desk, "requests", RateLimit(part, clock), clock) for _ in range(number)]


def test_leases_spare_most_questions() -> None:
    async def work(clock: Callable[[], float]) -> None:
        desk = MadeDesk(LendingBucket(6_000, clock))
        (rate,) = workers_of(desk, 1, 6_000, clock)
        for _ in range(2_000):
            await rate.take(1)
            await asyncio.sleep(0.02)
        assert len(desk.asked) < 50

    in_virtual_time(work)


@pytest.mark.parametrize("urgent", [False, True])
def test_one_that_works_has_the_part_of_those_that_idle(urgent: bool) -> None:
    """Of four: with a part each it would have a quarter, 150 a minute."""

    async def work(clock: Callable[[], float]) -> None:
        desk = MadeDesk(LendingBucket(600, clock))
        one, *idle = workers_of(desk, 4, 600, clock)
        for other in idle:
            await other.take(1)
        for _ in range(600):
            await one.take(1, urgent=urgent)
        assert 50 < clock() < 65

    in_virtual_time(work)


def test_all_together_keep_the_rate_and_have_alike() -> None:
    async def work(clock: Callable[[], float]) -> None:
        desk, moments = MadeDesk(LendingBucket(600, clock)), list[tuple[float, int]]()

        async def ask(number: int, rate: LeasedRate) -> None:
            while clock() < 60:
                await rate.take(1)
                moments.append((clock(), number))

        async with asyncio.TaskGroup() as group:
            for number, rate in enumerate(workers_of(desk, 5, 600, clock)):
                for _ in range(8):
                    group.create_task(ask(number, rate))
        assert 600 <= len(moments) <= most_in(600, clock())
        for first in range(0, len(moments), 7):
            inside = [one for one, _ in moments[first:] if one - moments[first][0] < 10]
            assert len(inside) <= most_in(600, 10)
        each = [sum(number == one for _, one in moments) for number in range(5)]
        assert min(each) > 60

    in_virtual_time(work)


def test_an_idle_worker_gives_back_in_time() -> None:
    async def work(clock: Callable[[], float]) -> None:
        desk = MadeDesk(LendingBucket(600, clock))
        one, other = workers_of(desk, 2, 600, clock)
        async with asyncio.TaskGroup() as group:  # it wants as many as wait: 30
            for _ in range(30):
                group.create_task(one.take(1))
        for _ in range(5):
            await one.take(1)
        await asyncio.sleep(LEASE_S * 0.8)
        assert desk.asked[-1][0] == 0  # by nobody's asking
        assert desk.asked[-1][1] > 0
        assert desk.bucket._lent == 0
        await other.take(1)

    in_virtual_time(work)


def test_tokens_are_charged_afterwards_and_their_debt_is_waited_for() -> None:
    async def work(clock: Callable[[], float]) -> None:
        desk = MadeDesk(LendingBucket(600, clock))  # ten a second, 40 at once
        (rate,) = workers_of(desk, 1, 600, clock)
        await rate.take(0)
        rate.charge(70)
        await rate.take(0)  # thirty of debt, and one to have something
        assert 3.0 <= clock() < 3.2
        await asyncio.sleep(30)
        rate.charge(50)  # of a reply that took longer than any lease
        await rate.take(0)
        assert desk.asked[-1][2] == 0 or desk.asked[-2][2] == 50
        assert 33.0 < clock() < 35.0

    in_virtual_time(work)


def test_without_its_desk_a_worker_keeps_to_its_part() -> None:
    """Of 600 a minute for four: 150, and nothing is saved up; what it owes is charged to that."""

    async def work(clock: Callable[[], float]) -> None:
        desk = MadeDesk(LendingBucket(600, clock), lost_after=0)
        rate = workers_of(desk, 4, 600, clock)[0]
        for _ in range(40):
            await rate.take(1)
        assert rate.is_lost
        assert 16.0 <= clock() <= 16.1
        rate.charge(10)
        await rate.take(0)
        assert 20.0 <= clock() <= 20.2

    in_virtual_time(work)


def test_a_shard_begins_with_nothing_saved_up() -> None:
    """A process that asks one short shard after the other has no tenth of a minute's for each."""

    async def work() -> None:
        limit = RatesOfShard(None)("requests", 600)
        assert isinstance(limit, RateLimit)
        assert limit._level == 0.0
        assert isinstance(RatesOfShard(MadeDesk(LendingBucket(600)))("requests", 600), LeasedRate)
        assert RatesOfShard(None)("tokens", None) is rate_of("tokens", None) is None
        assert isinstance(alone := rate_of("requests", 600), RateLimit)
        assert alone._level == 60.0

    asyncio.run(work())


def test_a_desk_may_be_lost_in_the_middle() -> None:
    async def work(clock: Callable[[], float]) -> None:
        desk = MadeDesk(LendingBucket(60, clock), lost_after=3)
        (rate, *_) = workers_of(desk, 2, 60, clock)

        async def ask() -> None:
            for _ in range(10):
                await rate.take(1)

        async with asyncio.TaskGroup() as group:
            for _ in range(3):
                group.create_task(ask())
        assert rate.is_lost
        assert 45.0 < clock() < 62.0

    in_virtual_time(work)
