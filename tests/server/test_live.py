"""The real process, on a free port: the watched folder, events of a live run, a slow sender, an orderly end."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

import httpx
import pytest

import running
from running import benchbook, benchbook_here
from scored import PREDICTIONS, scored
from scripted_server import always_good
from scripted_server import running as scripted


@contextmanager
def serving(
    runs: Path, *more: str, is_ready: bool = True, log: Path | None = None
) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """`benchbook serve` in a process of its own; its address, once all is indexed if it is to be ready. Where it says
    more than a pipe holds, it needs a `log`.
    """
    words = [sys.executable, "-m", "benchbook", "serve", "--port", "0", "--runs", str(runs), "--json", *more]
    with log.open("wb") if log else nullcontext(subprocess.PIPE) as errors:
        process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=errors)
    assert process.stdout is not None
    try:
        lines = iter(process.stdout.readline, b"")
        found = b""
        for line in lines:
            found += line
            if line == b"}\n":
                break
        assert found, (log.read_bytes() if log else process.stderr.read() if process.stderr else b"").decode()
        address = json.loads(found)["address"].rstrip("/")
        if is_ready:
            wait_until_ready(address)
        yield address, process
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate()


def wait_until_ready(address: str) -> None:
    transport = httpx.HTTPTransport(retries=20)  # it listens before it answers
    with httpx.Client(transport=transport, timeout=60) as client:
        while (found := client.get(f"{address}/readyz").json())["status"] != "ready":
            assert found["detail"].startswith("indexing: "), found


def ended(process: subprocess.Popen[bytes]) -> tuple[int, list[dict[str, Any]]]:
    """How a process that was told to end does so, and its log."""
    process.send_signal(signal.SIGTERM)
    _, errors = process.communicate(timeout=60)
    return process.returncode, [json.loads(line) for line in errors.decode().splitlines()]


@contextmanager
def listening(address: str) -> Iterator[Iterator[tuple[str, Any]]]:
    """The events that come, as (name, value)."""
    with httpx.Client(timeout=60) as client, client.stream("GET", f"{address}/api/v1/events") as answer:
        assert answer.headers["content-type"] == "text/event-stream"
        lines = answer.iter_lines()
        assert next(lines) == "retry: 2000"

        def events() -> Iterator[tuple[str, Any]]:
            name = ""
            for line in lines:
                if line.startswith("event: "):
                    name = line.removeprefix("event: ")
                elif line.startswith("data: "):
                    yield name, json.loads(line.removeprefix("data: "))

        yield events()


def test_a_live_run_is_told_while_it_goes_on(tmp_path: Path) -> None:
    goes_on = threading.Event()

    def waits(role: str, n: int, request: dict[str, Any]) -> dict[str, Any]:
        if role == "candidate" and n == 2:
            goes_on.wait(60)
        return always_good(role, n, request)

    with scripted(waits) as server, serving(tmp_path / "runs") as (address, process):
        running.write_items(tmp_path / "items.jsonl", 4)
        words = running.options(tmp_path, server, **{"max-connections": 1})
        with listening(address) as events:
            child = subprocess.Popen([sys.executable, "-m", "benchbook", "run", *words], stdout=subprocess.DEVNULL)
            states: list[tuple[str, int]] = []
            for name, run in events:
                assert (name, run["run_id"]) == ("run", "run")
                states.append((run["state"], run["n_attempted"]))
                if run["state"] == "running" and run["n_attempted"] >= 2:
                    goes_on.set()
                if run["state"] == "complete":
                    break
            assert states[-1] == ("complete", 4)
            assert ("running", 2) in states
            assert child.wait(60) == 0
            shutil.rmtree(tmp_path / "runs" / "run")
            assert next(events) == ("removed", {"run_id": "run"})
            code, log = ended(process)  # with a listener that stays
        assert code == 0
        assert [line["event"] for line in log if line["event"] != "request"] == ["started", "ended"]


def test_it_works_over_a_socket_and_ends_in_order(tmp_path: Path) -> None:
    scored(tmp_path, run_id="a")
    with serving(tmp_path / "runs") as (address, process), httpx.Client(base_url=address, timeout=60) as client:
        first = client.get("/api/tunix/runs/a/predictions")
        assert len(first.json()["predictions"]) == 5
        assert "server" not in first.headers
        again = client.get("/api/tunix/runs/a/predictions", headers={"if-none-match": first.headers["etag"]})
        assert (again.status_code, again.content) == (304, b"")
        assert client.get("/", headers={"host": "evil.example"}).status_code == 421
        assert client.get("/api/v1/runs/..%2f..%2fetc%2fpasswd").status_code == 404
        assert client.get(f"/api/v1/runs?text={'x' * 60_000}").status_code in (400, 414, 431)
        lines = client.get("/api/v1/runs/a/samples.ndjson").text.splitlines()
        assert len(lines) == 5
        measured = client.get("/metrics").text
        assert 'benchbook_requests_total{operation="getTunixPredictions",status="304"} 1' in measured
        assert 'benchbook_runs{state="complete"} 1' in measured
        scored(tmp_path, PREDICTIONS[:1], run_id="b")
        code, log = ended(process)
    assert code == 0
    requests = [line for line in log if line["event"] == "request"]
    assert {line["status"] for line in requests} >= {200, 304, 404, 421}
    assert all(set(line) == {"at", "event", "method", "path", "operation", "status", "ms", "bytes", "who"}
               for line in requests)  # fmt: skip


def test_two_servers_and_a_writer_share_a_folder(tmp_path: Path) -> None:
    """Also the back-up: a copy of the folder, made while a server runs, is a server's folder."""
    scored(tmp_path, run_id="a")
    with serving(tmp_path / "runs") as (one, _), serving(tmp_path / "runs") as (two, _), listening(two) as events:
        answer = httpx.put(f"{one}/api/v1/runs/a/tags", json={"tags": ["kept"]}, timeout=60)
        assert answer.status_code == 200
        scored(tmp_path, PREDICTIONS[:2], run_id="b")
        # One of the two indexes it; both find it in the catalog that they share.
        for name, run in events:
            if (name, run["run_id"], run["state"]) == ("run", "b", "complete"):
                break
        shutil.copytree(tmp_path / "runs", tmp_path / "copy" / "runs")
    (tmp_path / "copy" / "runs" / "catalog.sqlite").unlink()  # it is an index: made again from the records
    with serving(tmp_path / "copy" / "runs") as (address, _):
        found = httpx.get(f"{address}/api/v1/runs?sort=run&order=asc", timeout=60).json()["runs"]
    assert [(run["run_id"], run["tags"]) for run in found] == [("a", ["kept"]), ("b", [])]


