"""Connections: how many are open, how long each may wait, and which one gives way to a newer one (decision 0035).

uvicorn's protocol bounds neither a head nor the time that a client takes, and refuses whoever comes once too many are
open. Here a connection of which nothing is asked yet gives way, the oldest first: whoever asks is heard, however many
say nothing.
"""

from __future__ import annotations

import asyncio
import ipaddress
import socket
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from http import HTTPStatus
from itertools import chain
from typing import Any

import httptools
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

from benchbook.system.limits import open_files_limit

MOST_CONNECTIONS = 2_000  # each costs some 10 KB; 260 readers, 200 listeners and a thousand who wait are 1,460
_OTHER_FILES = 100  # open files of the catalog, records and libraries
_FEWEST = 50  # where the system allows next to no open files
_SHARE_OF_ONE = 4  # one address may let a quarter of all connections wait; a proxy needs fewer

_FRESH_S = 1.0  # of many that come at once, the request may be there already and not read yet
_HEAD_S = 10.0  # from the connection, or from a request's first byte, to the end of its head
_BETWEEN_S = 15  # from an answer to the next request
_REST_S = 10.0  # for the rest of a body that nobody wanted: the client may be reading the answer only after it
_LAST_S = 2.0  # after a refusal, in which what was on its way is dropped: a reset would take the answer along
_PROGRESS_S, _PROGRESS_BYTES = 30.0, 64 << 10  # a client that reads an answer more slowly than this is left
_UNACKNOWLEDGED_MS = 60_000  # a client whose machine is gone, or that never reads
_MOST_UNSENT = 256 << 20  # bytes of answers that wait for slow readers, in sum

_MOST_HEAD = 64 << 10  # bytes of the request line and all headers
_MOST_HEADERS = 100
_MOST_AHEAD = 8  # requests that are sent before the answer to an earlier one
_MOST_WITHOUT_BODY = 64 << 10  # bytes of chunk extensions or trailers, one after another
_FREE_CHUNKS, _LEAST_CHUNK = 1_000, 16  # beyond so many chunks, the mean of their bytes: each costs time


# The phases of a connection: it waits for a request, its head, or the end of a body that nobody reads; a body comes; an
# answer is made or sent. Numbers, since each request passes through them, and an Enum is hashed in Python.
_WAITING, _RECEIVING, _ANSWERING = range(3)


