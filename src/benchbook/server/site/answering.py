"""The API's answers about chosen records, byte for byte as a server over them gives them, without one."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias
from urllib.parse import quote, urlencode

import msgspec

from benchbook.catalog.database import open_catalog
from benchbook.catalog.indexing import index_record
from benchbook.catalog.marks import IndexedMarks
from benchbook.record.folder import Record
from benchbook.server.access import Access, Principal
from benchbook.server.audit import Audit
from benchbook.server.child import Children
from benchbook.server.compared_items import item_list
from benchbook.server.connections import Connections
from benchbook.server.events import Events
from benchbook.server.item_answers import item_details
from benchbook.server.label_folders import LabelFolders
from benchbook.server.operations import Request, Router, Stream, carried_out
from benchbook.server.operations_list import OPERATIONS
from benchbook.server.problems import decoded_query
from benchbook.server.samples import every_sample
from benchbook.server.services import Kept, Measures, Services
from benchbook.server.settings import Settings
from benchbook.server.spending import Spending
from benchbook.server.submission_store import Submissions
from benchbook.server.types import encoded
from benchbook.server.verifying import Verifications
from benchbook.server.watching import Watcher

if TYPE_CHECKING:
    import polars

API = "/api/v1"
Query: TypeAlias = Sequence[tuple[str, str]]
_ITEMS_AT_ONCE = 256
_READER = Principal("", ("read",), "nobody")  # who opens a site may read it, and nothing else


class Answers:
    """Answers to reading questions, as a server over the same records gives them."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._router = Router(OPERATIONS)

    def bytes(self, path: str, query: Query = ()) -> bytes:
        """The JSON that a GET of `path` (its parts as they are, no escapes) answers, or the file.

        Raises: ProblemError, ConfigError, RecordError as the API's operations do.
        """
        raw = "/".join(quote(part, safe="") for part in path.split("/"))
        operation, values = self._router.find("GET", f"{API}{raw}".encode("ascii"))
        asked = decoded_query(urlencode(query).encode("ascii"), operation.query)
        call = Request(self._services, _READER, values, asked, None, {})
        found = carried_out(operation, call)
        return b"".join(found.pieces) if isinstance(found, Stream) else found

    def json(self, path: str, query: Query = ()) -> Any:
        """The same, decoded."""
        return msgspec.json.decode(self.bytes(path, query))

    def samples(self, run: str) -> Iterator[Any]:
        """The answer to `/runs/{run}/samples/{sample}` for each sample, decoded, in order."""
        for one in every_sample(self._services, self._services.finished(run)):
            yield msgspec.json.decode(encoded(one))

    def items(self, runs: Sequence[str], positions: Sequence[int]) -> Iterator[Any]:
        """The answer to `/comparisons/items/{position}` for each of the positions, decoded, in order."""
        found = [self._services.finished(run) for run in runs]
        rows = item_list(self._services, found[:2]).frame
        for first in range(0, len(positions), _ITEMS_AT_ONCE):
            some = rows[list(positions[first : first + _ITEMS_AT_ONCE])]
            yield from (msgspec.json.decode(encoded(one)) for one in item_details(self._services, found, some))

    def item_rows(self, pair: Sequence[str]) -> polars.DataFrame:
        """The items of two runs side by side, each column whole, row n at position n."""
        return item_list(self._services, [self._services.finished(run) for run in pair]).frame


@contextmanager
def answers_about(runs: Path, records: Mapping[str, Record]) -> Iterator[Answers]:
    """Answers about these records of the folder `runs` alone. Nothing is written there."""
    with tempfile.TemporaryDirectory(prefix="benchbook-site-") as scratch:
        settings = Settings(runs=runs, catalog=str(Path(scratch) / "catalog.sqlite"))
        idle = replace(settings, runs=Path(scratch))  # of what only writes: it finds nothing there, and leaves nothing
        catalog = open_catalog(settings.catalog)
        try:
            for record in records.values():
                index_record(catalog, record)
            watcher = Watcher(settings, catalog, lambda _: None)
            watcher.first_look = None  # all that is shown is indexed
            services = Services(
                settings=settings,
                catalog=catalog,
                access=Access(settings),
                audit=Audit(idle.runs),
                measures=Measures(),
                connections=Connections(),
                events=Events(),
                watcher=watcher,
                marks=IndexedMarks(runs, catalog),
                children=Children(idle),
                submissions=Submissions(idle),
                spending=Spending(()),
                kept=Kept(settings.kept_bytes),
                verifications=Verifications(idle),
                labels=LabelFolders(idle.runs, catalog),  # a site is of records of runs
            )
            yield Answers(services)
        finally:
            catalog.close()
