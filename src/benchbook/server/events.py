"""Changes in the folder of records: seen while other processes write into it, and sent to everybody who listens."""

from __future__ import annotations

import asyncio
import logging
import sys
import threading
import time
from collections.abc import AsyncIterator, Callable
from http import HTTPStatus
from typing import Any, TypeAlias

from sqlalchemy import select

from benchbook.canonical import canonical_json
from benchbook.catalog.database import Catalog, runs
from benchbook.catalog.indexing import Indexed, refresh
from benchbook.errors import BenchbookError
from benchbook.record.journal import utc_now
from benchbook.server.access import Principal
from benchbook.server.problems import ProblemError
from benchbook.server.settings import Settings
from benchbook.server.types import encoded
from benchbook.text import shorten

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


_logger = logging.getLogger("benchbook.server")


# ── the watched folder ───────────────────────────────────────────────────────────────────────────────────────

_SHARE = 10  # at most a tenth of the time goes into looking


class Watcher:
    """A thread that looks through the folder. `on_change` gets the changes that a look found, if there are any."""

    def __init__(self, settings: Settings, catalog: Catalog, on_change: Callable[[Indexed], None]) -> None:
        self._settings = settings
        self._catalog = catalog
        self._on_change = on_change
        self._stop = threading.Event()
        self._now = threading.Event()
        self._one_at_a_time = threading.Lock()
        self._thread: threading.Thread | None = None
        self._stamps: dict[str, str] = {}
        self.last_look: float | None = None  # monotonic
        self.error: str | None = None

    def start(self) -> None:
        self._thread = threading.Thread(target=self._run, name="watcher", daemon=True)
        self._thread.start()

    def look(self) -> Indexed:
        """Look now, and return what was found. Raises: BenchbookError."""
        with self._one_at_a_time:
            refresh(self._catalog, self._settings.runs)
            found = self._changed()
            self.last_look, self.error = time.monotonic(), None
        if found.read or found.removed:
            self._on_change(found)
        return found

    def _changed(self) -> Indexed:
        """The changes in the catalog since the last look, whoever made them: servers share a catalog."""
        with self._catalog.read() as connection:
            stamps = {row.run_id: row.stamp for row in connection.execute(select(runs.c.run_id, runs.c.stamp))}
        before, self._stamps = self._stamps, stamps
        changed = (run_id for run_id, stamp in stamps.items() if before.get(run_id) != stamp)
        return Indexed(read=tuple(sorted(changed)), removed=tuple(sorted(before.keys() - stamps.keys())))

    def soon(self) -> None:
        """Look as soon as the thread is free."""
        self._now.set()

    def stop(self) -> None:
        self._stop.set()
        self._now.set()
        if self._thread is not None:
            self._thread.join(10)

    def _run(self) -> None:
        while not self._stop.is_set():
            began = time.monotonic()
            self._now.clear()
            try:
                self.look()
            except (BenchbookError, OSError) as error:
                if self.error is None:  # once; `readyz` says so until it is over
                    _logger.warning("the folder of records can't be looked through: %s", shorten(str(error), 300))
                self.error = str(error)
            took = time.monotonic() - began
            self._now.wait(max(self._settings.look_s, _SHARE * took))
