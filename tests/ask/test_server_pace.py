"""What a server says of its load, kept by everyone who asks it (SPEC R3.6a)."""

from __future__ import annotations

import asyncio
import errno
import random
import socket
import time
import weakref
from collections.abc import Callable, Coroutine
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from benchbook.ask import asking
from benchbook.ask.providers import http_client
from benchbook.ask.roles import open_means, plan_of_role
from benchbook.ask.server_pace import ServerPace
from benchbook.ask.work import Progress, run_async
from benchbook.evaluators.candidate import model_settings
from benchbook.evaluators.registry import start_run
from benchbook.evaluators.rubric.preparing import judges_settings
from benchbook.evaluators.settings import RunConfig
from benchbook.evaluators.verify import verify
from benchbook.record.facts import Failure
from benchbook.record.folder import Record
from benchbook.record.reading import read_journal
from running import config, run
from scripted_server import always_good, running

NAMED = {"status": 429, "headers": {"Retry-After-Ms": "20"}, "body": {"error": {"message": "slow down"}}}


class Clock:
    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now


def in_loop(work: Coroutine[Any, Any, None]) -> None:
    asyncio.run(work)


async def under_way(pace: ServerPace, count: int) -> None:
    for _ in range(count):
        await pace.enter()


# ── how many at once ─────────────────────────────────────────────────────────────────────────────────────


def test_nothing_is_limited_until_the_server_refuses() -> None:
    async def check() -> None:
        pace = ServerPace()
        await under_way(pace, 500)
        assert (pace.under_way, pace.limit) == (500, None)

    in_loop(check())


@pytest.mark.parametrize(
    ("at_once", "refused_at", "limit"),
    [
        pytest.param(16, [0.0], 8, id="halves"),
        pytest.param(16, [0.0, 0.1, 5.0], 8, id="once-for-all-that-was-under-way-together"),
        pytest.param(5, [0.0], 2, id="rounded-down"),
        pytest.param(1, [0.0], 1, id="never-below-one"),
    ],
)
def test_fewer_at_once_where_the_server_refuses(at_once: int, refused_at: list[float], limit: int) -> None:
    async def check() -> None:
        clock = Clock()
        pace = ServerPace(clock)
        await under_way(pace, at_once)
        sent = clock.now
        for after_s in refused_at:
            clock.now = sent + after_s
            pace.refused(sent, status=429, named_s=None)
            pace.leave()
        assert pace.limit == limit

    in_loop(check())


def answered(pace: ServerPace, clock: Clock, count: int) -> None:
    for _ in range(count):
        pace.answered(clock.now)


def test_growth_is_quick_below_where_the_limit_was_met_and_slow_from_there_on() -> None:
    async def check() -> None:
        clock = Clock()
        pace = ServerPace(clock)
        await under_way(pace, 4)
        pace.refused(clock.now, status=503, named_s=None)
        clock.now += 1
        assert pace.limit == 2
        answered(pace, clock, 2)
        assert pace.limit == 3
        answered(pace, clock, 29)
        assert pace.limit == 3, "the next would be where it refused"
        answered(pace, clock, 1)
        assert pace.limit == 4
        answered(pace, clock, 4)
        assert pace.limit == 5, "what it refused once it bears now"

    in_loop(check())


def test_a_limit_that_is_met_again_is_tried_again_later_each_time() -> None:
    async def check() -> None:
        clock = Clock()
        pace = ServerPace(clock)
        await under_way(pace, 2)
        taken = []
        for _ in range(3):
            pace.refused(clock.now, status=429, named_s=None)
            clock.now += 1
            assert pace.limit == 1
            n = 0
            while pace.limit == 1:
                pace.answered(clock.now)
                n += 1
            taken.append(n)
            clock.now += 1
        assert taken == [10, 20, 40]

    in_loop(check())


def test_an_answer_of_before_the_cut_does_not_count_as_bearable() -> None:
    async def check() -> None:
        clock = Clock()
        pace = ServerPace(clock)
        await under_way(pace, 4)
        sent = clock.now
        clock.now += 1
        pace.refused(sent, status=429, named_s=None)
        for _ in range(50):
            pace.answered(sent)
        assert pace.limit == 2

    in_loop(check())


