"""One HTTP/1.1 connection that carries one request at a time, and stays open for the next."""

from __future__ import annotations

import asyncio
import errno
import re
import socket
import ssl
import time
import zlib
from collections.abc import Callable

import httptools
import msgspec

from benchbook.ask.bytes_in_flight import SHORT, bytes_in_flight
from benchbook.record.facts import FailureCause

# Faults of this machine: no more files, memory, disk or ports.
_LOCAL = frozenset({
    errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.ENOBUFS, errno.ENOSPC, errno.EDQUOT, errno.EADDRNOTAVAIL,
})  # fmt: skip
_CUT = (ssl.SSLEOFError, ssl.SSLZeroReturnError, ssl.SSLSyscallError)  # the connection was lost, TLS or not


def is_local(error: BaseException) -> bool:
    """True if this machine is at fault, not the server or the way to it."""
    if isinstance(error, MemoryError):
        return True
    if isinstance(error, RuntimeError):  # no thread to look up a name
        return "can't start new thread" in str(error)
    return (
        isinstance(error, OSError) and not isinstance(error, ssl.SSLError | socket.gaierror) and error.errno in _LOCAL
    )


def cause_of_error(error: BaseException) -> FailureCause:
    """The cause of an error that came instead of a reply."""
    if is_local(error):
        return "local"
    if isinstance(error, socket.gaierror):
        return "local" if error.errno == socket.EAI_MEMORY else "dns"
    if isinstance(error, ssl.SSLError) and not isinstance(error, _CUT):
        return "tls"
    return "connection"


# Takes a piece of a body as it comes. True: the answer is whole, though the body may not have ended.
BodyHandler = Callable[[bytes], bool]

_STATUS = re.compile(rb"HTTP/1\.\d (\d{3})\b")
MAX_HEAD = 1 << 16  # bytes between two pieces of a body: status lines, headers, chunk sizes, trailers
_MAX_REFUSAL = 1 << 20  # bytes of the body beside a status from 400: more are not read
_MAX_SURPLUS = 1 << 10  # bytes of a body after the end of the answer: line ends, comments


class HttpError(Exception):
    """An exchange failed: the connection was lost, or the reply was cut off or is not HTTP."""

    def __init__(self, message: str, *, cause: FailureCause = "connection") -> None:
        super().__init__(message)
        self.cause = cause


class BodyTooLargeError(HttpError):
    """The reply is larger than allowed; whatever is over the limit is not kept."""

    def __init__(self, message: str, *, cause: FailureCause = "broken_reply") -> None:
        super().__init__(message, cause=cause)


class Response(msgspec.Struct):
    """A whole reply. Header names are in lower case; a repeated header has its last value. `body` is empty if its
    pieces were handed on as they came; beside a status from 400 it may be cut. For `held_back_s` we did not read."""

    status: int
    headers: dict[str, str]
    body: bytes
    held_back_s: float = 0.0


