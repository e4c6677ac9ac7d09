"""The response cache: off unless asked for, and never taken for another answer (SPEC R3.5, R7.3)."""

from __future__ import annotations

import sqlite3
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from benchbook.ask.providers.calls import Answer
from benchbook.ask.requests import ResponseCache
from benchbook.ask.starting import RunResult
from benchbook.canonical import canonical_json
from benchbook.errors import BenchbookError, ConfigError
from benchbook.evaluators.rubric.rows import RubricRow
from benchbook.evaluators.settings import RunConfig
from benchbook.evaluators.verify import verify
from benchbook.record.tables import read_rows
from rubric_v1 import ROW
from running import benchbook_here, options, run, write_items
from scripted_server import ScriptedServer, always_good, running

ANSWER = Answer(text="Seven.", finish_reason="stop", latency_e2e_ms=12, input_tokens=20, output_tokens=2)
SCOPE, HASH = "http://host/v1\nopenai/m@1", "ab" * 32


def cached(folder: Path, server: ScriptedServer, name: str, **settings: Any) -> RunResult:
    return run(folder, server, 3, run_id=name, cache=str(folder / "cache.sqlite"), **settings)


def rows(result: RunResult) -> list[RubricRow]:
    return list(read_rows(result.record.samples, ROW))


def test_it_is_off_by_default() -> None:
    assert RunConfig(evalset="e", model="openai/m@1", judge="openai/j@1").cache is None


# ── its key ──────────────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def cache(tmp_path: Path) -> Any:
    opened = ResponseCache(tmp_path / "cache.sqlite")
    opened.put(SCOPE, "candidate", HASH, ANSWER)
    yield opened
    opened.close()


def test_an_answer_comes_back_as_it_was(cache: ResponseCache) -> None:
    assert cache.get(SCOPE, "candidate", HASH) == ANSWER


@pytest.mark.parametrize(
    ("scope", "role", "sha256"),
    [
        pytest.param("http://host/v1\nopenai/n@1", "candidate", HASH, id="model"),
        pytest.param("http://host/v1\nopenai/m@2", "candidate", HASH, id="version"),
        pytest.param("http://other/v1\nopenai/m@1", "candidate", HASH, id="address"),
        pytest.param(SCOPE, "judge", HASH, id="role"),
        pytest.param(SCOPE, "candidate", "cd" * 32, id="request"),
    ],
)
def test_whatever_differs_is_another_answer(cache: ResponseCache, scope: str, role: str, sha256: str) -> None:
    assert cache.get(scope, role, sha256) is None


@pytest.mark.parametrize(
    ("change", "asked_again"),
    [
        pytest.param({"model_params": {"seed": 43}}, {"candidate", "judge"}, id="model-parameter"),
        pytest.param({"model_params": {"seed": None}}, {"candidate", "judge"}, id="parameter-left-out"),
        pytest.param({"judge_params": {"temperature": 1}}, {"judge"}, id="judge-parameter"),
        pytest.param({"judge": "openai/other@1"}, {"judge"}, id="judge"),
        pytest.param({"judge_json_schema": True}, {"judge"}, id="judge-schema"),
        pytest.param({"stream": True}, {"candidate", "judge"}, id="stream"),
        pytest.param({}, set(), id="nothing"),
        pytest.param({"max_retries": 1, "timeout_ms": 9_999, "max_connections": 2}, set(), id="limits-alone"),
    ],
)
def test_a_run_asks_again_where_its_requests_differ(
    tmp_path: Path, change: dict[str, Any], asked_again: set[str]
) -> None:
    """Answers name their parameters, so that another candidate's answer is another prompt to the judge."""

    def reply(role: str, n: int, request: dict[str, Any]) -> dict[str, Any]:
        given = {name: request.get(name) for name in ("seed", "stream")}
        return always_good(role, n, request) | ({"content": f"Seven, by {given}"} if role == "candidate" else {})

    with running(reply) as server:
        cached(tmp_path, server, "a")
        cached(tmp_path, server, "b", **change)
        found = {role for role, requests in server.asked.items() if len(requests) == 6}
    assert found == asked_again


def test_another_prompt_template_is_asked_anew(tmp_path: Path) -> None:
    (tmp_path / "prompt.txt").write_text("Please: {{prompt}}", encoding="utf-8")
    with running(always_good) as server:
        cached(tmp_path, server, "a")
        cached(tmp_path, server, "b", prompt_template=str(tmp_path / "prompt.txt"))
        assert len(server.asked["candidate"]) == 6


def test_a_model_that_judges_itself_has_a_key_for_each_role(tmp_path: Path) -> None:
    same = {"model": "openai/m@1", "judge": "openai/m@1"}
    with running(always_good) as server:
        cached(tmp_path, server, "a", **same)
        again = cached(tmp_path, server, "b", **same)
        assert {role: len(requests) for role, requests in server.asked.items()} == {"candidate": 3, "judge": 3}
    assert [row.candidate_answer for row in rows(again)] == ["Seven."] * 3


# ── what is kept ─────────────────────────────────────────────────────────────────────────────────────────