def test_a_client_that_goes_away_breaks_nothing(tmp_path: Path) -> None:
    scored(tmp_path, run_id="a")
    with serving(tmp_path / "runs") as (address, process):
        host, port = address.removeprefix("http://").split(":")
        for request in (
            b"GET /api/v1/events HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
            b"GET /api/v1/runs/a/samples.ndjson HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
            b"PUT /api/v1/runs/a/tags HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 9\r\n\r\n{",
            b"\x00\xff nonsense\r\n\r\n",
        ):
            with socket.create_connection((host, int(port))) as connection:
                connection.sendall(request)
        assert httpx.get(f"{address}/api/v1/runs/a", timeout=60).status_code == 200
        code, log = ended(process)
    assert code == 0
    assert not [line for line in log if line["event"] == "broke" and "error" in line]


# ── the command line ─────────────────────────────────────────────────────────────────────────────────────────


def test_tokens_by_the_command_line(tmp_path: Path) -> None:
    runs = str(tmp_path / "runs")
    made = benchbook_here(
        "token", "create", "--name", "ann", "--scope", "read", "--scope", "label", "--runs", runs, "--json"
    )
    token = json.loads(made.stdout)
    assert token["scopes"] == ["read", "label"]
    assert benchbook_here("token", "create", "--name", "bob", "--runs", runs).stdout.startswith(b"bb_")
    listed = benchbook_here("token", "list", "--runs", runs)
    assert [line.split()[1] for line in listed.stdout.decode().splitlines()] == ["read,label", "read"]
    assert token["token"].encode() not in listed.stdout
    with serving(tmp_path / "runs", "--host", "0.0.0.0") as (address, process):
        headers = {"authorization": f"Bearer {token['token']}"}
        assert httpx.get(f"{address}/api/v1/runs", timeout=60).status_code == 401
        assert httpx.get(f"{address}/api/v1/runs", headers=headers, timeout=60).status_code == 200
        revoked = json.loads(benchbook_here("token", "revoke", token["token_id"], "--runs", runs, "--json").stdout)
        assert revoked["revoked_utc"] is not None
        assert httpx.get(f"{address}/api/v1/runs", headers=headers, timeout=60).status_code == 401
        code, log = ended(process)
    assert code == 0
    assert token["token"] not in json.dumps(log)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (
            ["serve", "--host", "0.0.0.0", "--port", "0"],
            "token: found none, for 0.0.0.0, which other machines may reach",
        ),
        (["serve", "--host", "203.0.113.7", "--token-file", "none.json"], "token: found none, for 203.0.113.7"),
        (["serve", "--catalog", "mysql://u:sesame@h/db", "--port", "0"], "catalog url: found the kind 'mysql'"),
        (["token", "revoke", "none"], "there is no token 'none'"),
        (["token", "create", "--name", "x", "--scope", "root"], "scope: found root"),
    ],
)
def test_mistakes(tmp_path: Path, words: list[str], says: str) -> None:
    found = benchbook(*words, "--runs", str(tmp_path / "runs"), cwd=tmp_path)
    assert (found.returncode, says in found.stderr.decode()) == (2, True), found.stderr.decode()
    assert b"sesame" not in found.stderr
    assert b"Traceback" not in found.stderr


def test_a_port_that_is_taken(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        found = benchbook("serve", "--port", port, "--runs", str(tmp_path / "runs"), env=dict(os.environ))
    assert (found.returncode, "can't be listened to" in found.stderr.decode()) == (2, True)
