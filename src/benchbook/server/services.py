"""What all operations share: the folder of records, its catalog, and what was computed once."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from http import HTTPStatus
from pathlib import Path
from typing import TYPE_CHECKING

from benchbook.catalog.database import Catalog
from benchbook.catalog.queries import RunRow, find_run
from benchbook.records.folder import Record
from benchbook.server.kept import Kept
from benchbook.server.problems import ProblemError
from benchbook.text import shorten

if TYPE_CHECKING:
    from benchbook.server.access import Access
    from benchbook.server.audit import Audit
    from benchbook.server.events import Events
    from benchbook.server.measures import Measures
    from benchbook.server.starting import Children
    from benchbook.server.submissions import Submissions
    from benchbook.server.tags import TagStore
    from benchbook.server.watching import Watcher

__all__ = ["STATE_FOLDER", "FoundRun", "Services", "Settings"]

_KNOWN_S, _MOST_KNOWN = 1.0, 10_000
STATE_FOLDER = ".server"  # within the folder of records: copied with it


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How a server is set up. `inputs`: the folder whose files a run that is started over HTTP may name.

    `endpoints`: the addresses that such a run may ask, beside the providers' own. `hosts`: the names under which the
    server is asked, beside the ones of this machine. `root_path`: as `below.checked_root_path` gives it.
    """

    runs: Path
    catalog: str
    host: str = "127.0.0.1"
    port: int = 8400
    token_file: Path | None = None
    hosts: tuple[str, ...] = ()
    inputs: Path | None = None
    endpoints: tuple[str, ...] = ()
    look_s: float = 1.0  # how often the folder of records is looked through, at most
    kept_bytes: int = 512 << 20
    root_path: str = ""  # what stands before all addresses, where the server in front leaves it there
    static: Path = field(default=Path(__file__).with_name("static"))


@dataclass(frozen=True, slots=True)
class FoundRun:
    """A run that is in the catalog, and its record."""

    row: RunRow
    record: Record

    @property
    def state_id(self) -> str:
        """Names the record as it stands: another one, and whatever was computed from it is old."""
        return (self.row.manifest_sha256 or self.row.journal_sha256 or "none")[:32]


@dataclass(slots=True)
class Services:
    """Made once by `app.make_app`."""

    settings: Settings
    catalog: Catalog
    access: Access
    audit: Audit
    measures: Measures
    events: Events
    watcher: Watcher
    tags: TagStore
    children: Children
    submissions: Submissions
    kept: Kept
    _known: dict[str, tuple[FoundRun, float]] = field(default_factory=dict)

    def known(self, run_id: str) -> FoundRun | None:
        """A finished run whose row was read within the last second: as new as a list of the watched folder is."""
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
        if row is None:
            raise ProblemError(HTTPStatus.NOT_FOUND, f"there is no run {shorten(run_id, 100)!r}")
        found = FoundRun(row, Record(self.settings.runs / row.record_path))
        if row.state == "complete":
            if len(self._known) >= _MOST_KNOWN:
                self.forget()
            self._known[run_id] = found, time.monotonic() + _KNOWN_S
        return found

    def finished(self, run_id: str) -> FoundRun:
        """A run whose derived files are there. Raises: ProblemError (404, 409)."""
        found = self.run(run_id)
        if found.row.manifest_sha256 is None:
            shown = shorten(run_id, 100)
            if found.row.state == "damaged":
                raise ProblemError(HTTPStatus.CONFLICT, f"run {shown!r}: the record is damaged: {found.row.error}")
            raise ProblemError(HTTPStatus.CONFLICT, f"run {shown!r} is {found.row.state}: its numbers come at its end")
        return found
