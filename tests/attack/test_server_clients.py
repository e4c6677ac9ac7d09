"""Clients that mean harm: the server says no, breaks nothing, and goes on."""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest

from attack.hostile_requests import Requests
from attack.tally import Tally
from running import benchbook_here
from server.making import make_records
from server.test_live import wait_until_ready

pytestmark = pytest.mark.attack

REQUESTS = 1_000  # of each kind of client, in two parts
ASKED_IF_WELL = 100  # after so many, whether it is well
_STATUS = re.compile(rb"HTTP/1\.[01] (\d{3}) ")
MAY_BE = {503, 507}  # of the server's own faults: too busy, no room left; with the reason


@pytest.fixture(scope="module")
def records(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_records(tmp_path_factory.mktemp("records"))


@dataclass
class Served:
    """The real server in a process of its own, and its log."""

    address: str
    log: Path

    def port(self) -> int:
        return urlsplit(self.address).port or 0

    def is_well(self) -> bool:
        return httpx.get(f"{self.address}/healthz", timeout=30).status_code == 200

    def broke(self) -> list[str]:
        """What the log says of mistakes of ours."""
        found = self.log.read_text("utf-8", "replace").splitlines()
        return [line for line in found if '"error"' in line or "Traceback" in line or not line.startswith("{")]


@contextmanager
def served(runs: Path, folder: Path, *more: str) -> Iterator[Served]:
    words = [sys.executable, "-m", "benchbook", "serve", "--port", "0", "--runs", str(runs), "--json", *more]
    log = folder / "log"
    with log.open("wb") as errors:
        process = subprocess.Popen(
            words, stdout=subprocess.PIPE, stderr=errors, env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
        )
    assert process.stdout is not None
    try:
        said = b""
        while not said.endswith(b"}\n") and (line := process.stdout.readline()):
            said += line
        server = Served(json.loads(said)["address"].rstrip("/"), log)
        wait_until_ready(server.address)
        yield server
    finally:
        process.kill()
        process.communicate()


def scope(name: str, folder: Path) -> tuple[list[str], dict[str, str]]:
    """The words of a server and the headers of a client: without tokens, or with a token of one scope."""
    if name == "no tokens asked for":
        return [], {}
    tokens = folder / "tokens.json"
    made = benchbook_here(
        "token",
        "create",
        "--name",
        "x",
        "--scope",
        "read" if name == "no token" else name,
        "--token-file",
        str(tokens),
        "--json",
    )
    token = json.loads(made.stdout)["token"]
    return ["--token-file", str(tokens)], {} if name == "no token" else {"Authorization": f"Bearer {token}"}


@pytest.mark.parametrize("part", range(2))
@pytest.mark.parametrize("name", ["no tokens asked for", "no token", "read", "label", "write"])
def test_a_hostile_request_breaks_nothing(
    name: str, part: int, records: Path, tmp_path: Path, rng: random.Random, share: Callable[[int], int],
    tally: Callable[[str, str], Tally],
) -> None:  # fmt: skip
    counted = tally("a client's hostile request", name)
    words, headers = scope(name, tmp_path)
    with served(Path(shutil.copytree(records, tmp_path / "runs")), tmp_path, *words) as server:
        requests = Requests(rng, f"127.0.0.1:{server.port()}", headers)
        n_broke = 0
        for number in range(share(REQUESTS // 2)):
            how, sent = requests.draw()
            fault = fault_of(exchanged(server.port(), sent))
            if fault is None and len(broke := server.broke()) > n_broke:
                fault, n_broke = f"in the log: {broke[-1]}", len(broke)
            if fault is None and number % ASKED_IF_WELL == 0 and not server.is_well():
                fault = "it is not well afterwards"
            counted.count(fault and f"{how}: {sent[:300]!r}: {fault}")
        assert server.is_well()


def exchanged(port: int, sent: bytes) -> bytes | None:
    """What comes back until the server closes; None where it does not."""
    found = b""
    with socket.create_connection(("127.0.0.1", port), timeout=20) as connection, suppress(ConnectionError):
        connection.sendall(sent)
        connection.shutdown(socket.SHUT_WR)
        try:
            while block := connection.recv(1 << 16):
                found += block
        except TimeoutError:
            return None
    return found


def fault_of(answer: bytes | None) -> str | None:
    if answer is None:
        return "the connection was left open"
    for found in _STATUS.finditer(answer):
        status = int(found[1])
        if status >= 500 and (status not in MAY_BE or b'"detail"' not in answer):
            return f"answered {answer[:400]!r}"
    return None
