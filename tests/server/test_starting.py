"""How a run that is started over HTTP begins: an answer of success is one of a record that is there."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from benchbook.record.folder import is_record
from running import write_items
from scripted_server import always_good
from scripted_server import running as scripted
from server.making import Api, api_over
from server.test_writing import V1, config

NOBODY = "http://127.0.0.1:1/v1"  # nobody answers there
URLS = {"model_base_url": NOBODY, "judge_base_url": NOBODY}
NO_WORD = "the run's process ended before its record was there, and did not say why"
Monkey = pytest.MonkeyPatch


@pytest.fixture
def api(tmp_path: Path) -> Iterator[Api]:
    write_items(tmp_path / "items.jsonl", 2)
    opened = api_over(tmp_path / "runs", str(tmp_path / "c.sqlite"), inputs=tmp_path, endpoints=(NOBODY,))
    yield opened
    opened.app.stop()


def started(api: Api, **more: Any) -> Any:
    return api.ask("POST", f"{V1}/runs", json=config(run_id="mine", **(URLS | more)))


def child_is(monkeypatch: Monkey, folder: Path, says: str) -> None:
    """The run's process, played by a few lines of shell; its word goes to `$4`."""
    script = folder / "child"
    script.write_text(f"#!/bin/sh\n{says}\n", encoding="utf-8")
    script.chmod(0o700)
    monkeypatch.setattr(sys, "executable", str(script))


def test_a_refusal_of_the_runs_own_process_is_the_answer(api: Api, tmp_path: Path) -> None:
    (tmp_path / "items.jsonl").write_text('{"id": "a"}\n', encoding="utf-8")
    answer = started(api)
    assert answer.status_code == 422
    detail = answer.json()["detail"]
    assert detail.startswith("items.jsonl:1: prompt: ")  # without the folder
    told = api.json(f"{V1}/runs/mine/start")
    assert told == {"run_id": "mine", "state": "refused", "detail": detail}
    assert api.problem(f"{V1}/runs/mine") == (409, f"run 'mine' was started, and did not begin: {detail}")
    assert api.app.services.children.n_running == 0
    later = api_over(tmp_path / "runs", str(tmp_path / "later.sqlite"), inputs=tmp_path)
    assert later.json(f"{V1}/runs/mine/start") == told  # by its output
    later.app.stop()


@pytest.mark.parametrize(
    ("says", "status", "detail"),
    [
        ("cat > /dev/null", 503, NO_WORD),
        ("kill -9 $$", 503, NO_WORD),
        ("echo nonsense > /dev/fd/$4", 503, NO_WORD),
        ('echo \'{"title": "x", "status": 507, "detail": "full"}\' > /dev/fd/$4', 507, "full"),
    ],
    ids=["ends", "killed", "nonsense", "full disk"],
)
def test_a_process_that_ends_before_its_record_is_there(
    api: Api, monkeypatch: Monkey, tmp_path: Path, says: str, status: int, detail: str
) -> None:
    child_is(monkeypatch, tmp_path, says)
    answer = started(api)
    assert (answer.status_code, answer.json()["detail"]) == (status, detail)
    assert api.json(f"{V1}/runs/mine/start")["state"] == "refused"
    assert started(api).status_code == status  # the id is free again


def test_a_start_that_takes_long_is_told_of_later(api: Api, monkeypatch: Monkey, tmp_path: Path) -> None:
    api.app.services.children.patience_s = 0.0
    go = tmp_path / "go"
    os.mkfifo(go)
    child_is(monkeypatch, tmp_path, f"read _ < {go}; echo begun > /dev/fd/$4")
    answer = started(api)
    assert (answer.status_code, answer.json()["state"]) == (202, "starting")
    assert answer.headers["location"] == "/api/v1/runs/mine/start"
    assert api.json(f"{V1}/runs/mine/start")["state"] == "starting"
    assert api.problem(f"{V1}/runs/mine") == (409, "run 'mine' is being started; look again")
    go.write_text("go\n", encoding="utf-8")
    assert api.app.services.children._beginnings["mine"].told(60) is True
    assert api.json(f"{V1}/runs/mine/start")["state"] == "begun"


def test_a_run_that_was_never_started(api: Api) -> None:
    for name in ("mine", "..%2fx", "x" * 300):
        assert api.problem(f"{V1}/runs/{name}/start")[0] == 404


def test_the_record_is_there_when_the_answer_is(tmp_path: Path) -> None:
    """Asked for its first answer, the run says that it has begun already, and its row is in the list."""
    write_items(tmp_path / "items.jsonl", 1)
    with scripted(always_good) as server:
        more: dict[str, Any] = {"inputs": tmp_path, "endpoints": (server.base_url,)}
        api = api_over(tmp_path / "runs", str(tmp_path / "c.sqlite"), **more)
        answer = started(api, model_base_url=server.base_url, judge_base_url=server.base_url)
        assert (answer.status_code, answer.json()["state"]) == (202, "begun")
        assert is_record(tmp_path / "runs" / "mine")
        assert api.get(answer.headers["location"]).status_code == 200
        api.app.stop()
    entries = (tmp_path / "runs" / ".server" / "audit.jsonl").read_bytes().splitlines()
    assert [json.loads(line)["status"] for line in entries] == [None, 202]
