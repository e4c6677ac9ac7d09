"""The server as an ASGI application: limits, access, routing, and the headers of every answer."""

from __future__ import annotations

import asyncio
import functools
import logging
import time
from collections.abc import AsyncIterator, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext, suppress
from http import HTTPStatus
from typing import Any
from urllib.parse import quote, unquote

from starlette.types import Receive, Scope, Send

from benchbook.errors import BenchbookError
from benchbook.server.access import NOBODY, Principal
from benchbook.server.audit import Noted, is_noted
from benchbook.server.compression import IN_THREAD_BYTES, LEAST_BYTES, forms_of, goes_compressed, gzipped
from benchbook.server.events import Log, no_log
from benchbook.server.operations import JSON, NotModified, Operation, Request, Router, Stream, carried_out
from benchbook.server.operations_list import OPERATIONS
from benchbook.server.pages import PAGE_POLICY, File, Pages, path_before
from benchbook.server.problems import (
    PROBLEM_MEDIA,
    ProblemError,
    Room,
    decoded_body,
    decoded_query,
    disk_problem,
    problem_bytes,
    problem_of,
    read_body,
)
from benchbook.server.sending import head, sent_form, until
from benchbook.server.services import Services
from benchbook.text import shorten

_LONGEST_TARGET = 16_384  # bytes of a path with its query
_MOST_BODY_BYTES = 256 << 20  # of all bodies together, as they come and while they are worked on
_THREADS, _HEAVY = 8, 2
_PATIENCE_S = 0.5  # for which heavy work waits for the light one that is under way: first rows come before totals
_MOST_DOWNLOADS = 16  # at once, of those that are made from rows: some 15 MB each


