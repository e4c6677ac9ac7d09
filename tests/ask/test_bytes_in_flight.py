"""Answers that are held at once are bounded in bytes: the oldest is read on, the others wait."""

from __future__ import annotations

import asyncio
import resource
from pathlib import Path

import pytest

from benchbook.ask import bytes_in_flight as module
from benchbook.ask.bytes_in_flight import SHORT, BytesInFlight, check_address_space, memory_limit
from benchbook.ask.providers import http_connection
from benchbook.ask.providers.http_client import HttpClient, _Limit
from benchbook.ask.providers.http_connection import Connection, HttpError
from benchbook.ask.work import run_async
from benchbook.errors import UsageError

MEGABYTE = 1 << 20


class Paused:
    """A reader that remembers whether it is paused."""

    def __init__(self) -> None:
        self.paused = False

    def pause(self) -> None:
        self.paused = True

    def go_on(self) -> None:
        self.paused = False


def test_over_the_bound_the_oldest_alone_is_read() -> None:
    flight, readers = BytesInFlight(10), [Paused(), Paused(), Paused()]
    for reader in readers:
        flight.read(reader, 5)
    assert [one.paused for one in readers] == [False, False, True]
    flight.read(readers[1], 1)
    flight.read(readers[0], 100)
    assert [one.paused for one in readers] == [False, True, True]


def test_the_next_goes_on_when_one_is_whole_and_all_once_there_is_room() -> None:
    flight, readers = BytesInFlight(10), [Paused(), Paused(), Paused()]
    for reader in readers:
        flight.read(reader, 9)
    assert [one.paused for one in readers] == [False, True, True]
    flight.has_read(readers[0])
    assert [one.paused for one in readers[1:]] == [False, True]
    flight.has_read(readers[1])
    assert not readers[2].paused


def test_answers_that_are_still_needed_count_too_and_never_stop_the_oldest() -> None:
    flight, first, second = BytesInFlight(10), Paused(), Paused()
    flight.keep(50)
    flight.read(first, 1)
    flight.read(second, 1)
    assert [first.paused, second.paused] == [False, True]
    flight.drop(50)
    assert not second.paused


@pytest.mark.parametrize(
    ("limit", "most"), [(None, 64), (64 << 30, 64), (512 << 20, 32), (100 << 20, 6), (1, 4)], ids=str
)  # fmt: skip
def test_the_bound_follows_the_memory_that_there_is(limit: int | None, most: int) -> None:
    assert module._most_by_memory(limit) >> 20 == most


@pytest.mark.parametrize(
    ("addresses", "group", "limit"),
    [(resource.RLIM_INFINITY, None, None), (resource.RLIM_INFINITY, "max\n", None),
     (5 << 30, "max\n", 5 << 30), (5 << 30, f"{1 << 29}\n", 1 << 29), (resource.RLIM_INFINITY, "12345678\n", 12345678)],
)  # fmt: skip
def test_memory_is_limited_by_the_shell_or_the_control_group(
    addresses: int, group: str | None, limit: int | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if group is not None:
        (tmp_path / "memory.max").write_text(group, encoding="ascii")
    monkeypatch.setattr(module, "_CGROUP", tmp_path / "memory.max")
    monkeypatch.setattr(resource, "getrlimit", lambda which: (addresses, resource.RLIM_INFINITY))
    assert memory_limit() == limit


def test_too_few_addresses_are_refused_before_anything_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Under `ulimit -v` native libraries spin or crash: a run hung twice."""
    monkeypatch.setattr(resource, "getrlimit", lambda which: (400 << 20, resource.RLIM_INFINITY))
    with pytest.raises(UsageError, match=r"may use 400 MB of addresses \(ulimit -v\).*MemoryMax"):
        check_address_space()
    monkeypatch.setattr(resource, "getrlimit", lambda which: (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    check_address_space()


# ── on real connections ──────────────────────────────────────────────────────────────────────────────────


async def _long_answers(n: int) -> list[bytes]:
    """The bodies of `n` requests at once to a server that answers each with a megabyte."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\nx")
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % MEGABYTE + b"y" * MEGABYTE)
        await reader.read()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    client = HttpClient(f"http://127.0.0.1:{port}/", {}, timeout_s=60.0, max_body=2 * MEGABYTE)
    replies = await asyncio.gather(*(client.post(b"x") for _ in range(n)))
    await client.close()
    server.close()
    return [one.body for one in replies]


@pytest.fixture
def little_room(monkeypatch: pytest.MonkeyPatch) -> BytesInFlight:
    flight = BytesInFlight(SHORT)
    monkeypatch.setattr(http_connection, "bytes_in_flight", lambda: flight)
    return flight


def test_all_long_answers_come_whole_one_after_the_other(little_room: BytesInFlight) -> None:
    assert run_async(_long_answers(8)) == [b"y" * MEGABYTE] * 8
    assert little_room._held == 0


def test_one_that_we_did_not_read_in_time_is_no_time_out_of_the_model() -> None:
    async def main() -> None:
        task = asyncio.current_task()
        assert task is not None
        limit, connection = _Limit(task, 0.0), Connection()
        with pytest.raises(TimeoutError):
            limit.outcome(None, connection)
        connection._held_back_s = 0.1
        with pytest.raises(HttpError, match="for want of memory") as error:
            limit.outcome(None, connection)
        assert error.value.cause == "local"

    run_async(main())