class Connection(asyncio.Protocol):
    """A connection whose replies httptools (llhttp) parses, without a task or stream object for each."""

    def __init__(self) -> None:
        self._parser = httptools.HttpResponseParser(self)
        self._transport: asyncio.Transport | None = None
        self._waiter: asyncio.Future[Response] | None = None
        self._tunnel: asyncio.Future[int] | None = None
        self._on_body: BodyHandler | None = None
        self._tunnel_head = b""
        self._max_body = 0
        self._reset()
        self.usable = True  # another request may follow
        self.on_end: Callable[[Connection], None] | None = None  # called when a body ends after its reply was whole

    def _reset(self) -> None:
        self._headers: dict[str, str] = {}
        self._pieces: list[bytes] = []
        self._size = 0
        self._bytes_without_body = 0
        self._in_head = True
        self._encoded = False
        self._surplus = 0
        self._whole = False  # by what the handler says, though the body may not have ended
        self._can_end = False  # the body's own end can be seen, so that the connection may be used again
        self._ended = False
        self._paused_at: float | None = None
        self._held_back_s = 0.0

    @property
    def ending(self) -> bool:
        """True if the reply was whole before the end of its body, which is still to come."""
        return self._whole and self._can_end and not self._ended

    # ── for the client ───────────────────────────────────────────────────────────────────────────────────

    async def exchange(self, request: bytes, max_body: int, on_body: BodyHandler | None = None) -> Response:
        """Send `request` and return the whole reply; `on_body` gets each piece of a 200's body as it comes.

        If that returns True, the reply is whole at once. The connection is then not usable until its body has ended,
        upon which `on_end` is called.

        Cancelling the task breaks the connection, so that the server does not go on working for nobody.
        Raises: HttpError.
        """
        transport = self._transport
        if transport is None or not self.usable:
            raise HttpError("the connection is closed")
        self._reset()
        self._max_body = max_body
        self._on_body = on_body
        self._waiter = asyncio.get_running_loop().create_future()
        transport.write(request)
        try:
            return await self._waiter
        except BaseException:
            self.abort()
            raise
        finally:
            self._waiter = None
            if self._size > SHORT:
                bytes_in_flight().has_read(self)

    @property
    def was_held_back(self) -> bool:
        """True if the reply under way was not read for a while, for want of memory."""
        return self._held_back_s > 0 or self._paused_at is not None

    def refusal(self) -> Response | None:
        """The reply so far, if its status is one from 400: that stands, whatever becomes of the body."""
        if self._in_head or (status := self._parser.get_status_code()) < 400:
            return None
        return Response(status, self._headers, b"" if self._encoded else b"".join(self._pieces))

    async def connect_through(self, request: bytes) -> int:
        """Send a CONNECT to a proxy and return its status. After a 200 the transport leads to the other side.

        Raises: HttpError, after breaking the connection, as cancelling the task does.
        """
        assert self._transport is not None  # noqa: S101 - the event loop made the connection
        self._tunnel = asyncio.get_running_loop().create_future()
        self._transport.write(request)
        try:
            return await self._tunnel
        except BaseException:
            self.abort()
            raise
        finally:
            self._tunnel = None

    def abort(self) -> None:
        """Break the connection at once, without waiting for anything under way."""
        self.usable = False
        if self._transport is not None:
            self._transport.abort()

    # ── for the bytes in flight ──────────────────────────────────────────────────────────────────────────

    def pause(self) -> None:
        if self._paused_at is None and self._transport is not None and not self._transport.is_closing():
            self._transport.pause_reading()
            self._paused_at = time.monotonic()

    def go_on(self) -> None:
        if self._paused_at is not None and self._transport is not None:
            self._held_back_s += time.monotonic() - self._paused_at
            self._paused_at = None
            if not self._transport.is_closing():
                self._transport.resume_reading()

    # ── from the event loop ──────────────────────────────────────────────────────────────────────────────

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport  # type: ignore[assignment]

    def data_received(self, data: bytes) -> None:
        if self._tunnel is not None and not self._tunnel.done():
            self._read_tunnel(self._tunnel, data)
            return
        was_ending = self.ending
        if (self._waiter is None or self._waiter.done()) and not was_ending:
            self.abort()  # bytes that nobody asked for: later replies could not be told apart
            return
        size = self._size
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserCallbackError as error:
            self._fail(error.__context__ if isinstance(error.__context__, Exception) else HttpError(str(error)))
        except httptools.HttpParserError as error:
            self._fail(HttpError(f"not an HTTP reply ({error})", cause="broken_reply"))
        except httptools.HttpParserUpgrade:
            self._fail(HttpError("the server changes to a protocol that was not asked for", cause="broken_reply"))
        if self._whole:
            self._after_the_whole(was_ending=was_ending)
        if self._size > size:
            self._bytes_without_body = 0
            return
        self._bytes_without_body += len(data)
        if self._bytes_without_body > MAX_HEAD:
            self._fail(BodyTooLargeError(f"the reply's head is larger than {MAX_HEAD} bytes"))

    def _after_the_whole(self, *, was_ending: bool) -> None:
        """Hand over a reply that is whole at once, and watch for the end of its body."""
        if not self._ended and self._waiter is not None and not self._waiter.done():
            self._can_end = self._parser.should_keep_alive()
            self.usable = False
            self._finish()
        if was_ending:
            self._tell_the_end()

    def _tell_the_end(self) -> None:
        if self.on_end is not None and not self.ending:
            told, self.on_end = self.on_end, None
            told(self)

    def _read_tunnel(self, tunnel: asyncio.Future[int], data: bytes) -> None:
        """Read the reply to a CONNECT, a head alone: httptools would take whatever follows for its body."""
        self._tunnel_head += data
        if b"\r\n\r\n" in self._tunnel_head:
            status = _STATUS.match(self._tunnel_head)
            tunnel.set_result(int(status[1]) if status else 0)
        elif len(self._tunnel_head) > MAX_HEAD:
            tunnel.set_exception(HttpError(f"the proxy: its head is larger than {MAX_HEAD} bytes", cause="proxy"))

    def eof_received(self) -> None:
        # A reply with neither a length nor chunks ends with its connection.
        if not self._in_head and "content-length" not in self._headers and "transfer-encoding" not in self._headers:
            self._finish()
        self._lost("the server closed the connection")

    def connection_lost(self, error: Exception | None) -> None:
        why = str(error) if error else "the server closed the connection"
        self._lost(why, cause_of_error(error) if error else "connection")

    def _lost(self, why: str, cause: FailureCause = "connection") -> None:
        self.usable = False
        if self._tunnel is not None and not self._tunnel.done():
            self._tunnel.set_exception(HttpError(f"the proxy: {why}", cause="proxy"))
        self._fail(HttpError(f"{why} before the reply was whole", cause=cause))
        self._tell_the_end()

    def _fail(self, error: Exception) -> None:
        self.usable = False
        self._can_end = False
        if self._waiter is None or self._waiter.done():
            return
        refusal = self.refusal()
        if refusal is None:
            self._waiter.set_exception(error)
        else:
            self._waiter.set_result(refusal)

    def _finish(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            status = self._parser.get_status_code()
            self._waiter.set_result(Response(status, self._headers, b"".join(self._pieces), self._held_back_s))

    # ── from the parser ──────────────────────────────────────────────────────────────────────────────────

    def on_message_begin(self) -> None:
        if self._waiter is None or self._waiter.done():
            raise HttpError("a second reply to one request")

    def on_header(self, name: bytes, value: bytes) -> None:
        self._headers[name.decode("latin-1").lower()] = value.decode("latin-1")

    def on_headers_complete(self) -> None:
        self._in_head = False
        self._encoded = self._headers.get("content-encoding", "identity").lower() != "identity"
        if self._parser.get_status_code() >= 400:
            self._max_body = min(self._max_body, _MAX_REFUSAL)
            return
        length = self._headers.get("content-length", "")
        if length.isdigit() and int(length) > self._max_body:
            raise BodyTooLargeError(f"the reply is larger than {self._max_body} bytes")

    def on_body(self, piece: bytes) -> None:
        self._size += len(piece)
        if self._size > self._max_body:
            self._pieces.append(piece[: self._max_body - self._size])  # of a refusal, what there is room for
            raise BodyTooLargeError(f"the reply is larger than {self._max_body} bytes")
        if self._size > SHORT:
            bytes_in_flight().read(self, len(piece))
        if self._whole:
            self._surplus += len(piece)
            if self._surplus > _MAX_SURPLUS:
                raise HttpError("the server goes on after the end of its reply")
        elif self._on_body is not None and not self._encoded and self._parser.get_status_code() == 200:
            self._whole = self._on_body(piece)
        else:
            self._pieces.append(piece)

    def on_message_complete(self) -> None:
        if self._parser.get_status_code() < 200:  # an interim reply; the real one follows
            self._headers = {}
            self._in_head = True
            return
        self.usable = (self.usable or self.ending) and self._parser.should_keep_alive()
        self._ended = True
        self._finish()


_GZIP, _ZLIB, _RAW = 31, 15, -15  # zlib's window bits for each


class EncodingError(HttpError):
    """A `Content-Encoding` that can't be read. Asking again would not help."""


def decoded(body: bytes, encoding: str, limit: int) -> bytes:
    """`body` decompressed, at most `limit` bytes.

    Raises: EncodingError; BodyTooLargeError; HttpError if it is not in the encoding of its header, or is cut off.
    """
    for name in reversed([name.strip().lower() for name in encoding.split(",")]):
        match name:
            case "" | "identity":
                pass
            case "gzip" | "x-gzip":
                body = _inflated(body, _GZIP, name, limit)
            case "deflate":
                # Some servers send it without the zlib header that the standard asks for.
                body = _inflated(body, _ZLIB if body[:1] and body[0] & 15 == 8 else _RAW, name, limit)
            case _:
                raise EncodingError(f"content-encoding {name[:40]} is not supported", cause="broken_reply")
    return body


def _inflated(body: bytes, window_bits: int, name: str, limit: int) -> bytes:
    pieces: list[bytes] = []
    size = 0
    while body:
        stream = zlib.decompressobj(window_bits)
        try:
            piece = stream.decompress(body, limit + 1 - size)
        except zlib.error as error:
            raise HttpError(f"the body is no {name} ({error})", cause="broken_reply") from None
        size += len(piece)
        if size > limit:
            raise BodyTooLargeError(f"the reply is larger than {limit} bytes", cause="broken_reply")
        if not stream.eof:
            raise HttpError(f"the {name} body is cut", cause="broken_reply")
        pieces.append(piece)
        body = stream.unused_data if window_bits == _GZIP else b""  # gzip may have several members
    return b"".join(pieces)