class App:
    """`services` are its own: it starts and stops them with the process. `log` gets a line for each request."""

    def __init__(self, services: Services, log: Log) -> None:
        self.services = services
        self._log = log
        self._router = Router(OPERATIONS)
        self._pages = Pages(services.settings.static)
        self._threads = ThreadPoolExecutor(_THREADS, "operation")
        self._heavy = ThreadPoolExecutor(_HEAVY, "heavy")
        self._most_queued = services.connections.most // 2  # the others are free for who asks for signs of life
        self._n_queued = 0
        self._n_light = 0
        self._no_light = asyncio.Event()
        self._no_light.set()
        self._downloads = asyncio.Semaphore(_MOST_DOWNLOADS)
        self.room = Room(_MOST_BODY_BYTES)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._live(receive, send)
        elif scope["type"] == "http":
            await _Exchange(self, scope, receive, send).answer()
        elif scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1003})

    # ── the process ──────────────────────────────────────────────────────────────────────────────────────────

    async def _live(self, receive: Receive, send: Send) -> None:
        while True:
            message = await receive()
            if message["type"] == "lifespan.startup":
                self.start()
                await send({"type": "lifespan.startup.complete"})
            elif message["type"] == "lifespan.shutdown":
                await asyncio.to_thread(self.stop)
                await send({"type": "lifespan.shutdown.complete"})
                return

    def start(self) -> None:
        self.services.watcher.start()

    def stop(self) -> None:
        """End the runs that were started here, so that they can be resumed, and close the catalog."""
        self.services.watcher.stop()
        self.services.children.close()
        self._threads.shutdown()
        self._heavy.shutdown()
        self.services.verifications.close()
        self.services.followed.close()
        self.services.audit.close()
        self.services.catalog.close()

    # ── one operation ────────────────────────────────────────────────────────────────────────────────────────

    def route(self, method: str, raw_path: bytes) -> tuple[Operation, dict[str, str]]:
        return self._router.find(method, raw_path)

    def file(self, path: str, raw_path: bytes, accept: str) -> File:
        return self._pages.find(path, raw_path, accept)

    async def in_thread(self, operation: Operation, work: Callable[[], Any]) -> Any:
        """Wait for files and databases in a thread. Raises: ProblemError (503) where too much waits already."""
        if self._n_queued >= self._most_queued:
            raise ProblemError(HTTPStatus.SERVICE_UNAVAILABLE, "too much is asked at once", {"retry-after": "2"})
        self._n_queued += 1
        try:
            if operation.heavy:
                return await self._in_heavy_thread(work)
            return await self._in_light_thread(work)
        finally:
            self._n_queued -= 1

    async def _in_light_thread(self, work: Callable[[], Any]) -> Any:
        self._n_light += 1
        self._no_light.clear()
        try:
            return await asyncio.get_running_loop().run_in_executor(self._threads, work)
        finally:
            self._n_light -= 1
            if self._n_light == 0:
                self._no_light.set()

    async def _in_heavy_thread(self, work: Callable[[], Any]) -> Any:
        with suppress(TimeoutError):
            await asyncio.wait_for(self._no_light.wait(), _PATIENCE_S)
        return await asyncio.get_running_loop().run_in_executor(self._heavy, work)

    async def packed(self, work: Callable[[], bytes]) -> bytes:
        """Wait for an answer's compressed form: of a large one it takes so long that others would wait for it."""
        return await asyncio.get_running_loop().run_in_executor(self._threads, work)

    async def pieces(self, stream: Stream) -> AsyncIterator[bytes]:
        """The pieces of a download. Those that are made from rows, which they hold in memory, wait for one another."""
        loop, nothing, source = asyncio.get_running_loop(), b"", stream.pieces
        try:
            async with self._downloads if stream.length is None else nullcontext():
                while piece := await loop.run_in_executor(self._threads, next, source, nothing):
                    yield piece
        finally:
            close = getattr(source, "close", None)  # a generator's open file
            if close is not None:
                await loop.run_in_executor(self._threads, close)

    def note(self, exchange: _Exchange, seconds: float) -> None:
        """Count a request, and log it."""
        name = exchange.operation.name if exchange.operation else "page"
        self.services.measures.note(name, exchange.status, seconds)
        if self._log is no_log:
            return
        self._log(
            "request",
            {
                "method": shorten(exchange.method, 20),
                "path": shorten(exchange.path, 300),
                "operation": name,
                "status": exchange.status,
                "ms": round(seconds * 1000, 2),
                "bytes": exchange.n_bytes,
                "who": exchange.principal.name if exchange.principal else None,
            },
        )

    def broke(self, exchange: _Exchange, error: BaseException) -> None:
        """Log where a mistake of ours came from; the client learns nothing of it."""
        name = exchange.operation.name if exchange.operation else "page"
        logging.getLogger("benchbook.server").error("%s broke", name, exc_info=error)


