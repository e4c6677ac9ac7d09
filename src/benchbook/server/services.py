"""The state that all operations share: the folder of records, its catalog, and results that are kept."""

from __future__ import annotations

import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Collection, Hashable, Iterator, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field
from http import HTTPStatus
from itertools import accumulate
from threading import Lock
from typing import Any, TypeVar

from benchbook.catalog.database import Catalog
from benchbook.catalog.marks import IndexedMarks
from benchbook.catalog.queries import IndexedRun, find_run
from benchbook.record.facts import RunStarted
from benchbook.record.folder import Record
from benchbook.server.access import Access
from benchbook.server.audit import Audit
from benchbook.server.child import Children
from benchbook.server.connections import Connections
from benchbook.server.events import Events
from benchbook.server.following import Followed
from benchbook.server.label_folders import LabelFolder, LabelFolders
from benchbook.server.problems import ProblemError
from benchbook.server.settings import Settings
from benchbook.server.spending import Spending
from benchbook.server.submission_store import Submissions
from benchbook.server.verifying import Verifications
from benchbook.server.watching import Watcher
from benchbook.system.memory import resident_bytes
from benchbook.text import shorten
from benchbook.views.words import RUN_STATES

_Value = TypeVar("_Value")
_LARGE = 1 << 20  # bytes of a result, after which the memory of the process is looked at


class Kept:
    """Results in memory; the least recently used goes first. One that is being made is waited for. No failure stays.

    They are held to `most_bytes` by their sizes, which are estimates: two may hold the same columns. So they make room
    for a large one, too, while the whole process holds more than `most_resident`, where the system tells.
    """

    def __init__(self, most_bytes: int, most_resident: int | None = None) -> None:
        self._most_bytes = most_bytes
        self._most_resident = most_resident
        self._lock = Lock()
        self._values: OrderedDict[Hashable, tuple[Any, int]] = OrderedDict()
        self._making: dict[Hashable, Future[Any]] = {}
        self.n_bytes = 0

    def get(self, key: Hashable, make: Callable[[], _Value], size_of: Callable[[_Value], int]) -> _Value:
        """The value of `key`, made if it is not there. One that is larger than the whole room is not kept."""
        with self._lock:
            if key in self._values:
                self._values.move_to_end(key)
                found: _Value = self._values[key][0]
                return found
            future = self._making.get(key)
            mine = future is None
            if future is None:
                future = self._making[key] = Future()
        if not mine:
            waited: _Value = future.result()
            return waited
        try:
            value = make()
            self._keep(key, value, size_of(value))
        except BaseException as error:
            future.set_exception(error)
            raise
        finally:
            with self._lock:
                del self._making[key]
        future.set_result(value)
        return value

    def put(self, key: Hashable, value: Any, size: int) -> None:
        """Keep a value that was made along the way, unless there is one already."""
        with self._lock:
            known = key in self._values
        if not known:
            self._keep(key, value, size)

    def peek(self, key: Hashable) -> Any:
        """The value, if it is there; else None."""
        with self._lock:
            found = self._values.get(key)
            if found is None:
                return None
            self._values.move_to_end(key)
            return found[0]

    def drop(self, key: Hashable) -> None:
        """Drop the value, if it is there."""
        with self._lock:
            self.n_bytes -= self._values.pop(key, (None, 0))[1]

    def _keep(self, key: Hashable, value: Any, size: int) -> None:
        if size > self._most_bytes:
            return
        with self._lock:
            self.n_bytes += size - self._values.pop(key, (None, 0))[1]
            self._values[key] = value, size
            while len(self._values) > 1 and (self.n_bytes > self._most_bytes or self._holds_much(size)):
                _, (_, freed) = self._values.popitem(last=False)
                self.n_bytes -= freed

    def _holds_much(self, size: int) -> bool:
        if size < _LARGE or self._most_resident is None:
            return False
        resident = resident_bytes()
        return resident is not None and resident > self._most_resident


METRICS_MEDIA = "text/plain; version=0.0.4; charset=utf-8"
_BOUNDS = (0.005, 0.025, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)


