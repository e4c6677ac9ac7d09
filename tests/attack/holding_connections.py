"""Connections that are opened at a server and held, each kind by another trick: a program, beside the test that reads.

    python holding_connections.py PORT KIND=N [KIND=N ...]

Prints a line once all of them are open, opens anew whatever the server closes, and at the end of its standard input
prints, as JSON, how many of each kind were closed on it, and the first line of the answers that it got.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections import Counter
from collections.abc import AsyncIterator, Callable

HEAD = b"Host: 127.0.0.1\r\n"
DRIP_S = 1.0


async def _then_nothing(*first: bytes) -> AsyncIterator[bytes]:
    for piece in first:
        yield piece
    await asyncio.Event().wait()


async def _drip(first: bytes, drop: bytes) -> AsyncIterator[bytes]:
    yield first
    while True:
        await asyncio.sleep(DRIP_S)
        yield drop


KINDS: dict[str, Callable[[], AsyncIterator[bytes]]] = {
    "idle": lambda: _then_nothing(),
    "half": lambda: _then_nothing(b"GET /healthz HTTP/1.1\r\n"),
    "head": lambda: _drip(b"GET /healthz HTTP/1.1\r\n" + HEAD, b"X-A: b\r\n"),
    "crlf": lambda: _drip(b"", b"\r\n"),
    "body": lambda: _drip(
        b"POST /api/v1/runs HTTP/1.1\r\n" + HEAD + b"Content-Type: application/json\r\nContent-Length: 100000\r\n\r\n{",
        b" ",
    ),
    "nobody": lambda: _drip(b"GET /healthz HTTP/1.1\r\n" + HEAD + b"Content-Length: 100000\r\n\r\n", b" "),
    "listen": lambda: _then_nothing(b"GET /api/v1/events HTTP/1.1\r\n" + HEAD + b"\r\n"),
    "unread": lambda: _then_nothing(b"GET /api/v1/openapi.json HTTP/1.1\r\n" + HEAD + b"\r\n"),
}


class Held:
    """Connections of one kind, which are opened again when they are closed."""

    def __init__(self, port: int, kind: str) -> None:
        self._port = port
        self._kind = kind
        self.n_closed = 0
        self.answers: Counter[str] = Counter()

    async def hold(self, opened: Callable[[], None]) -> None:
        while True:
            try:
                await self._hold_once(opened)
            except OSError:
                await asyncio.sleep(0.1)
            self.n_closed += 1

    async def _hold_once(self, opened: Callable[[], None]) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", self._port, limit=4096)
        pieces = KINDS[self._kind]()
        writing = asyncio.ensure_future(self._write(writer, pieces))
        opened()
        try:
            if self._kind == "unread":
                await writing
                return
            line = await reader.readline()
            if line:
                self.answers[line.decode("latin-1").strip()] += 1
            while await reader.read(4096):
                pass
        finally:
            writing.cancel()
            writer.close()

    async def _write(self, writer: asyncio.StreamWriter, pieces: AsyncIterator[bytes]) -> None:
        async for piece in pieces:
            writer.write(piece)
            await writer.drain()


async def main(port: int, wanted: dict[str, int]) -> None:
    n_open, all_open = 0, asyncio.Event()

    def opened() -> None:
        nonlocal n_open
        n_open += 1
        if n_open >= sum(wanted.values()):
            all_open.set()

    held = {kind: Held(port, kind) for kind in wanted}
    tasks = [asyncio.create_task(held[kind].hold(opened)) for kind, n in wanted.items() for _ in range(n)]
    await all_open.wait()
    sys.stdout.write("held\n")
    sys.stdout.flush()
    await asyncio.to_thread(sys.stdin.read)
    sys.stdout.write(json.dumps({kind: {"closed": one.n_closed, **one.answers} for kind, one in held.items()}) + "\n")
    for task in tasks:
        task.cancel()


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]), {kind: int(n) for kind, n in (word.split("=") for word in sys.argv[2:])}))