def test_whoever_waits_longest_goes_first_and_a_cancelled_one_keeps_no_turn() -> None:
    async def check() -> None:
        pace, order = ServerPace(), list[int]()
        await under_way(pace, 2)
        pace.refused(time.monotonic(), status=429, named_s=None)
        pace.leave()

        async def go(number: int) -> None:
            await pace.enter()
            order.append(number)
            await asyncio.sleep(0)
            pace.leave()

        tasks = [asyncio.create_task(go(number)) for number in range(6)]
        await asyncio.sleep(0)
        tasks[1].cancel()
        pace.leave()
        await asyncio.gather(*tasks, return_exceptions=True)
        assert order == [0, 2, 3, 4, 5]
        assert pace.under_way == 0

    in_loop(check())


def test_one_that_is_cancelled_in_the_moment_of_its_turn_gives_it_on() -> None:
    async def check() -> None:
        pace = ServerPace()
        await under_way(pace, 2)
        pace.refused(time.monotonic(), status=429, named_s=None)
        pace.leave()
        first, second = (asyncio.create_task(pace.enter()) for _ in range(2))
        await asyncio.sleep(0)
        pace.leave()
        first.cancel()
        await asyncio.wait([second], timeout=60)
        assert second.done()
        assert pace.under_way == 1

    in_loop(check())


def test_nobody_goes_before_a_wait_is_over() -> None:
    async def check() -> None:
        pace = ServerPace()
        await under_way(pace, 1)
        pace.refused(time.monotonic(), status=429, named_s=0.05)
        pace.hold(0.05)
        pace.leave()
        until = pace.held_until
        await asyncio.gather(pace.enter(), asyncio.sleep(0))
        assert time.monotonic() >= until

    in_loop(check())


# ── how often ────────────────────────────────────────────────────────────────────────────────────────────


def simulated(lets_in: Callable[[float], bool], requests: int, *, named_s: float | None) -> tuple[float, int]:
    """One request after the other on a clock of its own, each with the seconds since the last that was let in: how long
    all take, and how many are refused. Answers take no time."""

    async def check() -> tuple[float, int]:
        clock = Clock()
        pace = ServerPace(clock)
        started, last, refusals, done, backoffs = clock.now, float("-inf"), 0, 0, 0
        while done < requests:
            clock.now += pace._blocked_s()
            await pace.enter()
            sent = clock.now
            if lets_in(sent - last):
                last, done, backoffs = sent, done + 1, 0
                pace.answered(sent)
            else:
                refusals += 1
                pace.refused(sent, status=429, named_s=named_s)
                pace.hold(min(30.0, 0.5 * 2**backoffs) if named_s is None else named_s)
                backoffs += 1
            pace.leave()
            clock.now += 1e-4
        return clock.now - started, refusals

    return asyncio.run(check())


@pytest.mark.parametrize("names_wait", [True, False], ids=["named", "bare"])
@pytest.mark.parametrize("every_s", [0.1, 1.0, 4.0])
def test_the_rate_that_a_server_bears_is_found_and_kept(every_s: float, names_wait: bool) -> None:
    took_s, refusals = simulated(lambda since_s: since_s >= every_s, 200, named_s=every_s if names_wait else None)
    assert took_s < 1.3 * 200 * every_s + 30
    assert refusals < 40


@pytest.mark.parametrize(
    ("share", "named_s", "most_s"),
    [(0.1, 0.02, 10), (0.1, None, 40), (0.3, 0.02, 20), (0.3, None, 150), (0.6, 0.02, 900)],
)
def test_a_server_that_refuses_at_random_is_not_asked_ever_more_slowly(
    share: float, named_s: float | None, most_s: float
) -> None:
    """However far apart requests are, as many are refused."""
    chance = random.Random(1)
    took_s, _ = simulated(lambda since_s: chance.random() >= share, 200, named_s=named_s)
    assert took_s < most_s


def test_a_server_that_bears_everything_again_is_asked_faster_again() -> None:
    async def check() -> None:
        clock = Clock()
        pace = ServerPace(clock)
        for _ in range(12):
            clock.now += pace._blocked_s() + 1e-4
            await pace.enter()
            pace.refused(clock.now, status=429, named_s=None)
            pace.leave()
        slow_s = pace.interval_s
        for _ in range(3_000):
            clock.now += pace._blocked_s()
            await pace.enter()
            pace.answered(clock.now)
            pace.leave()
        assert slow_s > 1
        assert pace.interval_s < slow_s / 10

    in_loop(check())


