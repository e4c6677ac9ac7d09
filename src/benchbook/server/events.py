"""Events, such as changes in the folder of records: sent to everybody who listens, and logged."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Callable
from http import HTTPStatus
from typing import Any, TypeAlias

from benchbook.canonical import canonical_json
from benchbook.record.journal import utc_now
from benchbook.server.access import Principal
from benchbook.server.problems import ProblemError
from benchbook.server.types import encoded

_MOST_LISTENERS, _MOST_OF_ONE = 200, 50  # in all, and with the same token
_MOST_WAITING = 1_000
_HEARTBEAT_S = 15.0


class Events:
    """Listeners to events, on the loop; `tell` may be called from any thread. One that does not read is dropped."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._listeners: set[_Listener] = set()
        self._closed = False

    @property
    def n_listeners(self) -> int:
        return len(self._listeners)

    def tell(self, event: str, value: Any) -> None:
        """Send an event to everybody who listens now."""
        loop = self._loop
        if loop is None or not self._listeners:
            return
        message = b"event: %s\ndata: %s\n\n" % (event.encode(), encoded(value))  # JSON has no bare line feed
        loop.call_soon_threadsafe(self._send, message)

    def _send(self, message: bytes | None) -> None:
        for listener in list(self._listeners):
            listener.put(message)

    def close(self) -> None:
        """End all streams; called on the loop."""
        self._closed = True
        self._send(None)

    def listen(self, principal: Principal) -> AsyncIterator[bytes]:
        """The stream of one listener. Raises: ProblemError (503) where there are too many, of the same token or all."""
        of_it = sum(one.name == principal.name for one in self._listeners)
        most = _MOST_LISTENERS if principal.is_local else _MOST_OF_ONE  # everybody on this machine has the same name
        if len(self._listeners) >= _MOST_LISTENERS or of_it >= most or self._closed:
            raise ProblemError(HTTPStatus.SERVICE_UNAVAILABLE, "too many listeners", {"retry-after": "10"})
        self._loop = asyncio.get_running_loop()
        return _Listener(self._listeners, principal.name)


class _Listener(AsyncIterator[bytes]):
    """The events for one client. It is counted from the beginning, also where nobody asks for an event."""

    def __init__(self, listeners: set[_Listener], name: str) -> None:
        self._listeners = listeners
        self._listeners.add(self)
        self.name = name
        self._queue: asyncio.Queue[bytes | None] = asyncio.Queue(_MOST_WAITING)
        self._queue.put_nowait(b"retry: 2000\n\n")

    def put(self, message: bytes | None) -> None:
        """Send an event, or None for the end. One that does not read is dropped."""
        try:
            self._queue.put_nowait(message)
        except asyncio.QueueFull:
            self._listeners.discard(self)

    async def __anext__(self) -> bytes:
        if self not in self._listeners:
            raise StopAsyncIteration
        try:
            message = await asyncio.wait_for(self._queue.get(), _HEARTBEAT_S)
        except TimeoutError:
            return b": still here\n\n"
        if message is None:
            raise StopAsyncIteration
        return message

    async def aclose(self) -> None:
        self._listeners.discard(self)


Log: TypeAlias = Callable[[str, dict[str, Any]], None]


def log_to_stderr(event: str, fields: dict[str, Any]) -> None:
    """Write an event to standard error as a line of JSON, in plain ASCII where the stream can't take more."""
    line = canonical_json({"at": utc_now(), "event": event, **fields}).decode("utf-8", "replace")
    sys.stderr.write(line + "\n")


def no_log(event: str, fields: dict[str, Any]) -> None:
    del event, fields
