"""Server-sent events: what changes in the folder of records, told to whoever listens."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Callable
from http import HTTPStatus
from pathlib import Path
from threading import Lock
from typing import Any, TypeAlias

import msgspec

from benchbook.canonical import canonical_json
from benchbook.record.journal import utc_now
from benchbook.server.problems import ProblemError

__all__ = ["Audit", "Events", "Log", "log_to_stderr", "no_log"]


_MOST_LISTENERS = 200
_MOST_WAITING = 1_000
_HEARTBEAT_S = 15.0


class Events:
    """`tell` may be called from any thread; listeners are on the loop. One that does not read is let go."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._listeners: set[asyncio.Queue[bytes | None]] = set()
        self._closed = False

    @property
    def n_listeners(self) -> int:
        return len(self._listeners)

    def tell(self, event: str, value: Any) -> None:
        """Send an event to everybody who listens now."""
        loop = self._loop
        if loop is None or not self._listeners:
            return
        try:
            data = msgspec.json.encode(value)
        except UnicodeEncodeError:
            data = canonical_json(value)
        message = b"event: %s\ndata: %s\n\n" % (event.encode(), data)  # JSON has no bare line feed
        loop.call_soon_threadsafe(self._send, message)

    def _send(self, message: bytes | None) -> None:
        for queue in list(self._listeners):
            try:
                queue.put_nowait(message)
            except asyncio.QueueFull:
                self._listeners.discard(queue)

    def close(self) -> None:
        """End all streams; called on the loop."""
        self._closed = True
        self._send(None)

    def listen(self) -> AsyncIterator[bytes]:
        """The stream of one listener. Raises: ProblemError (503) where there are too many."""
        if len(self._listeners) >= _MOST_LISTENERS or self._closed:
            raise ProblemError(HTTPStatus.SERVICE_UNAVAILABLE, "too many listeners", {"retry-after": "10"})
        self._loop = asyncio.get_running_loop()
        queue: asyncio.Queue[bytes | None] = asyncio.Queue(_MOST_WAITING)
        self._listeners.add(queue)
        return self._messages(queue)

    async def _messages(self, queue: asyncio.Queue[bytes | None]) -> AsyncIterator[bytes]:
        try:
            yield b"retry: 2000\n\n"
            while queue in self._listeners:
                try:
                    message = await asyncio.wait_for(queue.get(), _HEARTBEAT_S)
                except TimeoutError:
                    yield b": still here\n\n"
                    continue
                if message is None:
                    return
                yield message
        finally:
            self._listeners.discard(queue)


class _Entry(msgspec.Struct, frozen=True, kw_only=True):
    at: str
    who: str
    via: str
    operation: str
    target: dict[str, str]
    status: int
    detail: str | None


class Audit:
    """Appends to a file that only its owner can read. Bodies and tokens are never in it."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / "audit.jsonl"
        self._lock = Lock()

    def note(self, who: str, via: str, operation: str, target: dict[str, str], status: int, detail: str | None) -> None:
        entry = _Entry(at=utc_now(), who=who, via=via, operation=operation, target=target, status=status, detail=detail)
        line = canonical_json(entry) + b"\n"
        with self._lock:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            descriptor = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
            try:
                os.write(descriptor, line)
            finally:
                os.close(descriptor)


Log: TypeAlias = Callable[[str, dict[str, Any]], None]


def log_to_stderr(event: str, fields: dict[str, Any]) -> None:
    """`event` names what happened; the line is plain ASCII where the stream can't take more."""
    line = canonical_json({"at": utc_now(), "event": event, **fields}).decode("utf-8", "replace")
    sys.stderr.write(line + "\n")


def no_log(event: str, fields: dict[str, Any]) -> None:
    del event, fields
