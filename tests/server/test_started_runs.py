"""Runs over HTTP from choosing a config to going on with what was stopped."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from running import write_items
from scripted_server import ScriptedServer, always_good
from scripted_server import running as scripted
from server.making import Api, api_over

V1 = "/api/v1"
CONFIG = """\
evalset = "items.jsonl"
model = "openai/m@2026-01-01"
model_base_url = "{url}"
judge = "openai/j@2026-01-01"
judge_base_url = "{url}"
model_input_price = 1
model_output_price = 2
max_connections = 1
runs = "elsewhere"
run_id = "of-its-own"
"""


class Gate:
    """A model's server that lets so many questions through, and the others once it is told to."""

    def __init__(self, n: int) -> None:
        self.n = n
        self.asked, self.goes_on = threading.Event(), threading.Event()

    def __call__(self, role: str, n: int, request: dict[str, Any]) -> dict[str, Any]:
        if role == "candidate" and n >= self.n:
            self.asked.set()
            self.goes_on.wait(60)
        return always_good(role, n, request)


@contextmanager
def over(folder: Path, gate: Any) -> Iterator[tuple[Api, ScriptedServer]]:
    """A server over an empty folder, whose inputs are `folder`/inputs with configs in them."""
    inputs = folder / "inputs"
    (inputs / "nightly").mkdir(parents=True)
    write_items(inputs / "nightly" / "items.jsonl", 6)
    with scripted(gate) as model:
        (inputs / "nightly" / "rubric.toml").write_text(CONFIG.format(url=model.base_url), encoding="utf-8")
        (inputs / "other.toml").write_text(CONFIG.format(url="http://elsewhere.example/v1"), encoding="utf-8")
        (inputs / "spec.toml").write_text('name = "own"\n', encoding="utf-8")
        api = api_over(folder / "runs", str(folder / "c.sqlite"), inputs=inputs, endpoints=(model.base_url,))
        try:
            yield api, model
        finally:
            if isinstance(gate, Gate):
                gate.goes_on.set()
            api.app.stop()


def test_configs_are_listed_with_what_stands_against_them(tmp_path: Path) -> None:
    with over(tmp_path, always_good) as (api, model):
        found = api.json(f"{V1}/configs")
        assert [one["name"] for one in found["configs"]] == ["nightly/rubric.toml", "other.toml"]
        good, bad = found["configs"]
        assert (good["spec"], good["model"], good["judges"]) == (
            "rubric@v1", "openai/m@2026-01-01", ["openai/j@2026-01-01"]
        )  # fmt: skip
        assert good["problem"] is None
        assert good["config"]["evalset"] == "nightly/items.jsonl"
        assert not {"runs", "run_id"} & good["config"].keys()
        assert "config: evalset: found 'items.jsonl'" in bad["problem"]
        assert model.base_url in found["asks"]
        forecast = api.json(f"{V1}/configs/forecast?name=nightly/rubric.toml")
        assert (forecast["samples"], forecast["calls"], forecast["max_cost_usd"]) == (6, 12, None)
        assert forecast["most_cost_usd"] == pytest.approx(0.01)
        assert api.problem(f"{V1}/configs/forecast?name=../secret.toml")[0] == 404
        answer = api.ask("POST", f"{V1}/runs", json={"config": good["config"]})
        assert answer.status_code == 202, answer.text


def test_a_server_without_inputs_says_so(api: Api, tmp_path: Path) -> None:
    alone = api_over(tmp_path / "runs", str(tmp_path / "c.sqlite"))
    assert "--inputs" in alone.json(f"{V1}/configs")["why_none"]
    alone.app.stop()
    assert "benchbook init" in api.json(f"{V1}/configs")["why_none"]