class Connections:
    """The connections that are open. Used on the loop alone."""

    def __init__(self, most: int | None = None, most_of_one: int | None = None) -> None:
        self.most = _allowed() if most is None else most
        self._most_of_one = max(1, self.most // _SHARE_OF_ONE) if most_of_one is None else most_of_one
        self._open: dict[HeldConnection, int] = {}  # by phase; the oldest first, here and in all that follow
        self._in: tuple[dict[HeldConnection, None], ...] = ({}, {}, {})
        self._waiting_of: defaultdict[str, dict[HeldConnection, None]] = defaultdict(dict)
        self.ended: Counter[str] = Counter()  # by reason, those that the server ended
        self.on_refusal: Callable[[HTTPStatus], None] = lambda _: None  # of what never became a request

    def __len__(self) -> int:
        return len(self._open)

    def opened(self, new: HeldConnection) -> None:
        """Hold a new connection; where that is one too many, another gives way, or, if all are being answered, it."""
        self.is_in(new, _WAITING)
        mine = self._waiting_of[new.address]
        oldest = next(iter(mine))
        if len(mine) > self._most_of_one and oldest.since <= new.since - _FRESH_S:
            self._end(oldest, "too many of one address")
        elif len(self._open) > self.most:
            self._end(next(self._giving_way(new), new), "too many")

    def _giving_way(self, new: HeldConnection) -> Iterator[HeldConnection]:
        quiet = (one for one in self._in[_WAITING] if one is not new and not one.n_unsent)
        unread = (one for one in self._open if one.n_unsent)
        return chain(quiet, self._in[_RECEIVING], unread)

    def is_in(self, one: HeldConnection, phase: int) -> None:
        """Note the phase that a connection is in from now on."""
        if self._open.get(one) != phase:
            self.closed(one)
            self._open[one] = phase
            self._in[phase][one] = None
            if phase == _WAITING:
                self._waiting_of[one.address][one] = None

    def closed(self, one: HeldConnection) -> None:
        """Forget a connection."""
        phase = self._open.pop(one, None)
        if phase is not None:
            del self._in[phase][one]
        if phase == _WAITING:
            others = self._waiting_of[one.address]
            del others[one]
            if not others:
                del self._waiting_of[one.address]

    def _end(self, one: HeldConnection, why: str) -> None:
        self.ended[why] += 1
        self.closed(one)
        one.transport.abort()

    def sweep(self, now: float) -> None:
        """End whatever takes too long; called every second, with the loop's time."""
        unsent: dict[HeldConnection, int] = {}
        for one in list(self._open):
            n_unsent = one.n_unsent
            if not one.progresses(now, n_unsent):
                self._end(one, "an answer that is not read")
            elif n_unsent:
                unsent[one] = n_unsent
            elif self._open[one] == _WAITING and now >= one.deadline:
                one.out_of_time()
        too_many = sum(unsent.values()) - _MOST_UNSENT
        for one in sorted(unsent, key=unsent.__getitem__, reverse=True):
            if too_many <= 0:
                break
            too_many -= unsent[one]
            self._end(one, "too many bytes that are not read")


def _allowed() -> int:
    """As many connections as the limit of open files leaves room for."""
    most = open_files_limit()
    return MOST_CONNECTIONS if most is None else max(_FEWEST, min(MOST_CONNECTIONS, most - _OTHER_FILES))


def leave_the_unreachable(listening: socket.socket) -> None:
    """Let the system end connections whose other side takes nothing any more; Linux alone has such a limit."""
    option = getattr(socket, "TCP_USER_TIMEOUT", None)
    if option is not None:
        listening.setsockopt(socket.IPPROTO_TCP, option, _UNACKNOWLEDGED_MS)  # all that it accepts have it too


def _sender(peer: Any) -> str:
    """The address that connections are counted by: of IPv6 the network of /64, which one customer has as a whole."""
    host = str(peer[0]) if isinstance(peer, tuple) and peer else ""
    if ":" not in host or host.startswith("::ffff:"):  # an IPv4 address, also as IPv6 writes it
        return host
    return str(ipaddress.ip_network((int(ipaddress.IPv6Address(host.partition("%")[0])), 64), strict=False))


class _RefusedError(Exception):
    def __init__(self, status: HTTPStatus) -> None:
        super().__init__(status)
        self.status = status


class HeldConnection(HttpToolsProtocol):
    """One connection: uvicorn's, with bounds on what comes in, and known to all others by `held`."""

    def __init__(self, *, held: Connections, **more: Any) -> None:
        super().__init__(**more)
        self.timeout_keep_alive = _BETWEEN_S  # uvicorn's own timer, which is shorter by default
        self._held = held
        self.address = ""
        self.since = self.deadline = 0.0  # loop's time: since when it waits, and until when it may
        self._answering: RequestResponseCycle | None = None  # `cycle` is the newest request, this one the oldest
        self._in_head = self._more_body = False
        self._n_head = self._n_head_read = self._n_headers = self._n_chunks = self._n_body = 0
        self._n_without_body = 0
        self._reads = True  # False: whatever comes is dropped
        self._unsent_at: tuple[float, int] | None = None

    # ── its beginning and end ────────────────────────────────────────────────────────────────────────────────

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.address = _sender(transport.get_extra_info("peername"))
        self.since = self.loop.time()
        self.deadline = self.since + _HEAD_S
        self._held.opened(self)

    def connection_lost(self, exc: Exception | None) -> None:
        self._held.closed(self)
        if self._answering is not None:  # uvicorn tells the newest request alone
            self._answering.disconnected = True
            self._answering.message_event.set()
        super().connection_lost(exc)

    def out_of_time(self) -> None:
        """End a connection that waited too long; one that began a request is told so first."""
        if self._in_head and self._reads:
            self._refuse(HTTPStatus.REQUEST_TIMEOUT)
        else:
            self._held.ended["nothing asked in time"] += self._reads
            self.transport.abort()

    @property
    def n_unsent(self) -> int:
        """The bytes that the client has not taken yet."""
        return self.transport.get_write_buffer_size()

    def progresses(self, now: float, n_unsent: int) -> bool:
        """False where the client took too little in too long a time."""
        answering = self._answering is not None and not self._answering.response_complete
        if not n_unsent or (answering and not self.flow.write_paused):  # more is written meanwhile, and it is little
            self._unsent_at = None
        elif self._unsent_at is None or n_unsent <= self._unsent_at[1] - _PROGRESS_BYTES:
            self._unsent_at = now, n_unsent
        return self._unsent_at is None or now - self._unsent_at[0] < _PROGRESS_S

    def resume_writing(self) -> None:
        self._unsent_at = None
        super().resume_writing()

    # ── what comes in ────────────────────────────────────────────────────────────────────────────────────────

    def data_received(self, data: bytes) -> None:
        if not self._reads:
            return
        self._unset_keepalive_if_required()
        in_head, in_body = self._in_head, self._more_body
        self._n_without_body += len(data)
        try:
            self.parser.feed_data(data)
        except httptools.HttpParserUpgrade:  # no other protocol is spoken: this is answered, what follows is not HTTP
            self._reads = self.cycle.keep_alive = False
        except httptools.HttpParserError as error:
            found = error.__context__
            self._refuse(found.status if isinstance(found, _RefusedError) else HTTPStatus.BAD_REQUEST)
        else:
            # httptools joins a header that comes in pieces, and tells of it at its end: all of this read was head.
            self._n_head_read += len(data) if in_head and self._in_head else 0
            if self._n_head_read > _MOST_HEAD:
                self._refuse(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE)
            elif in_body and self._more_body and self._n_without_body > _MOST_WITHOUT_BODY:
                self._refuse(HTTPStatus.BAD_REQUEST)
        self._note_phase()

    def on_message_begin(self) -> None:
        if len(self.pipeline) >= _MOST_AHEAD:
            raise _RefusedError(HTTPStatus.TOO_MANY_REQUESTS)
        self._in_head = True
        self._n_head = self._n_head_read = self._n_headers = self._n_chunks = self._n_body = 0
        self.deadline = self.loop.time() + _HEAD_S
        super().on_message_begin()

    def on_url(self, url: bytes) -> None:
        self._n_head += len(url)
        if self._n_head > _MOST_HEAD:
            raise _RefusedError(HTTPStatus.REQUEST_URI_TOO_LONG)
        super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        self._n_headers += 1
        self._n_head += len(name) + len(value) + len(": \r\n")
        if self._n_headers > _MOST_HEADERS or self._n_head > _MOST_HEAD:
            raise _RefusedError(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE)
        if self._in_head:  # else a trailer, which nobody here reads
            super().on_header(name, value)

    def on_headers_complete(self) -> None:
        super().on_headers_complete()
        self._in_head, self._more_body, self._n_without_body = False, True, 0
        if not self.pipeline:
            self._answering = self.cycle

    def on_chunk_header(self) -> None:
        if self._n_chunks > max(_FREE_CHUNKS, self._n_body // _LEAST_CHUNK):  # those before, with their bytes
            raise _RefusedError(HTTPStatus.BAD_REQUEST)
        self._n_chunks += 1

    def on_body(self, body: bytes) -> None:
        self._n_without_body = 0
        self._n_body += len(body)
        super().on_body(body)

    def on_message_complete(self) -> None:
        super().on_message_complete()
        self._more_body = False
        if self._answering is None:
            self.deadline = self.loop.time() + _BETWEEN_S

    # ── what goes out ────────────────────────────────────────────────────────────────────────────────────────

    def on_response_complete(self) -> None:
        self._answering = self.pipeline[-1][0] if self.pipeline else None
        self._unsent_at = None
        super().on_response_complete()
        if self._answering is None:
            self.since = self.loop.time()
            self.deadline = self.since + (_REST_S if self._more_body else _BETWEEN_S)
            if not self._reads:
                self.transport.close()
        self._note_phase()

    def _note_phase(self) -> None:
        if self.transport.is_closing():
            return
        if self._answering is None or self._answering.response_complete:
            self._held.is_in(self, _WAITING)
        else:
            self._held.is_in(self, _RECEIVING if self._more_body else _ANSWERING)

    def _refuse(self, status: HTTPStatus) -> None:
        """Read no more. Where no answer is under way, say why, and close once the client had time to read that."""
        self._reads = False
        self._held.ended[f"refused {status}"] += 1
        self._held.on_refusal(status)
        answering = self._answering
        if answering is not None and answering.response_started:  # it is finished, and nothing after it
            answering.keep_alive = False
            return
        if answering is not None:
            answering.disconnected = True
            answering.message_event.set()
            self._answering = None
            self.pipeline.clear()
        text = status.phrase.encode()
        self.transport.write(
            b"HTTP/1.1 %d %s\r\ncontent-type: text/plain; charset=utf-8\r\ncontent-length: %d\r\nconnection: close"
            b"\r\n\r\n%s" % (status, text, len(text), text)
        )
        if self.transport.can_write_eof():
            self.transport.write_eof()
        self.deadline = self.loop.time() + _LAST_S
