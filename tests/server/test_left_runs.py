"""Runs that go on after their server was killed: the next one shows them, counts them, and ends them when asked."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from benchbook.server.child import Children
from benchbook.server.running import make_app
from running import write_items
from scripted_server import ScriptedServer, always_good
from scripted_server import running as scripted
from server.making import Api, settings

V1 = "/api/v1"


class Gate:
    """A model's server that holds the second request up until it is told to go on."""

    def __init__(self) -> None:
        self.asked, self.goes_on = threading.Event(), threading.Event()

    def __call__(self, role: str, n: int, request: dict[str, Any]) -> dict[str, Any]:
        if n == 2:
            self.asked.set()
            self.goes_on.wait(60)
        return always_good(role, n, request)


@contextmanager
def left_behind(tmp_path: Path) -> Iterator[tuple[Api, subprocess.Popen[bytes], Gate, ScriptedServer]]:
    """A server over a run that goes on, and that another server started, of which nothing is left but the files."""
    gate = Gate()
    with scripted(gate) as model:
        made = settings(tmp_path / "runs", str(tmp_path / "c.sqlite"), inputs=tmp_path, endpoints=(model.base_url,))
        write_items(tmp_path / "items.jsonl", 400)
        first = make_app(made)
        config = {"evalset": "items.jsonl", "model": "openai/m@2026-01-01", "model_base_url": model.base_url,
                  "spec": "answer_correctness@v1", "run_id": "mine", "max_connections": 1}  # fmt: skip
        assert Api(first).ask("POST", f"{V1}/runs", json={"config": config}).status_code == 202
        child = first.services.children._running.pop("mine")  # a killed server knows of nothing any more
        assert gate.asked.wait(60)
        first.stop()
        second = make_app(made)
        try:
            yield Api(second), child, gate, model
        finally:
            gate.goes_on.set()
            second.stop()
            child.kill()
            child.wait()


def test_it_is_shown_and_can_be_cancelled(tmp_path: Path) -> None:
    with left_behind(tmp_path) as (api, child, gate, model):
        run = api.json(f"{V1}/runs/mine")
        assert (run["state"], run["n_planned"]) == ("running", 400)
        assert "benchbook_started_runs 1.0" in api.get("/metrics").text
        again = {"evalset": "items.jsonl", "model": "recorded/m@1", "run_id": "mine"}
        assert api.problem(f"{V1}/runs", "POST", json={"config": again})[0] in (409, 422)
        answer = api.ask("POST", f"{V1}/runs/mine/cancel")
        assert (answer.status_code, answer.json()) == (202, {"run_id": "mine", "state": "stopping"})
        gate.goes_on.set()
        assert child.wait(60) == 3
        api.app.services.watcher.look()
        assert api.json(f"{V1}/runs/mine")["state"] == "interrupted"
        assert len(model.headers) < 400
        assert api.problem(f"{V1}/runs/mine/cancel", "POST")[0] == 409
        assert api.app.services.children.n_running == 0


def test_one_that_is_killed_is_shown_as_what_can_be_resumed(tmp_path: Path) -> None:
    with left_behind(tmp_path) as (api, child, _, _):
        child.kill()
        child.wait()
        api.app.services.watcher.look()  # nothing in the folder has changed since
        assert api.json(f"{V1}/runs/mine")["state"] == "interrupted"
        assert api.app.services.children.n_running == 0
        assert api.problem(f"{V1}/runs/mine/cancel", "POST")[0] == 409


def test_it_ends_with_the_server_that_found_it(tmp_path: Path) -> None:
    with left_behind(tmp_path) as (api, child, gate, _):
        ended = threading.Thread(target=api.app.services.children.close)
        ended.start()
        gate.goes_on.set()
        assert child.wait(60) == 3
        ended.join(60)
        assert not ended.is_alive()


@pytest.fixture
def started(tmp_path: Path) -> Path:
    folder = tmp_path / "runs" / ".server" / "started"
    folder.mkdir(parents=True)
    return folder


@pytest.mark.parametrize(
    "written", ["", "x", "1", "{pid} 1", "{pid} -", "0 -", "1 -", "-1 -", "99999999999999 1", "\xff \xff"]
)
def test_a_number_that_is_another_processs_by_now_gets_no_signal(started: Path, tmp_path: Path, written: str) -> None:
    """The file is held, but the process that it names is another one: it began at another time."""
    other = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    try:
        file = started / "mine.lock"
        file.write_text(written.format(pid=other.pid), "latin-1")
        with file.open("rb") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            children = Children(settings(tmp_path / "runs", "c"))
            assert (children.n_running, children.stop("mine")) == (1, False)
        assert other.poll() is None
    finally:
        other.communicate(b"\n")
    assert other.returncode == 0
    assert children.n_running == 0


def test_files_of_runs_that_have_ended_are_swept(started: Path, tmp_path: Path) -> None:
    for name in ("gone", "held"):
        (started / f"{name}.lock").write_text(f"{os.getpid()} 1", "ascii")
    (started / "gone.log").write_text("its log stays", "ascii")
    with (started / "held.lock").open("rb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        children = Children(settings(tmp_path / "runs", "c"))
        assert sorted(path.name for path in started.iterdir()) == ["gone.log", "held.lock"]
        assert children.n_running == 1
    assert not children.stop("held")


def test_a_server_that_ended_before_it_had_said_what_to_run(started: Path) -> None:
    with (started / "mine.lock").open("w+b") as lock, Path(os.devnull).open("wb") as word:
        descriptors = lock.fileno(), word.fileno()
        done = subprocess.run(
            [sys.executable, "-m", "benchbook.server.child", *map(str, descriptors)],
            input=b'{"evalset": "it', pass_fds=descriptors, capture_output=True, check=False,
        )  # fmt: skip
        lock.seek(0)
        assert len(lock.read().split(b" ")) == 2
    assert (done.returncode, b"the server ended before" in done.stderr) == (3, True), done.stderr
