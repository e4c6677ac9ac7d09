"""The server's process: listening, and an orderly end."""

from __future__ import annotations

import asyncio
import logging
import signal
import socket
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import cast

import uvicorn

from benchbook.ask.roles import allow_open_files
from benchbook.catalog.database import open_catalog
from benchbook.catalog.marks import IndexedMarks
from benchbook.errors import BenchbookError, UsageError
from benchbook.record.lines import STATE_FOLDER
from benchbook.server.access import Access, check_setup, is_loopback
from benchbook.server.announcing import tell_changes, tell_indexing
from benchbook.server.app import App
from benchbook.server.audit import Audit
from benchbook.server.child import Children
from benchbook.server.connections import MOST_CONNECTIONS, Connections, HeldConnection, leave_the_unreachable
from benchbook.server.events import Events, Log, no_log
from benchbook.server.label_folders import LabelFolders
from benchbook.server.services import Kept, Measures, Services
from benchbook.server.settings import Settings
from benchbook.server.spending import Spending
from benchbook.server.submission_store import Submissions
from benchbook.server.verifying import Verifications
from benchbook.server.watching import Watcher
from benchbook.system.memory import give_freed_memory_back
from benchbook.writing import make_folder


def make_app(settings: Settings, log: Log = no_log, *, is_indexed: bool = True) -> App:
    """Make the application. The folder of records is looked through once before it returns, where it is to be indexed
    from the start; else that is done once it is started, and until then it answers what it knows.

    Raises: ConfigError for an address that others can reach, without a token, and for endpoints that are none;
    BenchbookError for a catalog or a folder
    that can't be opened.
    """
    check_setup(settings)
    spending = Spending(settings.endpoints)
    make_folder(settings.runs)
    state = settings.runs / STATE_FOLDER
    catalog = open_catalog(settings.catalog)
    made: list[App] = []
    try:
        audit, connections = Audit(state), Connections()
        connections.on_refusal = audit.refuse_unheard
        watcher = Watcher(
            settings,
            catalog,
            lambda found: tell_changes(made[0].services, found) if made else None,
            lambda how_far: tell_indexing(made[0].services, how_far) if made else None,
        )
        services = Services(
            settings=settings,
            catalog=catalog,
            access=Access(settings),
            audit=audit,
            measures=Measures(),
            connections=connections,
            events=Events(),
            watcher=watcher,
            marks=IndexedMarks(settings.runs, catalog),
            children=Children(settings),
            submissions=Submissions(settings),
            spending=spending,
            kept=Kept(settings.kept_bytes, settings.resident_bytes),
            verifications=Verifications(settings),
            labels=LabelFolders(settings.runs, catalog),
        )
        if is_indexed:
            watcher.look()
        made.append(App(services, log))
    except BaseException:
        catalog.close()
        raise
    return made[0]


_GRACE_S = 20
_BACKLOG = 512  # connections that the system accepted and the server did not see yet


class _Server(uvicorn.Server):
    """A server that ends the streams of events first: they would hold up the shutdown."""

    def __init__(self, config: uvicorn.Config, app: App) -> None:
        super().__init__(config)
        self._app = app

    async def on_tick(self, counter: int) -> bool:
        if counter % 10 == 0:  # once a second
            self._app.services.connections.sweep(asyncio.get_running_loop().time())
        return await super().on_tick(counter)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._app.services.events.close()
        await super().shutdown(sockets)


class _BreakLog(logging.Handler):
    """A handler that logs where mistakes of ours came from, as lines of the structured log, with nobody's values."""

    def __init__(self, log: Log) -> None:
        super().__init__(logging.WARNING)
        self._log = log

    def emit(self, record: logging.LogRecord) -> None:
        fields = {"what": record.getMessage()}
        if record.exc_info and record.exc_info[0] is not None:
            frames = traceback.extract_tb(record.exc_info[2])
            fields |= {
                "error": record.exc_info[0].__name__,
                "at_lines": " < ".join(f"{Path(one.filename).name}:{one.lineno}" for one in reversed(frames)),
            }
        self._log("broke", fields)


@contextmanager
def _told_to_end_is_no_fault() -> Iterator[None]:
    """Ignore the signal that uvicorn sends itself once more when it has ended: it would kill this process."""
    before = {number: signal.signal(number, lambda *_: None) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def listening_socket(settings: Settings) -> socket.socket:
    """The socket that the server listens on. Raises: UsageError for an address that can't be had."""
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    # On Windows an address could be taken from whoever listens at it, by what elsewhere frees it of the dead.
    alone = getattr(socket, "SO_EXCLUSIVEADDRUSE", socket.SO_REUSEADDR)
    listening.setsockopt(socket.SOL_SOCKET, alone, 1)
    leave_the_unreachable(listening)
    try:
        listening.bind((settings.host.strip("[]"), settings.port))
        listening.listen(_BACKLOG)  # before its address is told: whoever reads that may come at once, and waits
    except OSError as error:
        listening.close()
        raise UsageError(
            f"{settings.host}:{settings.port}: can't be listened to ({error.strerror}); --port 0 takes a free one"
        ) from None
    return listening


def address_of(listening: socket.socket, settings: Settings) -> str:
    """The address at which a browser on this machine finds the server."""
    port = listening.getsockname()[1]
    host = settings.host if is_loopback(settings.host) else "127.0.0.1"
    return f"http://{f'[{host}]' if ':' in host else host}:{port}/"


def serve(settings: Settings, listening: socket.socket, log: Log) -> None:
    """Answer until a signal ends it (SIGINT, SIGTERM); then finish what is under way.

    Raises: ConfigError, BenchbookError, before anything is answered.
    """
    loggers = [logging.getLogger(name) for name in ("benchbook.server", "uvicorn.error")]
    handler = _BreakLog(log)
    for logger in loggers:
        logger.addHandler(handler)
        logger.propagate = False
    try:
        allow_open_files(MOST_CONNECTIONS)
        give_freed_memory_back()
        app = make_app(settings, log, is_indexed=False)
        config = uvicorn.Config(
            app,
            http=cast("type[asyncio.Protocol]", partial(HeldConnection, held=app.services.connections)),
            ws="none",
            lifespan="on",
            access_log=False,
            log_config=None,
            server_header=False,
            date_header=True,
            proxy_headers=False,
            backlog=_BACKLOG,
            timeout_graceful_shutdown=_GRACE_S,
        )
        services = app.services
        told = {"catalog": services.catalog.where, "endpoints": [str(one) for one in services.spending.endpoints]}
        log("started", {"address": address_of(listening, settings), **told})
        server = _Server(config, app)
        with _told_to_end_is_no_fault():
            server.run(sockets=[listening])
        log("ended", {})
        if not server.started:
            raise BenchbookError("the server could not be started; the log says why")
    finally:
        for logger in loggers:
            logger.removeHandler(handler)
        listening.close()
        sys.stderr.flush()