class Measures:
    """Counts and times of requests. Safe to share between threads."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._requests: Counter[tuple[str, int]] = Counter()
        self._buckets: dict[str, list[int]] = {}
        self._seconds: Counter[str] = Counter()
        self.in_flight = 0
        self._started = time.time()

    def note(self, operation: str, status: int, seconds: float) -> None:
        with self._lock:
            self._requests[operation, status] += 1
            self._seconds[operation] += seconds  # type: ignore[assignment]
            buckets = self._buckets.setdefault(operation, [0] * (len(_BOUNDS) + 1))
            buckets[next((place for place, bound in enumerate(_BOUNDS) if seconds <= bound), len(_BOUNDS))] += 1

    def text(self, gauges: Mapping[str, tuple[str, float]]) -> str:
        """All measures as text; `gauges` are further values by name, each with its meaning."""
        with self._lock:
            return "\n".join(self._lines(gauges)) + "\n"

    def _lines(self, gauges: Mapping[str, tuple[str, float]]) -> Iterator[str]:
        yield from _head("benchbook_requests_total", "counter", "Requests by operation and status.")
        for (operation, status), n in sorted(self._requests.items()):
            yield f'benchbook_requests_total{{operation="{operation}",status="{status}"}} {n}'
        yield from _head("benchbook_request_seconds", "histogram", "How long requests took.")
        for operation, buckets in sorted(self._buckets.items()):
            for bound, n in zip((*map(str, _BOUNDS), "+Inf"), accumulate(buckets), strict=True):
                yield f'benchbook_request_seconds_bucket{{operation="{operation}",le="{bound}"}} {n}'
            yield f'benchbook_request_seconds_sum{{operation="{operation}"}} {self._seconds[operation]:.6f}'
            yield f'benchbook_request_seconds_count{{operation="{operation}"}} {sum(buckets)}'
        own = {
            "benchbook_requests_in_flight": ("Requests that are being answered.", self.in_flight),
            "process_start_time_seconds": ("When this process began.", self._started),
        }
        for name, (meaning, value) in (own | dict(gauges)).items():
            yield from _head(name, "gauge", meaning)
            yield f"{name} {value}"
        yield from _head("process_cpu_seconds_total", "counter", "CPU time of this process.")
        yield f"process_cpu_seconds_total {time.process_time():.3f}"


def _head(name: str, kind: str, meaning: str) -> tuple[str, str]:
    return f"# HELP {name} {meaning}", f"# TYPE {name} {kind}"


_KNOWN_S, _MOST_KNOWN = 1.0, 10_000
_RECORD_BYTES = 20_000  # about, of a first fact


class KeptRecord(Record):
    """A record that does not change, with its first fact read once."""

    def started(self) -> RunStarted:
        if self._started is None:
            self._started = super().started()
        return self._started

    _started: RunStarted | None = None


@dataclass(frozen=True, slots=True)
class FoundRun:
    """A run that is in the catalog, and its record."""

    row: IndexedRun
    record: Record

    @property
    def state_id(self) -> str:
        """A name for the record's state: once it changes, whatever was computed from the record is out of date."""
        return (self.row.manifest_sha256 or self.row.journal_sha256 or "none")[:32]

    @property
    def name(self) -> str:
        """A name for the run and its state, which its kept results go by."""
        return f"{self.row.run_id} {self.state_id}"


@dataclass(slots=True)
class Services:
    """Made once by `running.make_app`."""

    settings: Settings
    catalog: Catalog
    access: Access
    audit: Audit
    measures: Measures
    connections: Connections
    events: Events
    watcher: Watcher
    marks: IndexedMarks
    children: Children
    submissions: Submissions
    spending: Spending
    kept: Kept
    verifications: Verifications
    labels: LabelFolders
    followed: Followed = field(default_factory=Followed)
    _known: dict[str, tuple[FoundRun, float]] = field(default_factory=dict)

    def label_folders(self) -> tuple[LabelFolder, ...]:
        """The folders of people's labels among the records, by name."""
        return self.labels.all(is_indexing=self.watcher.first_look is not None)

    def labels_of(self, run_ids: Collection[str]) -> tuple[LabelFolder, ...]:
        """Those whose labels were drawn from any of these runs."""
        return tuple(one for one in self.label_folders() if one.run_id in run_ids)

    def known(self, run_id: str) -> FoundRun | None:
        """A finished run whose row was read within the last second: as fresh as a list of the watched folder is."""
        found = self._known.get(run_id)
        return found[0] if found is not None and found[1] > time.monotonic() else None

    def forget(self) -> None:
        """Read all rows anew from now on."""
        self._known = {}

    def run(self, run_id: str) -> FoundRun:
        """A run by its id, which is looked up and never made into a path. Raises: ProblemError (404)."""
        if (known := self.known(run_id)) is not None:
            return known
        row = find_run(self.catalog, run_id)
        if self.watcher.is_behind(run_id, is_known=row is not None):
            raise self._not_indexed(run_id)
        if row is None:
            raise self._no_run(run_id)
        found = self.found(row)
        if row.state == "complete":
            if len(self._known) >= _MOST_KNOWN:
                self.forget()
            self._known[run_id] = found, time.monotonic() + _KNOWN_S
        return found

    def found(self, row: IndexedRun) -> FoundRun:
        """A run whose row was read."""
        return FoundRun(row, self._record(row))

    def _not_indexed(self, run_id: str) -> ProblemError:
        how_far = self.watcher.first_look
        what = f"run {shorten(run_id, 100)!r} is being indexed" + (f": {how_far}" if how_far else "")
        return ProblemError(HTTPStatus.SERVICE_UNAVAILABLE, f"{what}; ask again", {"retry-after": "1"})

    def _record(self, row: IndexedRun) -> Record:
        """The record of a run; of a complete one with its first fact at hand, which unpacking takes 15 ms to tell."""
        path = self.settings.runs / row.record_path
        if row.state != "complete":
            return Record(path)
        key = ("record", row.record_path, row.manifest_sha256)
        return self.kept.get(key, lambda: KeptRecord(path), lambda _: _RECORD_BYTES)

    def _no_run(self, run_id: str) -> ProblemError:
        """Why there is no run: one that was started may be about to be, or have refused."""
        shown, told = repr(shorten(run_id, 100)), self.children.beginning_of(run_id)
        if isinstance(told, ProblemError):
            return ProblemError(HTTPStatus.CONFLICT, f"run {shown} was started, and did not begin: {told.detail}")
        if told is not None:
            return ProblemError(HTTPStatus.CONFLICT, f"run {shown} is being started; look again", {"retry-after": "2"})
        return ProblemError(HTTPStatus.NOT_FOUND, f"there is no run {shown}")

    def finished(self, run_id: str) -> FoundRun:
        """A run whose derived files are there. Raises: ProblemError (404, 409)."""
        found = self.run(run_id)
        if found.row.manifest_sha256 is None:
            shown = shorten(run_id, 100)
            if found.row.state in ("damaged", "later"):
                raise ProblemError(HTTPStatus.CONFLICT, f"run {shown!r}: {found.row.predictions_unavailable}")
            words = RUN_STATES[found.row.state]
            raise ProblemError(HTTPStatus.CONFLICT, f"run {shown!r} is {words}: its numbers come at its end")
        return found
