"""The watched folder: what other processes write into it is in the catalog, and told, while it goes on."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable

from sqlalchemy import select

from benchbook.catalog.database import Catalog, runs
from benchbook.catalog.indexing import Indexed, refresh
from benchbook.errors import BenchbookError
from benchbook.server.services import Settings
from benchbook.text import shorten

__all__ = ["Watcher"]


_logger = logging.getLogger("benchbook.server")
_SHARE = 10  # at most a tenth of the time goes into looking


class Watcher:
    """Looks through the folder in a thread of its own. `on_change` gets what a look found, where it found anything."""

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
        """What is otherwise in the catalog than at the last look, whoever put it there: servers share a catalog."""
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
