"""How a run stands: page, API, command line and library say the same of every record, whatever became of it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import benchbook
import running
from benchbook.catalog import observing
from benchbook.catalog.observing import observe
from benchbook.record.folder import Record
from benchbook.record.standing import run_state
from benchbook.views.words import RUN_STATES, standing_words
from catalog.making import start
from running import benchbook_here
from scripted_server import ScriptedServer, always_good
from scripted_server import running as scripted
from server.making import Api, api_over

V1 = "/api/v1"


@contextmanager
def at_work(folder: Path, n_before: int) -> Iterator[tuple[subprocess.Popen[bytes], ScriptedServer]]:
    """`benchbook run` in a process of its own, which has had that many answers and waits for the next."""
    goes_on = threading.Event()

    def waits(role: str, n: int, request: dict[str, Any]) -> dict[str, Any]:
        if role == "candidate" and n >= n_before:
            goes_on.wait(60)
        return always_good(role, n, request)

    running.write_items(folder / "items.jsonl", 20)
    with scripted(waits) as server:
        words = running.options(folder, server, **{"max-connections": 1})
        child = subprocess.Popen([sys.executable, "-m", "benchbook", "run", *words], stderr=subprocess.DEVNULL)
        try:
            while len(server.asked["candidate"]) <= n_before:
                assert child.poll() is None
            yield child, server
        finally:
            child.kill()
            child.wait()
            goes_on.set()  # not before: it may record one more answer


def said(api: Api, run_id: str = "run") -> tuple[str, str, str]:
    """The states that the API, the command line and its verification name."""
    runs = str(api.app.services.settings.runs)
    listed = json.loads(benchbook_here("runs", "--runs", runs, "--json").stdout)
    verified = json.loads(benchbook_here("verify", run_id, "--runs", runs, "--json").stdout)
    return (
        api.json(f"{V1}/runs/{run_id}")["state"],
        next(one["state"] for one in listed if one["run"] == run_id),
        verified["state"],
    )


@pytest.mark.parametrize("n_before", [0, 3])
def test_a_run_runs_while_its_process_lives_and_no_longer(tmp_path: Path, n_before: int) -> None:
    """Also one that was killed before its first answer, so that its journal never grew."""
    with at_work(tmp_path, n_before) as (child, _):
        api = api_over(tmp_path / "runs", str(tmp_path / "c.sqlite"))
        assert said(api) == ("running",) * 3
        child.kill()
        child.wait()
    api.app.services.watcher.look()
    fresh = api_over(tmp_path / "runs", str(tmp_path / "c.sqlite"))
    for one in (api, fresh):
        assert said(one) == ("interrupted",) * 3
        assert one.json(f"{V1}/runs/run")["state_words"] == "stopped, can be resumed"
        one.app.stop()
    listed = benchbook_here("runs", "--runs", str(tmp_path / "runs")).stdout.decode()
    assert "stopped, can be resumed" in listed
    benchbook_here("rescore", "run", "--reports", "none", "--runs", str(tmp_path / "runs"))
    assert benchbook.load(tmp_path / "runs" / "run").state == "interrupted"


def test_one_that_gives_no_sign_says_since_when(tmp_path: Path) -> None:
    with at_work(tmp_path, 3):
        api = api_over(tmp_path / "runs", str(tmp_path / "c.sqlite"))
        assert api.json(f"{V1}/runs/run")["state_words"] == "running"
        past = time.time() - 5 * 60
        os.utime(tmp_path / "runs" / "run" / "journal" / "000001.jsonl", (past, past))
        assert api.json(f"{V1}/runs/run")["state_words"] == "running, no news for 5 min"
        assert api.json(f"{V1}/runs/run/progress")["state_words"] == "running, no news for 5 min"
        listed = benchbook_here("runs", "--runs", str(tmp_path / "runs")).stdout.decode()
        assert "running, no news for 5 min" in listed
        api.app.stop()


def test_a_process_that_begins_while_it_is_looked_at_is_seen_to_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A row that says `running` under a stamp that says that nobody works would stay for ever."""
    record = start(tmp_path / "runs", "a")
    looks = iter([False, True, True])
    monkeypatch.setattr(observing, "is_at_work", lambda _: next(looks))
    found = observe(record)
    assert found is not None
    assert (found.row["state"], found.row["stamp"].rpartition(" ")[2]) == ("interrupted", "left")


def test_every_kind_of_record_is_called_the_same(api: Api) -> None:
    """Complete, dry, going on, and one whose table was changed: the list of the command line held it for whole."""
    listed = json.loads(benchbook_here("runs", "--runs", str(api.app.services.settings.runs), "--json").stdout)
    by_api = {run["run_id"]: run["state"] for run in api.json(f"{V1}/runs?limit=1000")["runs"]}
    assert {one["run"]: one["state"] for one in listed} == by_api
    assert {"complete", "interrupted", "damaged"} <= set(by_api.values())
    assert by_api["broken"] == "damaged"


@pytest.mark.parametrize(
    ("in_journal", "works", "state"),
    [
        ("complete", False, "complete"),
        ("complete", True, "complete"),
        ("interrupted", False, "interrupted"),
        ("interrupted", True, "running"),
        ("open", False, "interrupted"),
        ("open", True, "running"),
    ],
)
def test_states(in_journal: str, works: bool, state: str) -> None:
    assert run_state(in_journal, at_work=works) == state


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (None, "running"),
        (0, "running"),
        (59, "running"),
        (60, "running, no news for 1 min"),
        (5 * 60 + 59, "running, no news for 5 min"),
        (3_600, "running, no news for 1 h"),
        (75 * 60, "running, no news for 1 h 15 min"),
        (3 * 86_400, "running, no news for 3 days"),
    ],
)
def test_signs_of_life(seconds: int | None, words: str) -> None:
    assert standing_words("running", seconds) == words
    assert standing_words("interrupted", seconds) == RUN_STATES["interrupted"]


def test_the_progress_of_a_run(tmp_path: Path) -> None:
    with at_work(tmp_path, 3):
        api = api_over(tmp_path / "runs", str(tmp_path / "c.sqlite"))
        found = api.json(f"{V1}/runs/run/progress")
        assert (found["state"], found["n_done"], found["n_planned"], found["is_read"]) == ("running", 3, 20, True)
        assert (found["score_name"], found["n_scored"]) == ("aggregate_score", 3)
        assert found["words"].startswith("3 of 20 samples, about 0:")
        assert found["per_minute"] > 0
        assert [one["item_id"] for one in found["latest"]] == ["i2", "i1", "i0"]
        assert found["seconds_left"] is not None
    api.app.services.watcher.look()
    found = api.json(f"{V1}/runs/run/progress")
    assert (found["state"], found["words"], found["per_minute"]) == ("interrupted", "3 of 20 samples", None)
    api.app.stop()
    assert not Record(tmp_path / "runs" / "run").manifest.exists()


def test_a_run_that_has_ended_has_no_progress(api: Api) -> None:
    status, detail = api.problem(f"{V1}/runs/a/progress")
    assert (status, detail) == (409, "run 'a' is complete: its progress is that of a run that goes on")