# ── in words ─────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("at_once", "status", "named_s", "words"),
    [
        (2, 429, 1.0, "the server asks to wait 1 s (429), 1 request at a time"),
        (8, 429, 14.5, "the server asks to wait 14 s (429), 4 requests at a time"),
        (8, 503, None, "the server is at its limit (503), 4 requests at a time"),
        (8, None, None, "this machine is at its limit, 4 requests at a time"),
    ],
)
def test_why_there_is_waiting(at_once: int, status: int | None, named_s: float | None, words: str) -> None:
    async def check() -> None:
        clock = Clock()
        pace = ServerPace(clock)
        assert pace.waiting() is None
        await under_way(pace, at_once)
        pace.refused(clock.now, status=status, named_s=named_s)
        pace.hold(named_s or 0.5)
        assert pace.waiting() == words
        clock.now += 60
        assert pace.waiting() is None

    in_loop(check())


# ── runs ─────────────────────────────────────────────────────────────────────────────────────────────────


class Doorkeeper:
    """Lets one request in at a time every so often, whoever asks; all others get `refusal`."""

    def __init__(self, every_s: float, refusal: dict[str, Any]) -> None:
        self.every_s = every_s
        self.refusal = refusal
        self.let_in_at = float("-inf")
        self.refused = 0

    def __call__(self, role: str, n: int, request: dict[str, Any]) -> dict[str, Any]:
        now = time.monotonic()
        if now - self.let_in_at < self.every_s:
            self.refused += 1
            return self.refusal
        self.let_in_at = now
        return always_good(role, n, request)


def failures(record: Record) -> list[Failure]:
    return [line.fact for line in read_journal(record.journal) if isinstance(line.fact, Failure)]


@pytest.fixture
def no_backoff(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asking, "backoff_s", lambda retries, jitter: 0.01)


@pytest.mark.parametrize(
    "refusal",
    [
        pytest.param(NAMED, id="in-a-header"),
        pytest.param({"status": 429, "body": {"error": {"message": "Please try again in 20ms."}}}, id="in-words"),
        pytest.param(
            {"status": 429, "body": [{"error": {"code": 429, "message": "You exceeded your current quota.",
                                                "details": [{"@type": "RetryInfo", "retryDelay": "0.02s"}]}}]},
            id="in-the-body",
        ),
        pytest.param({"status": 503, "headers": {"Retry-After": "0.02"}}, id="of-a-503"),
        pytest.param({"status": 429, "body": {"error": {"message": "too many"}}}, id="not-at-all"),
    ],
)  # fmt: skip
def test_a_server_that_lets_one_in_at_a_time_answers_every_item(
    tmp_path: Path, refusal: dict[str, Any], no_backoff: None
) -> None:
    """With no retries at all: a wait is no failed try, and neither is a 429 beside answers."""
    door = Doorkeeper(0.02, refusal)
    with running(door) as server:
        result = run(tmp_path, server, 20, max_retries=0)
    assert result.derived.aggregates.ledger.n_scored == 20
    assert door.refused > 0
    assert {(failure.ends, failure.cause) for failure in failures(result.record)} <= {
        ("attempt", "rate_limit"), ("attempt", "server_error"),
    }  # fmt: skip
    assert verify(result.record).holds


@pytest.mark.parametrize("wait", ["0", "0.02"])
def test_a_request_that_breaks_a_server_each_time_is_given_up_while_others_are_answered(
    tmp_path: Path, wait: str, no_backoff: None
) -> None:
    """A wait beside a 500 is no sign of load where the server answers everyone else."""
    broken = {"status": 500, "headers": {"Retry-After": wait}, "body": {"error": {"message": "out of bounds"}}}

    def behave(role: str, n: int, request: dict[str, Any]) -> dict[str, Any]:
        return broken if "What is 3 +" in str(request["messages"]) else always_good(role, n, request)

    with running(behave) as server:
        result = run(tmp_path, server, 40, max_retries=2)
    assert result.derived.aggregates.ledger.n_unanswered == 1
    assert result.derived.aggregates.ledger.n_scored == 39
    assert len(server.asked["candidate"]) < 60