def test_a_failure_is_not_kept(tmp_path: Path) -> None:
    def first_fails(role: str, n: int, request: dict[str, Any]) -> dict[str, Any]:
        return {"status": 400} if role == "candidate" and n == 0 else always_good(role, n, request)

    with running(first_fails) as server:
        first = cached(tmp_path, server, "a", max_connections=1)
        assert first.stop.reason is not None
        again = cached(tmp_path, server, "b", max_connections=1)
        assert len(server.asked["candidate"]) == 4
    assert [row.candidate_answer for row in rows(first)] == [None, "Seven.", "Seven."]
    assert [(row.candidate_answer, row.cached) for row in rows(again)] == [
        ("Seven.", False), ("Seven.", True), ("Seven.", True)
    ]  # fmt: skip


@pytest.mark.parametrize("text", ["\ud835", "答案 🌾"], ids=["lone-surrogate", "cjk"])
def test_any_text_comes_back_as_it_was(tmp_path: Path, text: str | None) -> None:
    def reply(role: str, n: int, request: dict[str, Any]) -> dict[str, Any]:
        return always_good(role, n, request) | ({} if role == "judge" else {"content": text})

    with running(reply) as server:
        first = cached(tmp_path, server, "a")
        again = cached(tmp_path, server, "b")
        assert len(server.asked["candidate"]) == 3
    assert [row.candidate_answer for row in rows(first)] == [row.candidate_answer for row in rows(again)]
    assert verify(again.record).holds


@pytest.mark.parametrize("text", ["", " \n", None], ids=["empty", "blank", "no-text"])
def test_a_reply_without_a_text_is_not_kept(tmp_path: Path, text: str | None) -> None:
    """It may be a passing fault, and would stay for ever."""

    def reply(role: str, n: int, request: dict[str, Any]) -> dict[str, Any]:
        return always_good(role, n, request) | ({"content": text} if role == "candidate" and n < 3 else {})

    with running(reply) as server:
        cached(tmp_path, server, "a")
        again = cached(tmp_path, server, "b")
        assert len(server.asked["candidate"]) == 6
    assert [row.candidate_answer for row in rows(again)] == ["Seven."] * 3


@pytest.mark.parametrize(
    "answer",
    [Answer(text=None), Answer(text=" "), Answer(text="There are sev", finish_reason="abort")],
    ids=["no-text", "blank", "broken-off"],
)
def test_one_that_was_kept_before_is_not_used(cache: ResponseCache, answer: Answer) -> None:
    cache._database.execute("UPDATE answers SET answer = ?", (canonical_json(answer),))
    assert cache.get(SCOPE, "candidate", HASH) is None


def test_a_hit_costs_nothing_of_the_budget(tmp_path: Path) -> None:
    from decimal import Decimal

    priced = {"model_output_price": Decimal(500_000), "max_cost_usd": Decimal(100), "max_connections": 1}
    with running(always_good) as server:
        cached(tmp_path, server, "a", **priced)
        again = cached(tmp_path, server, "b", **(priced | {"max_cost_usd": Decimal("0.01")}))
    assert again.stop.reason is None


# ── a cache that can't be used ───────────────────────────────────────────────────────────────────────────


def broken_cache(folder: Path, kind: str) -> Path:
    (folder / "a-file").write_bytes(b"no database, but long enough to be read as one" * 100)
    return {"no-database": folder / "a-file", "no-folder": folder / "a-file" / "cache", "a-folder": folder}[kind]


@pytest.mark.parametrize("kind", ["no-database", "no-folder", "a-folder"])
def test_a_file_that_is_no_cache_is_named(tmp_path: Path, kind: str) -> None:
    with pytest.raises(ConfigError, match=r"^cache: found .*; expected a file that can be written$"):
        ResponseCache(broken_cache(tmp_path, kind))


@pytest.mark.parametrize("kind", ["no-database", "no-folder", "a-folder"])
def test_a_cache_that_can_not_be_used_is_told_before_a_record_exists(tmp_path: Path, kind: str) -> None:
    write_items(tmp_path / "items.jsonl", 2)
    with running(always_good) as server:
        found = benchbook_here("run", *options(tmp_path, server, cache=broken_cache(tmp_path, kind)))
    assert found.returncode == 2
    assert not (tmp_path / "runs").exists()


class FullDisk:
    """A connection to a database on a disk that is full."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        self._real = _connect(*arguments, **options)

    def execute(self, statement: str, *values: Any) -> Any:
        if statement.startswith("INSERT"):
            raise sqlite3.OperationalError("database or disk is full")
        return self._real.execute(statement, *values)

    def close(self) -> None:
        self._real.close()


_connect = sqlite3.connect


def test_a_cache_on_a_full_disk_is_no_traceback(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Either the run goes on without it, or it stops with a message and resumes."""
    monkeypatch.setattr(sqlite3, "connect", FullDisk)
    with running(always_good) as server, suppress(BenchbookError):
        assert cached(tmp_path, server, "a").derived.aggregates.ledger.n_scored == 3
