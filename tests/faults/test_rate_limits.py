"""A server that lets only so many in: everyone who asks it waits as it says, and every item is answered, slowly; a wait
that is named is no failed try (SPEC R3.6, R3.6a)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from benchbook.ask.server_pace import ServerPace
from running import benchbook_here
from scripted_server import running
from tried import WAYS, begin, breaking, resume, whole_run


@pytest.fixture(autouse=True)
def short_intervals(monkeypatch: pytest.MonkeyPatch) -> None:
    """The servers here refuse by count, not by the clock: no interval would ever be long enough."""
    monkeypatch.setattr(ServerPace, "FIRST_INTERVAL_S", 0.001)
    monkeypatch.setattr(ServerPace, "LONGEST_INTERVAL_S", 0.004)


NO_RETRY = ("--max-retries", "0")
GEMINI = [{"error": {
    "code": 429, "message": "You exceeded your current quota. Please retry in 0.002s.", "status": "RESOURCE_EXHAUSTED",
    "details": [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "0.002s"}],
}}]  # fmt: skip


def limited(headers: dict[str, str] | None = None, *, message: str = "", status: int = 429, body: Any = None) -> Any:
    return {
        "status": status, "headers": headers or {},
        "body": body if body is not None else {"error": {"message": message or "slow down"}},
    }  # fmt: skip


# Two milliseconds, or none, in every place in which a wait was seen.
WAITS: dict[str, dict[str, Any]] = {
    "header-seconds": limited({"Retry-After": "0.002"}),
    "header-zero": limited({"Retry-After": "0"}),
    "header-date-in-the-past": limited({"Retry-After": "Wed, 21 Oct 2015 07:28:00 GMT"}),
    "header-milliseconds": limited({"retry-after-ms": "2"}),
    "header-of-the-limit": limited({"x-ratelimit-reset-requests": "2ms", "x-ratelimit-remaining-requests": "0"}),
    "gemini-in-the-body": limited(body=GEMINI),
    "gemini-retry-info-alone": limited(body={"error": {"code": 429, "message": "Resource exhausted.", "details": [
        {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "0.002s"}]}}),
    "openai-in-words": limited(message="Rate limit reached for m: Limit 3, Used 3. Please try again in 2ms."),
    "in-a-field": limited(body={"error": "Too many requests", "retry_after": 0.002}),
    "in-a-field-of-milliseconds": limited(body={"detail": {"message": "throttled", "retry_after_ms": 2}}),
    "in-a-text": limited(body={"message": "Rate limited. Retry after 0.002 seconds"}),
    "503-with-a-wait": limited({"Retry-After": "0.002"}, status=503),
    "529-with-a-wait": limited({"retry-after-ms": "2"}, status=529),
    "200-with-a-429-inside": limited(
        status=200, body={"error": {"code": 429, "message": "Rate limited, try again in 2ms"}}),
    "403-that-is-a-rate-limit": limited(
        {"Retry-After": "0.002"}, status=403, body={"error": {"code": "rate_limit_exceeded", "message": "slow"}}),
}  # fmt: skip


@pytest.mark.parametrize(
    ("way", "wait"), [("run-model", wait) for wait in WAITS] + [("run-judge", wait) for wait in list(WAITS)[::3]]
)
def test_a_wait_that_is_named_is_kept_and_is_no_failed_try(tmp_path: Path, way: str, wait: str) -> None:
    """07-rate-limit-wait-in-body, and every other place in which it may stand. Two of three requests are refused."""
    tried = whole_run(way, tmp_path, lambda n, request: WAITS[wait] if n % 3 else None, *NO_RETRY, n_items=8)
    assert tried.code == 0
    role = "judge" if way == "run-judge" else "candidate"
    assert {(one.ends, one.role) for one in tried.failures()} == {("attempt", role)}
    assert len(tried.failures()) >= 8


@pytest.mark.parametrize("way", ["panel", "score", "judge-run"])
@pytest.mark.parametrize("wait", ["header-seconds", "gemini-in-the-body"])
def test_so_it_is_for_whoever_asks(tmp_path: Path, way: str, wait: str) -> None:
    """07-rate-limit-wait-in-body"""
    tried = whole_run(way, tmp_path, lambda n, request: WAITS[wait] if n % 3 else None, *NO_RETRY, n_items=8)
    assert tried.code == 0
    assert {one.ends for one in tried.failures()} == {"attempt"}


@pytest.mark.parametrize("way", WAYS)
def test_a_free_tier_answers_everything_slowly(tmp_path: Path, way: str) -> None:
    """08-rate-limit-retry-after-crowd: it lets one in at a time, and asks the crowd to wait."""
    under_way = 0

    def one_at_a_time(n: int, request: dict[str, Any]) -> dict[str, Any] | None:
        nonlocal under_way
        under_way = (under_way + 1) % 4  # of a crowd, every fourth
        return None if under_way == 1 else limited({"Retry-After": "0.001"})

    tried = whole_run(way, tmp_path, one_at_a_time, *NO_RETRY, n_items=20)
    assert tried.code == 0
    assert not [one for one in tried.rows() if one.get("candidate_error") or one.get("evaluator_error")]


def test_a_429_without_a_wait_makes_the_crowd_smaller_and_loses_nobody(tmp_path: Path) -> None:
    """07-rate-limit-wait-in-body: "or at least goes slower until it is let in"."""
    fault = {"status": 429, "body": {"error": {"message": "Too Many Requests"}}}
    tried = whole_run("run-model", tmp_path, lambda n, request: fault if n % 2 else None, *NO_RETRY, n_items=20)
    assert tried.code == 0
    assert {one.ends for one in tried.failures()} == {"attempt"}


@pytest.mark.parametrize(
    "reply",
    [
        pytest.param(limited({"Retry-After": "3600"}), id="header"),
        pytest.param(limited(message="Please try again in 1h0m0s."), id="words"),
        pytest.param(limited(body={"error": {"message": "no", "details": [{"retryDelay": "3600s"}]}}), id="body"),
    ],
)
@pytest.mark.parametrize("way", ["run-model", "run-judge", "score", "judge-run"])
def test_a_wait_that_is_too_long_stops_the_run_resumably(tmp_path: Path, way: str, reply: dict[str, Any]) -> None:
    """07-rate-limit-wait-in-body: how long, and over which setting, is said."""
    is_open = False
    with running(breaking(way, lambda n, request: None if is_open else reply)) as server:
        stopped = begin(way, tmp_path, server)
        assert (stopped.code, stopped.state) == (3, "interrupted")
        assert "asks to wait 3600 s, over max_wait_ms" in stopped.err
        assert "lets no more requests in: status 429" in stopped.first
        is_open = True
        assert resume(way, stopped).code == 0


def test_progress_says_why_it_is_slow(tmp_path: Path) -> None:
    """08-rate-limit-retry-after-crowd: nobody takes the wait for a hang."""
    reply = limited({"Retry-After": "0.002"})
    with running(breaking("run-model", lambda n, request: reply if n % 3 else None)) as server:
        tried = begin("run-model", tmp_path, server, *NO_RETRY, n_items=12)
    assert "the server asks to wait 0.002 s (429)" in tried.said


def test_a_spent_quota_is_no_rate_limit(tmp_path: Path) -> None:
    """07-rate-limit-wait-in-body: a 429 that no wait lifts stops at once."""
    reply = {"status": 429, "body": {"error": {"code": "insufficient_quota", "message": "exceeded your quota"}}}
    with running(breaking("run-model", lambda n, request: reply)) as server:
        stopped = begin("run-model", tmp_path, server, n_items=40)
    assert (stopped.code, len(server.asked["candidate"])) == (3, 1)
    assert "says that the quota is spent" in stopped.first
    told = json.loads(benchbook_here("show", str(stopped.record.path), "--json").stdout)
    assert told["decision"]["decision"] == "INCONCLUSIVE"


def test_a_fault_that_says_at_once_is_a_failed_try(tmp_path: Path) -> None:
    """08-rate-limit-retry-after-crowd, where it is not so: a 500 for ever comes to its end."""
    reply = limited({"Retry-After": "0"}, status=500)
    with running(breaking("run-model", lambda n, request: reply)) as server:
        stopped = begin("run-model", tmp_path, server, "--max-retries", "2", n_items=1)
    assert (stopped.code, len(server.asked["candidate"])) == (3, 3)
