"""A server that hostile clients hold by their connections still answers a reader: measured, and printed (`-s`)."""

from __future__ import annotations

import asyncio
import json
import math
import socket
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from scored import scored
from server.test_live import serving

pytestmark = pytest.mark.attack

HOLDING = Path(__file__).with_name("holding_connections.py")
MOST_P99_MS = 1_000


@pytest.fixture
def port(tmp_path: Path) -> Iterator[int]:
    scored(tmp_path, run_id="a")
    with serving(tmp_path / "runs", "--quiet") as (address, _):
        yield int(address.rpartition(":")[2])


@contextmanager
def held(port: int, **kinds: int) -> Iterator[dict[str, dict[str, int]]]:
    """Hostile connections by another process; what became of them is in the dict afterwards."""
    found: dict[str, dict[str, int]] = {}
    words = [sys.executable, str(HOLDING), str(port), *(f"{kind}={n}" for kind, n in kinds.items())]
    process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdout is not None
    try:
        assert process.stdout.readline() == b"held\n"
        yield found
    finally:
        out, _ = process.communicate(b"", timeout=60)
        found.update(json.loads(out))


async def get(port: int, path: str) -> int:
    """The status of an answer over a connection of its own; 0 where there is none."""
    try:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        try:
            writer.write(b"GET %s HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n" % path.encode())
            data = await reader.read()
        finally:
            writer.close()
    except OSError:
        return 0
    return int(data[9:12]) if data.startswith(b"HTTP/1.1 ") else 0


PATHS = ("/healthz", "/api/v1/runs", "/readyz", "/api/tunix/runs/a/predictions?limit=5", "/")


def read(port: int, seconds: float, n_readers: int = 1) -> tuple[Counter[int], list[float]]:
    """Statuses and times (ms, sorted) of requests by so many readers, one after another each."""
    statuses: Counter[int] = Counter()
    times: list[float] = []

    async def reader() -> None:
        end, n = time.monotonic() + seconds, 0
        while time.monotonic() < end:
            began = time.perf_counter()
            try:
                status = await asyncio.wait_for(get(port, PATHS[n % len(PATHS)]), 60)
            except TimeoutError:
                status = -1
            statuses[status] += 1
            times.append((time.perf_counter() - began) * 1000)
            n += 1
            if n_readers == 1:
                await asyncio.sleep(0.01)

    async def all_readers() -> None:
        await asyncio.gather(*(reader() for _ in range(n_readers)))

    asyncio.run(all_readers())
    return statuses, sorted(times)


def p99(times: list[float]) -> float:
    return times[math.ceil(0.99 * len(times)) - 1]


def say(what: str, statuses: Counter[int], times: list[float]) -> None:
    found = f"p50 {times[len(times) // 2]:.1f} ms, p99 {p99(times):.1f}, max {times[-1]:.1f}"
    sys.stdout.write(f"\n{what}: {dict(statuses)}, {found}\n")


@pytest.mark.parametrize(
    "kinds",
    [
        pytest.param({"listen": 200}, id="200-listeners"),
        pytest.param({"body": 230}, id="230-slow-bodies"),
        pytest.param({"idle": 1_000}, id="1000-idle"),
        pytest.param({"head": 1_000}, id="1000-slow-heads"),
        pytest.param({"unread": 300}, id="300-who-do-not-read"),
        pytest.param({"idle": 1_000, "body": 230, "listen": 200}, id="all-at-once"),
        pytest.param(
            {"idle": 700, "half": 300, "head": 700, "crlf": 300, "body": 500, "nobody": 200, "listen": 400},
            id="3100-of-every-kind",
        ),
    ],
)
def test_a_reader_among_connections_that_are_held(port: int, kinds: dict[str, int]) -> None:
    with held(port, **kinds) as became:
        statuses, times = read(port, 15)
    say(f"{kinds}, of which {became}", statuses, times)
    assert set(statuses) == {200}
    assert p99(times) < MOST_P99_MS


@pytest.mark.parametrize("n", [260, 600])
def test_no_reader_is_refused(port: int, n: int) -> None:
    statuses, times = read(port, 10, n)
    say(f"{n} readers", statuses, times)
    assert set(statuses) == {200}


MB = 1 << 20


def one_header(n: int) -> Iterator[bytes]:
    yield b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nX-A: "
    yield from (b"a" * MB for _ in range(n // MB))


def many_headers(n: int) -> Iterator[bytes]:
    yield b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n"
    yield from (b"X-A: b\r\n" * (MB // 8) for _ in range(n // MB))


def target(n: int) -> Iterator[bytes]:
    yield b"GET /"
    yield from (b"a" * MB for _ in range(n // MB))


_CHUNKED = (
    b"POST /api/v1/runs HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
    b"Transfer-Encoding: chunked\r\n\r\n"
)


def trailer(n: int) -> Iterator[bytes]:
    yield _CHUNKED + b"1\r\n{\r\n0\r\nX-A: "
    yield from (b"a" * MB for _ in range(n // MB))


def tiny_chunks(n: int) -> Iterator[bytes]:
    yield _CHUNKED
    yield from (b"1\r\n \r\n" * (MB // 6) for _ in range(n // MB))


def chunk_extension(n: int) -> Iterator[bytes]:
    yield _CHUNKED + b"1;a="
    yield from (b"a" * MB for _ in range(n // MB))


def pipelined(n: int) -> Iterator[bytes]:
    yield from (b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n" * (MB // 43) for _ in range(n // MB))


@pytest.mark.parametrize("n_mb", [40, 80])
@pytest.mark.parametrize(
    "kind",
    [one_header, many_headers, target, trailer, tiny_chunks, chunk_extension, pipelined],
    ids=lambda f: f.__name__,
)
def test_health_beside_one_connection_that_sends_without_end(
    port: int, kind: Callable[[int], Iterator[bytes]], n_mb: int
) -> None:
    began, answer = threading.Event(), bytearray()

    def send() -> None:
        with socket.create_connection(("127.0.0.1", port)) as connection:
            connection.settimeout(120)
            with suppress(OSError):
                for piece in kind(n_mb * MB):
                    connection.sendall(piece)
                    began.set()
            with suppress(OSError):
                answer.extend(connection.recv(200))
            began.set()

    thread = threading.Thread(target=send)
    thread.start()
    began.wait(60)
    statuses: Counter[int] = Counter()
    times = []
    while thread.is_alive() or len(times) < 20:
        start = time.perf_counter()
        statuses[asyncio.run(asyncio.wait_for(get(port, "/healthz"), 120))] += 1
        times.append((time.perf_counter() - start) * 1000)
    thread.join()
    say(f"{kind.__name__} of {n_mb} MB, answer {bytes(answer[:40])!r}", statuses, sorted(times))
    assert set(statuses) == {200}
    assert max(times) < MOST_P99_MS
