"""The watched folder: records are indexed while the server answers, and changes are seen while others write.

At the start nobody waits for the first look: the server says how far it is, and what is asked for is read first.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable
from typing import NamedTuple

from sqlalchemy import select

from benchbook.catalog.database import Catalog, runs
from benchbook.catalog.indexing import Indexed, index_record, is_as_indexed, refresh
from benchbook.errors import BenchbookError
from benchbook.record.folder import Record, is_of_labels, record_in
from benchbook.record.growing import GrowingJournals
from benchbook.server.settings import Settings
from benchbook.text import plural, shorten

_SHARE = 10  # at most a tenth of the time goes into looking
_TELL_S = 0.5  # at most so often it is told how far the first look is
_MOST_WANTED = 100

_logger = logging.getLogger("benchbook.server")


class HowFar(NamedTuple):
    """How far the first look through the folder is: `done` of `total` records are as the catalog has them."""

    done: int
    total: int | None  # None until the folder was listed

    def __str__(self) -> str:
        if self.total is None:
            return "the folder of records is being listed"
        return f"{self.done:,} of {plural(self.total, 'record')} {'is' if self.done == 1 else 'are'} indexed"


class Watcher:
    """A thread that looks through the folder. `on_change` gets the changes that a look found, if there are any, and
    `on_progress` is called while the first look goes on.
    """

    def __init__(
        self,
        settings: Settings,
        catalog: Catalog,
        on_change: Callable[[Indexed], None],
        on_progress: Callable[[HowFar], None] = lambda _: None,
    ) -> None:
        self._settings = settings
        self._catalog = catalog
        self._on_change = on_change
        self._on_progress = on_progress
        self._stop = threading.Event()
        self._now = threading.Event()
        self._one_at_a_time = threading.Lock()
        self._thread: threading.Thread | None = None
        self._stamps: dict[str, str] = {}
        self._growing = GrowingJournals()
        self._wanted: deque[str] = deque(maxlen=_MOST_WANTED)
        self._told = 0.0
        self.first_look: HowFar | None = HowFar(0, None)  # None once it is over
        self.last_look: float | None = None  # monotonic
        self.error: str | None = None

    def start(self) -> None:
        self._thread = threading.Thread(target=self._run, name="watcher", daemon=True)
        self._thread.start()

    def look(self) -> Indexed:
        """Look now, and return what was found. Raises: BenchbookError."""
        with self._one_at_a_time:
            is_first = self.first_look is not None
            refresh(self._catalog, self._settings.runs, self, self._growing)
            if self.is_over:
                return Indexed()
            found = self._changed()
            self.last_look, self.error, self.first_look = time.monotonic(), None, None
        if is_first:
            self._on_progress(HowFar(len(self._stamps), len(self._stamps)))
        elif found.read or found.removed:
            self._on_change(found)
        return found

    def look_at(self, run_id: str) -> None:
        """Index one run now, whose record somebody has just made here. Raises: BenchbookError."""
        index_record(self._catalog, Record(self._settings.runs / run_id))
        self._on_change(Indexed(read=(run_id,)))

    def _changed(self) -> Indexed:
        """The changes in the catalog since the last look, whoever made them: servers share a catalog."""
        with self._catalog.read() as connection:
            stamps = {row.run_id: row.stamp for row in connection.execute(select(runs.c.run_id, runs.c.stamp))}
        before, self._stamps = self._stamps, stamps
        changed = (run_id for run_id, stamp in stamps.items() if before.get(run_id) != stamp)
        return Indexed(read=tuple(sorted(changed)), removed=tuple(sorted(before.keys() - stamps.keys())))

    # ── what is not indexed yet ──────────────────────────────────────────────────────────────────────────────

    def is_behind(self, run_id: str, *, is_known: bool) -> bool:
        """True if a run's record is there, and the catalog does not have it as it is. It is read next.

        `is_known`: the catalog has a row of it, which may be older than this server.
        """
        if is_known and self.first_look is None:  # a look later at most, as every list is
            return False
        record = record_in(self._settings.runs, run_id)
        if record is None or (is_known and is_as_indexed(self._catalog, record)):
            return False
        if not is_known and is_of_labels(record):
            return False
        self._wanted.append(run_id)
        self._now.set()
        return True

    def indexed(self, done: int, total: int) -> None:
        if self.first_look is None:
            return
        self.first_look = HowFar(done, total)
        if (now := time.monotonic()) - self._told >= _TELL_S:
            self._told = now
            self._on_progress(self.first_look)

    def wanted(self) -> Iterable[str]:
        return tuple(self._wanted)

    @property
    def is_over(self) -> bool:
        return self._stop.is_set()

    # ── the thread ───────────────────────────────────────────────────────────────────────────────────────────

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