@pytest.mark.parametrize(
    ("model_url", "judge_url", "shared"),
    [
        ("http://h:1/v1", "http://h:1/v1", True),
        ("http://h:1/v1", "http://H:1/other/v1", True),
        ("http://h:1/v1", "http://h:2/v1", False),
        (None, "https://api.openai.com/v1", True),
        (None, "http://h:1/v1", False),
    ],
)
def test_everyone_who_asks_a_server_keeps_its_waits(
    model_url: str | None, judge_url: str, shared: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "a-key-of-the-tests")
    settings = RunConfig(
        evalset="e", model="openai/m@1", judge="openai/j@1", model_base_url=model_url, judge_base_url=judge_url
    )
    roles = {"candidate": model_settings(settings), "judge": judges_settings(settings)[0]}

    async def check() -> None:
        plans = {name: (role, plan_of_role(role, {})) for name, role in roles.items()}
        async with open_means(plans, max_connections=4, cache=None) as means:
            model, judge = means.endpoints["candidate"], means.endpoints["judge"]
            assert (model.server is judge.server) is shared
            assert model.gate is not judge.gate, "how many answers cost no latency is another matter for each model"

    in_loop(check())


def test_too_many_open_files_make_fewer_connections_and_no_sample_is_lost(
    tmp_path: Path, no_backoff: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As with a hard limit that can't be raised: at most three connections, and sixteen that want one."""
    opened: list[weakref.ref[socket.socket]] = []
    real = socket.socket

    def limited(*arguments: Any, **more: Any) -> socket.socket:
        if sum(1 for one in opened if (it := one()) is not None and it.fileno() >= 0) >= 3:
            raise OSError(errno.EMFILE, "Too many open files")
        one = real(*arguments, **more)
        opened.append(weakref.ref(one))
        return one

    monkeypatch.setattr(http_client, "socket", SimpleNamespace(**vars(socket) | {"socket": limited}))
    with running(always_good) as server:
        result = run(tmp_path, server, 40, max_retries=0)
    assert result.derived.aggregates.ledger.n_scored == 40
    found = failures(result.record)
    assert found
    assert {(failure.ends, failure.cause, failure.error) for failure in found} == {
        ("attempt", "local", "provider_error")
    }


def test_a_429_for_ever_is_given_up_as_before(tmp_path: Path, no_backoff: None) -> None:
    """One request, and nobody else: each is a failed try."""
    with running(lambda role, n, request: {"status": 429}) as server:
        run(tmp_path, server, 1, max_retries=4)
        assert len(server.asked["candidate"]) == 5


def test_a_wait_that_never_ends_stops_the_run(tmp_path: Path) -> None:
    with running(lambda role, n, request: NAMED) as server:
        result = run(tmp_path, server, 2, max_wait_ms=100, max_retries=1)
    assert "has let nobody in for" in (result.stop.reason or "")
    assert result.stop.failed
    assert len(failures(result.record)) > 4


def test_progress_says_why_there_is_waiting(tmp_path: Path) -> None:
    said: set[str | None] = set()

    def note(progress: Progress) -> None:
        said.add(progress.waiting)

    with running(Doorkeeper(0.02, NAMED)) as server:
        run_async(start_run(config(tmp_path, server, 6), note))
    assert "the server asks to wait 0.02 s (429), 1 request at a time" in said


@pytest.mark.parametrize("status", [429, 503, 529])
def test_a_refusal_for_load_is_told_to_the_servers_pace(
    tmp_path: Path, status: int, no_backoff: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[int | None] = []
    real = ServerPace.refused

    def refused(pace: ServerPace, sent_at: float, *, status: int | None, **more: Any) -> bool:
        told.append(status)
        return real(pace, sent_at, status=status, **more)

    monkeypatch.setattr(ServerPace, "refused", refused)
    with running(lambda role, n, request: {"status": status} if n == 0 else always_good(role, n, request)) as server:
        result = run(tmp_path, server, 3, max_connections=1)
    assert told == [status, status]  # the candidate's first request and the judge's
    assert result.derived.aggregates.ledger.n_scored == 3
