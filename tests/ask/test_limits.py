"""Limits: how many at once, how many a minute, how much money, how long (DESIGN, The runner; SPEC R3.6)."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Coroutine
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchbook.ask import work
from benchbook.ask.limits import UNANSWERED_IN_A_ROW, Budget, ConcurrencyLimit, RateLimit, Stop
from benchbook.ask.work import Progress, run_async
from benchbook.errors import ConfigError
from benchbook.evaluators.registry import resume_run, start_run
from benchbook.evaluators.verify import verify
from benchbook.record.facts import Failure
from benchbook.record.folder import Record
from benchbook.record.reading import read_journal
from running import config, run
from scripted_server import OK_CANDIDATE, OK_JUDGE, always_good, running

# ── Gate: how many at one endpoint ───────────────────────────────────────────────────────────────────────


async def settle() -> None:
    """Let every task go on until it waits."""
    for _ in range(10):
        await asyncio.sleep(0)


def entered(gate: ConcurrencyLimit, count: int) -> list[asyncio.Task[None]]:
    return [asyncio.get_running_loop().create_task(gate.enter()) for _ in range(count)]


def in_loop(work: Coroutine[Any, Any, None]) -> None:
    asyncio.run(work)


def test_no_more_than_the_limit_are_under_way() -> None:
    async def check() -> None:
        gate = ConcurrencyLimit(2)
        tasks = entered(gate, 5)
        await settle()
        assert (gate.under_way, sum(task.done() for task in tasks)) == (2, 2)
        gate.leave()
        await settle()
        assert (gate.under_way, sum(task.done() for task in tasks)) == (2, 3)
        for task in tasks:
            task.cancel()

    in_loop(check())


def test_the_first_goes_alone_where_that_is_asked_for() -> None:
    async def check() -> None:
        gate = ConcurrencyLimit(8, 4, first_alone=True)
        tasks = entered(gate, 6)
        await settle()
        assert (gate.under_way, sum(task.done() for task in tasks)) == (1, 1)
        gate.leave()  # whatever came of it
        await settle()
        assert (gate.under_way, sum(task.done() for task in tasks)) == (4, 5)
        for task in tasks:
            task.cancel()

    in_loop(check())


def test_whoever_waits_longest_goes_first() -> None:
    async def check() -> None:
        gate, order = ConcurrencyLimit(1), list[int]()

        async def go(number: int) -> None:
            await gate.enter()
            order.append(number)
            gate.leave()

        await asyncio.gather(*(go(number) for number in range(6)))
        assert order == [0, 1, 2, 3, 4, 5]

    in_loop(check())


@pytest.mark.parametrize("cancel_before_the_turn", [True, False], ids=["while-waiting", "when-its-turn-has-come"])
def test_a_cancelled_waiter_does_not_keep_its_turn(cancel_before_the_turn: bool) -> None:
    async def check() -> None:
        gate = ConcurrencyLimit(1)
        await gate.enter()
        first, second = entered(gate, 2)
        await settle()
        if cancel_before_the_turn:
            first.cancel()
            await settle()
            gate.leave()
        else:
            gate.leave()
            first.cancel()
        await settle()
        assert second.done()
        assert gate.under_way == 1

    in_loop(check())


def grown(gate: ConcurrencyLimit, latencies_ms: list[int]) -> int:
    for latency_ms in latencies_ms:
        gate.answered(latency_ms)
    return gate.limit


@pytest.mark.parametrize(
    ("ceiling", "start", "latencies_ms", "limit"),
    [
        pytest.param(8, 2, [], 2, id="starts-where-it-is-told"),
        pytest.param(8, None, [], 8, id="or-at-the-ceiling"),
        pytest.param(4, 16, [], 4, id="never-over-the-ceiling"),
        pytest.param(8, 2, [10, 10], 3, id="grows-by-one-for-as-many-answers-as-the-limit"),
        pytest.param(8, 2, [10] * 5, 4, id="two-then-three-answers"),
        pytest.param(8, 2, [10] * 1_000, 8, id="up-to-the-ceiling"),
        pytest.param(8, 2, [10, 10] + [1_000] * 20, 3, id="no-growth-while-the-latency-climbs"),
        pytest.param(8, 2, [0] * 1_000, 8, id="answers-in-no-time"),
    ],
)
def test_the_limit_grows_while_latency_is_flat(
    ceiling: int, start: int | None, latencies_ms: list[int], limit: int
) -> None:
    assert grown(ConcurrencyLimit(ceiling, start), latencies_ms) == limit


# ── RateLimit: how many a minute ─────────────────────────────────────────────────────────────────────────


class Clock:
    """A clock that sleepers move."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 1_000.0
        monkeypatch.setattr(asyncio, "sleep", self.sleep)

    def __call__(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        assert seconds >= 0
        self.now += seconds + 1e-6  # a real sleeper never wakes early


def taken_at(clock: Clock, limit: RateLimit, units: list[float]) -> list[float]:
    """When each was let through, in seconds from the start."""
    started = clock.now
    moments: list[float] = []

    async def take() -> None:
        for one in units:
            await limit.take(one)
            moments.append(round(clock.now - started, 3))

    asyncio.run(take())
    return moments


def test_a_tenth_of_a_minute_may_come_at_once_and_the_rest_steadily(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock(monkeypatch)
    assert taken_at(clock, RateLimit(60, clock), [1.0] * 10) == [0.0] * 6 + [1.0, 2.0, 3.0, 4.0]


@pytest.mark.parametrize(
    ("per_minute", "moments_s"),
    [
        pytest.param(1, [0.0, 60.0, 120.0], id="one-a-minute"),
        pytest.param(6, [0.0, 10.0, 20.0], id="six-a-minute"),
        pytest.param(20, [0.0, 0.0, 3.0], id="twenty-a-minute"),
        pytest.param(600, [0.0, 0.0, 0.0], id="six-hundred-a-minute"),
    ],
)
def test_a_low_rate_still_lets_the_first_through_at_once(
    monkeypatch: pytest.MonkeyPatch, per_minute: int, moments_s: list[float]
) -> None:
    clock = Clock(monkeypatch)
    assert taken_at(clock, RateLimit(per_minute, clock), [1.0] * 3) == moments_s


@given(per_minute=st.integers(1, 5_000), count=st.integers(1, 300))
def test_no_window_of_a_minute_holds_more_than_the_rate_and_the_burst(per_minute: int, count: int) -> None:
    with pytest.MonkeyPatch.context() as monkeypatch:
        clock = Clock(monkeypatch)
        moments = taken_at(clock, RateLimit(per_minute, clock), [1.0] * count)
    most = per_minute + max(1.0, per_minute / 10)
    for first, moment in enumerate(moments):
        inside = sum(1 for other in moments[first:] if other - moment < 60)
        assert inside <= most + 1


def test_tokens_are_charged_afterwards_and_the_debt_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock(monkeypatch)
    limit = RateLimit(600, clock)  # ten a second; sixty at once
    assert taken_at(clock, limit, [0.0]) == [0.0]
    limit.charge(90)
    assert taken_at(clock, limit, [0.0, 0.0]) == [3.0, 3.0]  # thirty of debt


def test_an_idle_hour_is_not_saved_up(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock(monkeypatch)
    limit = RateLimit(60, clock)
    clock.now += 3_600
    assert taken_at(clock, limit, [1.0] * 8) == [0.0] * 6 + [1.0, 2.0]


def test_the_urgent_go_before_those_that_wait_already() -> None:
    async def work() -> list[str]:
        limit, taken = RateLimit(600_000), list[str]()

        async def one(name: str, *, urgent: bool) -> None:
            await limit.take(1, urgent=urgent)
            taken.append(name)

        limit.charge(60_000 + 20)  # twenty in debt: all have to wait
        async with asyncio.TaskGroup() as tasks:
            for _ in range(3):
                tasks.create_task(one("later", urgent=False))
            await asyncio.sleep(0)
            for _ in range(3):
                tasks.create_task(one("urgent", urgent=True))
        return taken

    assert asyncio.run(work()) == ["urgent"] * 3 + ["later"] * 3


def test_every_request_of_a_run_waits_its_turn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Model and judge together: four samples take eight requests, and wait eight times for the tokens' debt."""
    waits: list[float] = []
    real = RateLimit.take

    async def take(limit: RateLimit, units: float, *, urgent: bool = False) -> None:
        waits.append(units)
        await real(limit, units, urgent=urgent)

    monkeypatch.setattr(RateLimit, "take", take)
    with running(always_good) as server:
        run(tmp_path, server, 4, requests_per_minute=60_000, tokens_per_minute=60_000_000)
    assert sorted(waits) == [0] * 8 + [1] * 8


# ── Budget: money ────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("limit", "spent", "samples", "under_way", "allowed"),
    [
        pytest.param(None, "1000", ["9"], 5, True, id="no-limit"),
        pytest.param("1", "0", [], 0, True, id="nothing-spent"),
        pytest.param("1", "0", [], 7, True, id="nothing-known-yet"),
        pytest.param("0", "0", [], 0, False, id="no-money"),
        pytest.param("1", "1", [], 0, False, id="all-spent"),
        pytest.param("1", "0.8", ["0.2"], 0, True, id="exactly-enough"),
        pytest.param("1", "0.81", ["0.2"], 0, False, id="not-enough"),
        pytest.param("1", "0.5", ["0.2"], 1, True, id="enough-beside-the-one-under-way"),
        pytest.param("1", "0.5", ["0.2"], 2, False, id="not-beside-two"),
        pytest.param("1", "0.5", ["0.1", "0.4", "0.1"], 1, False, id="each-is-taken-for-the-dearest"),
    ],
)
def test_another_sample_is_begun_only_if_all_under_way_fit(
    limit: str | None, spent: str, samples: list[str], under_way: int, allowed: bool
) -> None:
    budget = Budget(None if limit is None else Decimal(limit), Decimal(spent))
    for cost in samples:
        budget.begin()
        budget.end(Decimal(cost))
    for _ in range(under_way):
        budget.begin()
    assert budget.allows_another() is allowed


DOLLAR = {"model_output_price": Decimal(500_000)}  # two output tokens an answer: a dollar a sample


def test_the_cost_limit_counts_what_earlier_sittings_spent(tmp_path: Path) -> None:
    with running(always_good) as server:
        record = run(tmp_path, server, 12, max_connections=1, max_cost_usd=Decimal(4), **DOLLAR).record
        assert len(server.asked["candidate"]) == 4
        again = run_async(resume_run(record))
        assert len(server.asked["candidate"]) == 4, "the same limit allows nothing more"
        assert "cost limit" in (again.stop.reason or "")
        run_async(resume_run(record, {"max_cost_usd": Decimal(10)}))
        assert len(server.asked["candidate"]) == 10
        done = run_async(resume_run(record, {"max_cost_usd": None}))
        assert len(server.asked["candidate"]) == len(server.asked["judge"]) == 12
    assert done.stop.reason is None
    assert verify(record).holds


def test_the_cost_limit_is_used_up_with_many_at_once_too(tmp_path: Path) -> None:
    """Eight at once may leave unspent what eight samples cost, and not most of the money."""
    with running(always_good) as server:
        result = run(tmp_path, server, 100, max_connections=8, max_cost_usd=Decimal(50), **DOLLAR)
    assert "cost limit" in (result.stop.reason or "")
    assert 42 <= result.derived.aggregates.ledger.n_attempted <= 50


def test_a_cost_limit_without_prices_would_stop_nothing_and_is_refused(tmp_path: Path) -> None:
    with running(always_good) as server, pytest.raises(ConfigError, match="max_cost_usd: found no prices"):
        run(tmp_path, server, 12, max_cost_usd=Decimal("0.01"))
    assert not (tmp_path / "runs").exists()


# ── time ─────────────────────────────────────────────────────────────────────────────────────────────────


def test_the_time_limit_stops_and_the_run_resumes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Time:
        """A second passes each time that somebody looks."""

        now = 0.0

        @classmethod
        def monotonic(cls) -> float:
            cls.now += 1
            return cls.now

    monkeypatch.setattr(work, "time", Time)
    with running(always_good) as server:
        stopped = run(tmp_path, server, 12, max_connections=1, max_seconds=5)
        assert stopped.stop.reason == "the time limit: 5 seconds have passed"
        assert not stopped.stop.failed
        assert len(server.asked["candidate"]) == 4
        found = verify(stopped.record)
        assert (found.holds, found.state) == (True, "interrupted")
        done = run_async(resume_run(stopped.record, {"max_seconds": None}))
        assert len(server.asked["candidate"]) == 12
    assert done.derived.manifest.state == "complete"


# ── errors that stop a run (R3.6a) ────────────────────────────────────────────────────────────────────────

REFUSED = {"status": 400, "body": {"error": {"message": "no such parameter"}}}


def failures(record: Record) -> list[Failure]:
    return [line.fact for line in read_journal(record.journal) if isinstance(line.fact, Failure)]


@pytest.mark.parametrize("role", ["candidate", "judge"])
def test_ten_samples_in_a_row_without_an_answer_stop_the_run(tmp_path: Path, role: str) -> None:
    def reply(who: str, n: int, request: dict[str, Any]) -> dict[str, Any]:
        return REFUSED if who == role else always_good(who, n, request)

    with running(reply) as server:
        result = run(tmp_path, server, 40, max_connections=1)
        assert len(server.asked[role]) == UNANSWERED_IN_A_ROW == 10
    assert result.stop.failed
    assert (result.stop.reason or "").startswith("10 samples in a row are unanswered: the ")
    assert "no such parameter" in (result.stop.reason or "")
    assert result.derived.manifest.state == "interrupted"
    assert {failure.ends for failure in failures(result.record)} == {"sitting"}
    assert result.derived.aggregates.aggregates.n_unanswered == 10
    assert verify(result.record).holds


@pytest.mark.parametrize(
    ("ends", "stops"),
    [
        pytest.param(["a"] * 9, False, id="nine"),
        pytest.param(["a"] * 10, True, id="ten"),
        pytest.param(["a"] * 9 + ["b"], True, id="whatever-each-said"),
        pytest.param(["a"] * 9 + [None] + ["a"] * 9, False, id="an-answer-between"),
        pytest.param([None] * 30 + ["a"] * 10, True, id="ten-after-answers"),
    ],
)
def test_only_samples_in_a_row_count(ends: list[str | None], stops: bool) -> None:
    stop = Stop()
    for end in ends:
        if end is None:
            stop.note_answer()
        else:
            stop.note_unanswered(end, "Mend it.")
    assert (stop.reason is not None) is stops


def test_a_good_sample_between_errors_lets_the_run_go_on_to_its_end_and_resume(tmp_path: Path) -> None:
    refuses = True

    def reply(role: str, n: int, request: dict[str, Any]) -> dict[str, Any]:
        number = int(request["messages"][0]["content"].split("What is ")[1].split(" ")[0])
        return REFUSED if refuses and role == "candidate" and number % 9 else always_good(role, n, request)

    with running(reply) as server:
        result = run(tmp_path, server, 30, max_connections=1)
        aggregates = result.derived.aggregates
        assert result.stop.reason is not None
        assert result.stop.reason.startswith("26 samples are unanswered: the model's server at http://")
        assert (aggregates.aggregates.n_unanswered, aggregates.ledger.n_no_answer) == (26, 0)
        assert aggregates.aggregates.accuracy_mean == 2  # of the four that were answered
        refuses = False
        whole = run_async(resume_run(result.record))
        assert len(server.asked["candidate"]) == 30 + 26
    assert (whole.stop.reason, whole.derived.aggregates.aggregates.n_unanswered) == (None, 0)
    assert whole.derived.manifest.state == "complete"


@pytest.mark.parametrize("status", [401, 403])
@pytest.mark.parametrize("role", ["candidate", "judge"])
def test_a_refused_key_stops_at_once_and_the_run_resumes(tmp_path: Path, role: str, status: int) -> None:
    refuses = [True]

    def reply(who: str, n: int, request: dict[str, Any]) -> dict[str, Any]:
        if who == role and refuses:
            return {"status": status, "body": {"error": {"message": "not allowed"}}}
        return OK_JUDGE if who == "judge" else OK_CANDIDATE

    with running(reply) as server:
        result = run(tmp_path, server, 5, max_connections=1)
        assert len(server.asked[role]) == 1
        assert [failure.ends for failure in failures(result.record)] == ["run"]
        assert f"refuses the key: status {status}: not allowed" in (result.stop.reason or "")
        refuses.clear()
        resumed = run_async(resume_run(result.record))
        assert len(server.asked[role]) == 6
        assert len(server.asked["judge" if role == "candidate" else "candidate"]) == 5
    assert resumed.derived.aggregates.ledger.n_scored == 5
    assert verify(resumed.record).holds


def test_a_wait_past_the_limit_stops_the_run_and_the_sample_is_asked_again(tmp_path: Path) -> None:
    busy = [True]

    def reply(role: str, n: int, request: dict[str, Any]) -> dict[str, Any]:
        if busy:
            return {"status": 429, "headers": {"Retry-After": "86400"}}
        return always_good(role, n, request)

    with running(reply) as server:
        result = run(tmp_path, server, 3, max_connections=1)
        assert len(server.asked["candidate"]) == 1
        assert "asks to wait 86400 s, over max_wait_ms 60000" in (result.stop.reason or "")
        busy.clear()
        resumed = run_async(resume_run(result.record))
    assert resumed.derived.aggregates.ledger.n_scored == 3


# ── a stop ends the waiting ──────────────────────────────────────────────────────────────────────────────


def stop_at_first_sample(progress: Progress) -> None:
    if not progress.stopping:
        os.kill(os.getpid(), signal.SIGINT)


@pytest.mark.parametrize(
    "limits",
    [
        pytest.param({"requests_per_minute": 120}, marks=pytest.mark.slow, id="rate"),
        pytest.param({"max_connections": 1}, id="connections"),
    ],
)
def test_after_ctrl_c_no_sample_is_begun_that_still_waits(tmp_path: Path, limits: dict[str, int]) -> None:
    """Sixty samples wait for their turn when the signal comes; none of them is sent, and all are there to resume."""
    with running(always_good) as server:
        result = run_async(start_run(config(tmp_path, server, 60, **limits), stop_at_first_sample))
        begun = len(server.asked["candidate"])
        assert result.stop.reason == "interrupted by Ctrl-C"
        assert result.derived.aggregates.ledger.n_scored >= 1
        assert begun < 30
        again = run_async(resume_run(result.record, {"requests_per_minute": None, "tokens_per_minute": None}))
    assert again.derived.aggregates.ledger.n_scored == 60
    assert len(server.asked["candidate"]) == 60
    assert verify(again.record).holds


def test_after_ctrl_c_a_failed_attempt_is_not_waited_for(tmp_path: Path) -> None:
    def reply(role: str, n: int, request: dict[str, Any]) -> dict[str, Any]:
        busy = role == "candidate" and 1 <= n <= 5
        return {"status": 503, "headers": {"Retry-After": "59"}} if busy else always_good(role, n, request)

    with running(reply) as server:
        result = run_async(start_run(config(tmp_path, server, 6, max_wait_ms=60_000), stop_at_first_sample))
        assert result.stop.reason == "interrupted by Ctrl-C"
        again = run_async(resume_run(result.record))
    assert again.derived.aggregates.ledger.n_scored == 6


def test_what_may_stop_a_run_at_once_is_asked_alone_first(tmp_path: Path) -> None:
    """A model that nobody pins, and prices that nobody knows yet, cost one sample and not as many as are under way."""
    with running(always_good) as server:
        run(tmp_path, server, 40, max_cost_usd=Decimal("0.000001"), model_output_price=Decimal(10))
        assert len(server.asked["candidate"]) == 1

    def nameless(role: str, n: int, request: dict[str, Any]) -> dict[str, Any]:
        return always_good(role, n, request) | {"model": "m"}

    with running(nameless) as server:
        run(tmp_path, server, 40, run_id="nameless", model="openai/m")
        assert len(server.asked["candidate"]) == 1