def test_a_run_is_cancelled_and_gone_on_with(tmp_path: Path) -> None:
    gate = Gate(3)
    with over(tmp_path, gate) as (api, model):
        config = api.json(f"{V1}/configs")["configs"][0]["config"]
        run_id = api.ask("POST", f"{V1}/runs", json={"config": config}).json()["run_id"]
        child = api.app.services.children._running[run_id]
        assert gate.asked.wait(60)
        found = api.json(f"{V1}/runs/{run_id}/progress")
        assert (found["state"], found["n_done"], found["may_cancel"], found["may_resume"]) == (
            "running",
            3,
            True,
            False,
        )
        assert found["cost_usd"] == pytest.approx(3 * (20 * 1 + 2 * 2) / 1e6)
        status, detail = api.problem(f"{V1}/runs/{run_id}/resume", "POST")
        assert (status, detail) == (409, f"run {run_id!r} is running: there is nothing to resume")
        assert api.ask("POST", f"{V1}/runs/{run_id}/cancel").status_code == 202
        gate.n = 1_000
        gate.goes_on.set()
        assert child.wait(60) == 3
        api.app.services.watcher.look()
        found = api.json(f"{V1}/runs/{run_id}/progress")
        assert (found["state"], found["may_cancel"], found["may_resume"]) == ("interrupted", False, True)
        assert found["resume_with"] == f"benchbook run --resume {run_id}"
        answer = api.ask("POST", f"{V1}/runs/{run_id}/resume")
        assert (answer.status_code, answer.json()["state"]) == (202, "begun")
        assert api.app.services.children._running[run_id].wait(60) == 0
        api.app.services.watcher.look()
        assert api.json(f"{V1}/runs/{run_id}")["state"] == "complete"
        assert len(model.asked["candidate"]) == 6  # nothing was asked twice
        assert api.problem(f"{V1}/runs/{run_id}/resume", "POST")[0] == 409


def test_a_killed_run_is_gone_on_with(tmp_path: Path) -> None:
    gate = Gate(2)
    with over(tmp_path, gate) as (api, _):
        config = api.json(f"{V1}/configs")["configs"][0]["config"]
        run_id = api.ask("POST", f"{V1}/runs", json={"config": config}).json()["run_id"]
        assert gate.asked.wait(60)
        child = api.app.services.children._running[run_id]
        child.kill()
        child.wait()
        gate.n = 1_000
        gate.goes_on.set()
        api.app.services.watcher.look()
        assert api.json(f"{V1}/runs/{run_id}")["state_words"] == "stopped, can be resumed"
        assert api.ask("POST", f"{V1}/runs/{run_id}/resume").status_code == 202
        assert api.app.services.children._running[run_id].wait(60) == 0
        api.app.services.watcher.look()
        assert api.json(f"{V1}/runs/{run_id}")["n_scored"] == 6


def test_what_was_not_started_here_is_not_gone_on_with(api: Api) -> None:
    status, detail = api.problem(f"{V1}/runs/live/resume", "POST")
    assert (status, "was not started here" in detail) == (409, True)


def test_a_verification_is_begun_and_asked_about(tmp_path: Path) -> None:
    with over(tmp_path, always_good) as (api, _):
        config = api.json(f"{V1}/configs")["configs"][0]["config"]
        run_id = api.ask("POST", f"{V1}/runs", json={"config": config}).json()["run_id"]
        assert api.app.services.children._running[run_id].wait(60) == 0
        api.app.services.watcher.look()
        url = f"{V1}/runs/{run_id}/verification"
        assert api.json(url)["state"] == "none"
        answer = api.ask("POST", url)
        assert (answer.status_code, answer.json()["state"] in ("waiting", "running", "done")) == (202, True)
        while (found := api.json(url))["state"] in ("waiting", "running"):
            pass
        assert (found["state"], found["answer"]["holds"], found["detail"]) == ("done", True, None)
        assert found["answer"] == api.ask("POST", f"{V1}/runs/{run_id}/verify").json()
        table = tmp_path / "runs" / run_id / "aggregates.json"
        table.write_text(json.dumps(json.loads(table.read_bytes()) | {"spec": "x"}), encoding="utf-8")
        api.app.services.watcher.look()
        assert api.json(url)["state"] == "none"  # the record is another one now