class _Exchange:
    """One request and its answer."""

    def __init__(self, app: App, scope: Scope, receive: Receive, send: Send) -> None:
        self._app = app
        self._scope = scope
        self._receive = receive
        self._send = send
        self._begun = False
        self._noted_as: Noted | None = None  # in the audit log, before anything is done
        self._call: Request | None = None
        self.method: str = scope["method"]
        self.path: str = scope["path"]
        self.headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        self.below = ""  # the path before all addresses of this server, where one is known
        self.operation: Operation | None = None
        self.values: dict[str, str] = {}
        self.principal: Principal | None = None
        self.status = 0
        self.detail: str | None = None
        self.n_bytes = 0
        self._lent = app.room.lend()

    async def answer(self) -> None:
        measures = self._app.services.measures
        began = time.perf_counter()
        measures.in_flight += 1
        try:
            try:
                await self._answer()
            except NotModified:
                await self._finish(HTTPStatus.NOT_MODIFIED, b"", None, self._call_headers)
            except ProblemError as problem:
                await self._problem(problem)
            except BenchbookError as error:
                await self._problem(problem_of(error, self._app.services.settings))
            except _Gone:
                self.status = 499
            except Exception as error:  # no internals go out
                self._app.broke(self, error)
                await self._problem(disk_problem(error) or ProblemError(HTTPStatus.INTERNAL_SERVER_ERROR))
        finally:
            measures.in_flight -= 1
            self._lent.give_back()
            self._app.note(self, time.perf_counter() - began)

    def _noted(self) -> Noted:
        who = self._call.principal if self._call else self.principal or NOBODY
        target = self.values if self.operation else {"method": self.method, "path": self.path}
        name = self.operation.name if self.operation else None
        return Noted(self.method, who.name, who.via, name, target)

    async def _answer(self) -> None:
        services = self._app.services
        services.access.check_host(self.headers.get("host"))
        raw_path: bytes = (self._scope.get("raw_path") or quote(self.path).encode()).partition(b"?")[0]
        before = self.headers.get("x-forwarded-prefix")
        cut, self.below = path_before(raw_path, services.settings.root_path, before)
        raw_path = raw_path[len(cut) :]
        if len(raw_path) + len(self._scope["query_string"]) > _LONGEST_TARGET:
            raise ProblemError(HTTPStatus.REQUEST_URI_TOO_LONG, f"expected at most {_LONGEST_TARGET:,} bytes")
        if not raw_path:  # the page's relative addresses need the slash at the end
            await self._finish(HTTPStatus.PERMANENT_REDIRECT, b"", None, {"location": f"{self.below}/"})
            return
        if not raw_path.startswith((b"/api/", b"/healthz", b"/readyz", b"/metrics")):
            await self._file(raw_path)
            return
        self.operation, self.values = self._app.route(self.method, raw_path)
        self.principal = services.access.principal(self.headers)
        services.access.check(self.principal, self.operation.scope, self.headers, writes=self.operation.writes)
        query = decoded_query(self._scope["query_string"], self.operation.query)
        body = await self._body(self.operation)
        if self.operation.writes and self.operation.scope is not None:
            self._noted_as = self._noted()
            await services.audit.begin(self._noted_as)
        self._call = Request(services, self.principal, self.values, query, body, self.headers, self.below)
        if self.operation.media == "text/event-stream":
            live = {"cache-control": "no-store", "x-accel-buffering": "no"}
            await self._stream(self.operation.handler(self._call), live)
            return
        quick = self.operation.quick
        found = quick(self._call) if quick is not None else None
        if found is None:
            work = functools.partial(carried_out, self.operation, self._call)
            found = await self._app.in_thread(self.operation, work)
        if isinstance(found, Stream):
            await self._download(found, self.operation.media)
        else:
            await self._finish(self.operation.status, found, self.operation.media, self._call_headers)

    @property
    def _call_headers(self) -> dict[str, str]:
        """The headers that the operation set; with an etag, the client may keep the answer, for itself alone."""
        call = self._call
        if call is None:
            return {}
        found = dict(call.headers)
        if "location" in found:
            found["location"] = self.below + found["location"]
        if call.etag is not None:
            found["etag"] = call.etag
            found["cache-control"] = "private, no-cache"  # kept, and asked about each time
        return found

    # ── what came ────────────────────────────────────────────────────────────────────────────────────────────

    async def _body(self, operation: Operation) -> Any:
        if not operation.writes:
            return None
        most = 0 if operation.body is None else operation.most_body_bytes
        data = await read_body(self._receive, self.headers.get("content-length"), most, self._lent)
        if data is None:
            raise _Gone
        if operation.body is None:
            return None
        media = self.headers.get("content-type", "").partition(";")[0].strip().lower()
        wanted = JSON if isinstance(operation.body, type) else operation.body
        if media != wanted:
            raise ProblemError(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, f"content-type: expected {wanted}")
        if isinstance(operation.body, type):  # in a thread: a megabyte of small objects takes 0.3 s
            return await self._app.in_thread(operation, functools.partial(decoded_body, data, operation.body))
        return data

    # ── what goes out ────────────────────────────────────────────────────────────────────────────────────────

    async def _file(self, raw_path: bytes) -> None:
        if self.method not in ("GET", "HEAD"):
            raise ProblemError(HTTPStatus.METHOD_NOT_ALLOWED, "this address takes GET", {"allow": "GET"})
        file = self._app.file(unquote(raw_path.decode("latin-1")), raw_path, self.headers.get("accept", ""))
        headers = {
            "etag": file.etag,
            "cache-control": "public, max-age=31536000, immutable" if file.immutable else "no-cache",
            "content-security-policy": PAGE_POLICY,
        }
        known = self.headers.get("if-none-match")
        if not file.is_there:
            await self._finish(HTTPStatus.NOT_FOUND, file.data, file.media, headers)
        elif known in forms_of(file.etag):
            await self._finish(HTTPStatus.NOT_MODIFIED, b"", None, headers | {"etag": known})
        else:
            await self._finish(HTTPStatus.OK, file.data, file.media, headers, lambda: file.gzipped)

    async def _problem(self, problem: ProblemError) -> None:
        if self._begun:  # too late to say so; the connection is cut, and the answer is not whole
            raise problem
        self.detail = problem.detail
        await self._finish(
            problem.status, problem_bytes(problem.status, problem.detail), PROBLEM_MEDIA, problem.headers
        )

    async def _finish(
        self,
        status: int,
        data: bytes,
        media: str | None,
        headers: Mapping[str, str],
        gzip_of: Callable[[], bytes] | None = None,
    ) -> None:
        """Send a whole answer; `gzip_of` has its compressed form. A write is in the audit log before it goes out."""
        self.status = int(status)
        problem = None
        if is_noted(self.method, self.status):
            problem = await self._app.services.audit.end(self._noted_as or self._noted(), self.status, self.detail)
        if problem is not None and status < HTTPStatus.BAD_REQUEST:
            self._call = None  # no cookie of a login that is in no log
            self.status, self.detail = problem.status, problem.detail
            data, media, headers = problem_bytes(problem.status, problem.detail), PROBLEM_MEDIA, problem.headers
        more = dict(headers)
        if media is not None:
            more["content-type"] = media
        secret = self._call is not None and bool(self._call.cookies)
        if len(data) >= LEAST_BYTES and not secret and goes_compressed(media, self.headers, more):
            pack = gzip_of or functools.partial(gzipped, data)
            data = pack() if len(data) < IN_THREAD_BYTES else await self._app.packed(pack)
        if status == HTTPStatus.NOT_MODIFIED:
            more["vary"] = "accept-encoding"  # as what it stands for may have
        else:
            more["content-length"] = str(len(data))
        await self._begin(more)
        self.n_bytes = 0 if self.method == "HEAD" else len(data)
        await self._send({"type": "http.response.body", "body": b"" if self.method == "HEAD" else data})

    async def _download(self, found: Stream, media: str) -> None:
        headers = self._call_headers | found.headers
        try:
            self.status, found = sent_form(found, media, self.method, self.headers, headers)
            await self._stream(self._app.pieces(found), headers)
        finally:
            if found.file is not None:  # of which nothing may have been read
                found.file.close()

    async def _stream(self, pieces: AsyncIterator[bytes], headers: Mapping[str, str]) -> None:
        """Send an answer piece by piece; where the client goes away, the work stops."""
        self.status = self.status or HTTPStatus.OK
        gone = asyncio.ensure_future(self._gone())
        try:
            await self._begin(dict(headers) | {"content-type": self.operation.media if self.operation else JSON})
            if self.method != "HEAD":
                async for piece in until(pieces, gone):
                    self.n_bytes += len(piece)
                    await self._send({"type": "http.response.body", "body": piece, "more_body": True})
            await self._send({"type": "http.response.body", "body": b""})
        finally:
            gone.cancel()
            close = getattr(pieces, "aclose", None)
            if close is not None:
                await close()

    async def _gone(self) -> None:
        while (await self._receive())["type"] != "http.disconnect":
            pass

    async def _begin(self, headers: Mapping[str, str]) -> None:
        self._begun = True
        await self._send(head(self.status, headers, self._call.cookies if self._call else ()))


class _Gone(Exception):  # noqa: N818 - nobody is left to answer
    """The client went away."""
