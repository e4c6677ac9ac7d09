"""Our HTTP client against servers that do what servers do (docs/decisions/0005)."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import gc
import shutil
import socket
import ssl
import struct
import subprocess
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from itertools import cycle
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import uvloop

from benchbook.ask.providers import http_client
from benchbook.ask.providers.http_client import HttpClient
from benchbook.ask.providers.http_connection import MAX_HEAD, BodyHandler, BodyTooLargeError, HttpError, Response
from benchbook.errors import ConfigError

Serve = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]
Run = Callable[[Coroutine[Any, Any, Any]], Any]

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nX-One: 1\r\n\r\nhello"
CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n2;x=y\r\nlo\r\n0\r\nTrailer: 1\r\n\r\n"
TO_THE_END = b"HTTP/1.1 200 OK\r\n\r\nhello"
CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"
LIMITS_S = (0.05, 0.5, 5.0)  # the shortest within which the machine comes as far as the test means
HANGS_S = 60.0  # only ends what would never end: far more than a busy machine needs
HINTS = b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n"


@pytest.fixture(params=[pytest.param(asyncio.run, id="asyncio"), pytest.param(uvloop.run, id="uvloop")])
def run(request: pytest.FixtureRequest) -> Run:
    which: Run = request.param
    return which


@pytest.fixture(autouse=True)
def no_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


# ── servers ──────────────────────────────────────────────────────────────────────────────────────────────


@contextlib.asynccontextmanager
async def serving(serve: Serve, *, tls: ssl.SSLContext | None = None, host: str = "127.0.0.1") -> AsyncIterator[int]:
    """A server that does `serve` with each connection; yields its port."""

    async def guarded(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await serve(reader, writer)
        except (asyncio.IncompleteReadError, ConnectionError, asyncio.CancelledError, ssl.SSLError):
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(guarded, host, 0, ssl=tls, backlog=256)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()


async def read_request(reader: asyncio.StreamReader) -> tuple[bytes, bytes]:
    head = await reader.readuntil(b"\r\n\r\n")
    length = int(head.lower().split(b"content-length: ")[1].split(b"\r\n")[0])
    return head, await reader.readexactly(length)


def sends(*pieces: bytes, close: bool = True) -> Serve:
    """Answers every request with these pieces, each in a write of its own."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while True:
            await read_request(reader)
            for piece in pieces:
                writer.write(piece)
                await writer.drain()
                await asyncio.sleep(0)
            if close:
                return

    return serve


def reset(writer: asyncio.StreamWriter) -> None:
    """End a connection with a reset, as a crashed server does, and not with an end of the stream."""
    writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()


class Silent:
    """A server that reads a request, sends `first` and then nothing more.

    `begun` once it has sent that, `gone` once its client has left.
    """

    def __init__(self, first: bytes = b"", *, greets: bool = False) -> None:
        self.first = first
        self.greets = greets  # does not wait for a request
        self.begun = asyncio.Event()
        self.gone = asyncio.Event()

    async def __call__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if not self.greets:
            await read_request(reader)
        writer.write(self.first)
        self.begun.set()
        with contextlib.suppress(ConnectionError):
            while await reader.read(65536):
                pass
        self.gone.set()

    async def sees_the_client_leave(self) -> None:
        await asyncio.wait_for(self.gone.wait(), HANGS_S)


@contextlib.asynccontextmanager
async def client(
    port: int, *, timeout_s: float = HANGS_S, max_body: int = 1 << 20, scheme: str = "http", host: str = "127.0.0.1"
) -> AsyncIterator[HttpClient]:
    one = HttpClient(f"{scheme}://{host}:{port}/v1/x", {"A": "b"}, timeout_s=timeout_s, max_body=max_body)
    try:
        yield one
    finally:
        await one.close()


async def post_to(
    serve: Serve, body: bytes = b"body", *, tls: ssl.SSLContext | None = None, **options: Any
) -> Response:
    """One exchange with a server of its own."""
    async with serving(serve, tls=tls) as port, client(port, **options) as one:
        return await one.post(body)


# ── whole replies ────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "pieces",
    [
        pytest.param([OK], id="content-length"),
        pytest.param([bytes([byte]) for byte in OK], id="content-length-a-byte-at-a-time"),
        pytest.param([CHUNKED], id="chunked"),
        pytest.param([bytes([byte]) for byte in CHUNKED], id="chunked-a-byte-at-a-time"),
        pytest.param([TO_THE_END[:-2], TO_THE_END[-2:]], id="ends-with-the-connection"),
        pytest.param([b"HTTP/1.0 200 OK\r\n\r\nhello"], id="http-1.0"),
        pytest.param([CONTINUE, OK], id="interim-reply-first"),
        pytest.param([HINTS + OK], id="early-hints-in-the-same-packet"),
        pytest.param([CONTINUE + HINTS, HINTS, TO_THE_END], id="interim-replies-before-one-without-a-length"),
    ],
)
def test_a_whole_reply_is_read(run: Run, pieces: list[bytes]) -> None:
    response = run(post_to(sends(*pieces)))
    assert (response.status, response.body) == (200, b"hello")


@pytest.mark.parametrize("reply", [OK, CHUNKED], ids=["content-length", "chunked"])
def test_a_reply_may_be_split_anywhere(run: Run, reply: bytes) -> None:
    async def main() -> None:
        for split in range(1, len(reply)):
            assert (await post_to(sends(reply[:split], reply[split:]))).body == b"hello", split

    run(main())


@pytest.mark.parametrize(
    ("reply", "status"),
    [
        (b"HTTP/1.1 204 No Content\r\n\r\n", 204),
        (b"HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n", 503),
        (b"HTTP/1.1 401 Unauthorized\r\nConnection: close\r\n\r\n", 401),  # its status counts: it stops a run
        (b"HTTP/1.1 502\r\n\r\n", 502),
    ],
    ids=["204", "length-0", "ends-with-the-connection", "no-reason"],
)
def test_a_reply_without_a_body_has_a_status(run: Run, reply: bytes, status: int) -> None:
    response = run(post_to(sends(reply)))
    assert (response.status, response.body) == (status, b"")


def test_header_names_come_in_lower_case_and_the_last_of_a_name_counts(run: Run) -> None:
    reply = b"HTTP/1.1 429 X\r\nRETRY-After: 1\r\nContent-Length: 0\r\nretry-after: 2\r\nX-Latin: \xe9\r\n\r\n"
    headers = run(post_to(sends(reply))).headers
    assert (headers["retry-after"], headers["x-latin"]) == ("2", "é")


def test_headers_of_an_interim_reply_are_not_the_replys(run: Run) -> None:
    assert "link" not in run(post_to(sends(HINTS + OK))).headers


def test_a_request_is_one_post_with_its_headers(run: Run) -> None:
    seen = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        seen.append(await read_request(reader))
        writer.write(OK)

    async def main() -> int:
        async with serving(serve) as port, client(port) as one:
            await one.post(b"\x00{}\xff")
        return port

    port = run(main())
    assert seen == [
        (b"POST /v1/x HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nA: b\r\nContent-Length: 4\r\n\r\n" % port, b"\x00{}\xff")
    ]


# ── broken replies ───────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("how", ["ended", "reset"])
@pytest.mark.parametrize("reply", [OK, CHUNKED], ids=["content-length", "chunked"])
def test_a_reply_that_is_cut_anywhere_is_never_an_answer(run: Run, reply: bytes, how: str) -> None:
    async def main() -> None:
        cuts = iter(range(len(reply)))

        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await read_request(reader)
            writer.write(reply[: next(cuts)])
            await writer.drain()
            if how == "reset":
                reset(writer)

        async with serving(serve) as port, client(port) as one:
            for _ in range(len(reply)):
                with pytest.raises(HttpError, match="before the reply was whole"):
                    await one.post(b"x")

    run(main())


def test_a_reply_that_lasts_to_the_end_is_not_whole_after_a_reset(run: Run) -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read_request(reader)
        writer.write(TO_THE_END)
        await writer.drain()
        await asyncio.sleep(0.01)  # so that the client has read it: a reset drops what was not
        reset(writer)

    with pytest.raises(HttpError):
        run(post_to(serve))


@pytest.mark.parametrize(
    "reply",
    [
        pytest.param(b"garbage\r\n\r\n", id="garbage"),
        pytest.param(b"\0" * 100, id="zeros"),
        pytest.param(b"\x16\x03\x01\x02\x00", id="tls-on-a-plain-port"),
        pytest.param(b"SSH-2.0-OpenSSH_9.2\r\n", id="another-protocol"),
        pytest.param(b"HTTP/1.1 abc\r\n\r\n", id="status"),
        pytest.param(b"HTTP/9.9 200 OK\r\nContent-Length: 0\r\n\r\n", id="version"),
        pytest.param(b"HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n", id="length"),
        pytest.param(b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", id="negative-length"),
        pytest.param(b"HTTP/1.1 200 OK\r\nContent-Length: " + b"9" * 5000 + b"\r\n\r\n", id="length-of-5000-digits"),
        pytest.param(b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nxx", id="two-lengths"),
        pytest.param(
            b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
            id="a-length-and-chunks",
        ),
        pytest.param(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", id="chunk-size"),
        pytest.param(b"HTTP/1.1 101 Switching\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\nxx", id="upgrade"),
    ],
)
def test_what_is_no_reply_is_a_fault(run: Run, caplog: pytest.LogCaptureFixture, reply: bytes) -> None:
    with pytest.raises(HttpError):
        run(post_to(sends(reply)))
    assert not caplog.records  # as an exception inside the event loop would be


async def endlessly(writer: asyncio.StreamWriter, start: bytes, again: bytes) -> None:
    writer.write(start)
    while True:
        writer.write(again)
        await writer.drain()
        await asyncio.sleep(0)


HEAD = b"HTTP/1.1 200 OK\r\n"
KIB = b"x" * 1024
ENDLESS = [
    pytest.param(HEAD + b"Content-Length: 101\r\n\r\n", b"", id="a-length-that-is-too-large"),
    pytest.param(HEAD + b"\r\n", KIB, id="a-body-without-a-length"),
    pytest.param(HEAD + b"Transfer-Encoding: chunked\r\n\r\n", b"400\r\n" + KIB + b"\r\n", id="chunks"),
    pytest.param(HEAD, b"X: y\r\n" * 100, id="headers"),
    pytest.param(HEAD + b"X: ", KIB, id="one-header"),
    pytest.param(b"HTTP/1.1 200 ", KIB, id="a-status-line"),
    pytest.param(b"", HINTS * 10, id="interim-replies"),
    pytest.param(HEAD + b"Transfer-Encoding: chunked\r\n\r\n2;x=", KIB, id="a-chunk-extension"),
    pytest.param(HEAD + b"Transfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n", b"X: y\r\n" * 100, id="trailers"),
    pytest.param(HEAD + b"Transfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\nX: ", KIB, id="one-trailer"),
]


@pytest.mark.parametrize(("start", "again"), ENDLESS)
def test_what_has_no_end_is_refused_and_the_server_sees_it(run: Run, start: bytes, again: bytes) -> None:
    async def main() -> None:
        gone = asyncio.Event()

        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await read_request(reader)
            try:
                await (endlessly(writer, start, again) if again else sent_and_read(start, reader, writer))
            except ConnectionError:
                gone.set()

        async def sent_and_read(data: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            writer.write(data)
            await reader.read()
            gone.set()

        async with serving(serve) as port, client(port, max_body=100) as one:
            with pytest.raises(BodyTooLargeError):
                await one.post(b"x")
            await asyncio.wait_for(gone.wait(), HANGS_S)

    run(main())


ERROR = b"HTTP/1.1 503 X\r\n"
REFUSALS = [
    pytest.param(ERROR + b"Content-Length: 17000000\r\n\r\nwhy", True, b"why", id="a-length-that-is-too-large"),
    pytest.param(ERROR + b"\r\nwhy" + KIB, True, b"why" + KIB[:97], id="a-body-without-an-end"),
    pytest.param(ERROR + b"Content-Length: 50\r\n\r\nwhy", False, b"why", id="cut"),
    pytest.param(ERROR + b"Transfer-Encoding: chunked\r\n\r\n3\r\nwhy\r\nzz", True, b"why", id="no-chunk"),
    pytest.param(ERROR + b"Content-Encoding: gzip\r\nContent-Length: 50\r\n\r\n\x1f\x8b", False, b"", id="half-a-gzip"),
    pytest.param(ERROR + b"Content-Length: 50\r\n\r\nwhy", True, b"why", id="a-body-that-stalls"),
]


@pytest.mark.parametrize(("reply", "stays", "body"), REFUSALS)
def test_a_status_that_refuses_stands_whatever_becomes_of_its_body(
    run: Run, reply: bytes, stays: bool, body: bytes
) -> None:
    """It is no lost connection, no broken reply, and no time-out of the model."""

    async def main() -> Response:
        for limit_s in LIMITS_S:
            served = Silent(reply) if stays else sends(reply)
            async with serving(served) as port, client(port, max_body=100, timeout_s=limit_s) as one:
                with contextlib.suppress(TimeoutError, HttpError):  # the limit was met before the reply began
                    return await one.post(b"x")
        raise AssertionError("no limit was long enough")

    response = run(main())
    assert (response.status, response.body[:100]) == (503, body)


@pytest.mark.parametrize("framing", ["length", "chunks"])
def test_a_body_of_exactly_the_limit_is_whole(run: Run, framing: str) -> None:
    head = b"Content-Length: 100\r\n\r\n" if framing == "length" else b"Transfer-Encoding: chunked\r\n\r\n64\r\n"
    tail = b"" if framing == "length" else b"\r\n0\r\n\r\n"
    assert len(run(post_to(sends(HEAD + head, b"y" * 100 + tail), max_body=100)).body) == 100


def test_many_small_chunks_in_packets_of_their_own_are_no_endless_head(run: Run) -> None:
    """Their sizes add up to more than a head may have."""
    count = MAX_HEAD // 4

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read_request(reader)
        writer.write(HEAD + b"Transfer-Encoding: chunked\r\n\r\n")
        for _ in range(count // 64):
            writer.write(b"1\r\nx\r\n" * 64)
            await writer.drain()
        writer.write(b"0\r\n\r\n")

    assert len(run(post_to(serve)).body) == count


# ── one connection after another ─────────────────────────────────────────────────────────────────────────


class Counting:
    """Answers with `replies` in turn on each connection, then ends it. Counts connections."""

    def __init__(self, *replies: bytes) -> None:
        self.replies = replies
        self.connections = 0
        self.ended = asyncio.Event()

    async def __call__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        for reply in self.replies:
            await read_request(reader)
            writer.write(reply)
            await writer.drain()
        writer.close()
        with contextlib.suppress(ConnectionError):
            await writer.wait_closed()
        self.ended.set()


CLOSE = OK.replace(b"X-One: 1", b"Connection: close")


@pytest.mark.parametrize(
    ("replies", "connections"),
    [((OK,) * 6, 1), ((CHUNKED,) * 6, 1), ((OK, OK, CLOSE), 2), ((CLOSE,), 6), ((TO_THE_END,), 6)],
    ids=["kept", "kept-after-chunks", "closed-after-three", "always-closed", "ends-with-the-connection"],
)
def test_a_connection_is_used_again_unless_it_ends(run: Run, replies: tuple[bytes, ...], connections: int) -> None:
    async def main() -> int:
        server = Counting(*replies)
        async with serving(server) as port, client(port) as one:
            for _ in range(6):
                assert (await one.post(b"x")).body == b"hello"
        return server.connections

    assert run(main()) == connections


def test_a_connection_that_the_server_closed_while_idle_is_replaced(run: Run) -> None:
    async def main() -> None:
        server = Counting(OK)
        async with serving(server) as port, client(port) as one:
            for n in (1, 2, 3):
                server.ended.clear()
                assert (await one.post(b"x")).body == b"hello"
                await server.ended.wait()
                await asyncio.sleep(0.01)  # the end arrives
                assert server.connections == n

    run(main())


def test_a_server_that_closes_instead_of_answering_is_a_fault_and_the_next_post_goes_on(run: Run) -> None:
    """Not sent again by itself: the server may have done the work."""

    async def main() -> None:
        connections = 0

        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            nonlocal connections
            connections += 1
            await read_request(reader)
            writer.write(OK)
            await read_request(reader)

        async with serving(serve) as port, client(port) as one:
            await one.post(b"x")
            with pytest.raises(HttpError):
                await one.post(b"x")
            assert (await one.post(b"x")).body == b"hello"
        assert connections == 2

    run(main())


@pytest.mark.parametrize(
    "surplus",
    [
        pytest.param(OK.replace(b"hello", b"WRONG").replace(b"X-One: 1", b"X-One: 2"), id="a-whole-reply"),
        pytest.param(OK.replace(b"hello", b"WRONG")[:-2], id="half-a-body"),
        pytest.param(b"HTTP/1.1 200 OK\r\nX-One: 2\r\n", id="half-a-head"),
        pytest.param(b"H", id="one-byte"),
        pytest.param(b"garbage", id="garbage"),
    ],
)
@pytest.mark.parametrize("when", ["in-the-same-packet", "later"])
def test_bytes_that_nobody_asked_for_never_reach_a_later_answer(run: Run, surplus: bytes, when: str) -> None:
    async def main() -> None:
        server = Counting(OK + surplus, OK, OK)
        gone = asyncio.Event()

        async def late(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            server.connections += 1
            await read_request(reader)
            writer.write(OK)
            await writer.drain()
            await asyncio.sleep(0.01)  # so that the client has taken the reply, and waits for nothing more
            writer.write(surplus)
            with contextlib.suppress(ConnectionError):
                await reader.read()
            gone.set()

        async with serving(server if when == "in-the-same-packet" else late) as port, client(port) as one:
            for n in (1, 2):
                response = await one.post(b"x")
                assert (response.body, response.headers["x-one"]) == (b"hello", "1")
                assert server.connections == n
                if when == "later":
                    await asyncio.wait_for(gone.wait(), HANGS_S)
                    gone.clear()

    run(main())


def test_many_posts_at_once_do_not_mix(run: Run) -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while True:
            _, body = await read_request(reader)
            await asyncio.sleep(0)
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body))

    async def main() -> None:
        async with serving(serve) as port, client(port) as one:
            bodies = [f"{number}".encode() * 50 for number in range(200)]
            answers = await asyncio.gather(*(one.post(body) for body in bodies))
            assert [answer.body for answer in answers] == bodies

    run(main())


def test_large_requests_and_replies_pass(run: Run) -> None:
    size = 3 << 20

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        _, body = await read_request(reader)
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body))
        await writer.drain()

    assert run(post_to(serve, b"z" * size, max_body=size)).body == b"z" * size


def test_nothing_is_left_open_after_faults_of_all_kinds(run: Run) -> None:
    """Warnings about what was not closed are errors here."""

    async def main() -> None:
        open_connections = 0
        replies = cycle([OK, OK[:-1], b"garbage\r\n\r\n", CHUNKED, CLOSE, OK + b"x", TO_THE_END, None, OK])

        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            nonlocal open_connections
            open_connections += 1
            try:
                while True:
                    await read_request(reader)
                    reply = next(replies)
                    if reply is None:
                        await reader.read()
                        return
                    writer.write(reply)
                    await writer.drain()
                    if reply in (OK[:-1], CLOSE, TO_THE_END):
                        return
            finally:
                open_connections -= 1

        tasks = len(asyncio.all_tasks())
        async with serving(serve) as port:
            async with client(port, timeout_s=0.5) as one:
                kinds: set[type] = set()
                while kinds != {Response, HttpError, TimeoutError}:  # where the machine is slow, all may time out
                    outcomes = await asyncio.gather(*(one.post(b"x") for _ in range(90)), return_exceptions=True)
                    kinds |= {type(one) for one in outcomes}
            async with asyncio.timeout(HANGS_S):
                while open_connections or len(asyncio.all_tasks()) > tasks:
                    await asyncio.sleep(0.001)

    run(main())
    gc.collect()


# ── giving up ────────────────────────────────────────────────────────────────────────────────────────────


async def given_up(how: str, one: HttpClient, server: Silent, in_time: type[Exception] = TimeoutError) -> None:
    """Give up what `server` has begun to answer. `in_time`: what it is where the time limit is met."""
    while not server.begun.is_set():  # a short limit may be over before the server hears of the request
        task = asyncio.ensure_future(one.post(b"x"))
        if how == "cancelled":
            await asyncio.wait_for(server.begun.wait(), HANGS_S)
            await asyncio.sleep(0.01)  # the client reads what there is
            task.cancel()
        with pytest.raises(in_time if how == "time-limit" else asyncio.CancelledError):
            await task


def limit_of(how: str) -> float:
    return 0.05 if how == "time-limit" else 60.0


@pytest.mark.parametrize("how", ["time-limit", "cancelled"])
@pytest.mark.parametrize(
    "first",
    [b"", HINTS, OK[:20], OK[:-1], CHUNKED[:-1], TO_THE_END],
    ids=["nothing", "an-interim-reply", "half-a-head", "half-a-body", "no-last-chunk", "no-end"],
)
def test_giving_up_breaks_the_connection(run: Run, how: str, first: bytes) -> None:
    async def main() -> None:
        server = Silent(first)
        async with serving(server) as port, client(port, timeout_s=limit_of(how)) as one:
            await given_up(how, one, server)
            await server.sees_the_client_leave()  # and can stop working

    run(main())


@pytest.mark.parametrize("how", ["time-limit", "cancelled"])
def test_giving_up_in_the_middle_of_a_tls_handshake_breaks_the_connection(run: Run, how: str) -> None:
    async def main() -> None:
        server = Silent(greets=True)
        async with serving(server) as port, client(port, timeout_s=limit_of(how), scheme="https") as one:
            await given_up(how, one, server, HttpError)
            await server.sees_the_client_leave()

    run(main())


@pytest.mark.parametrize("how", ["time-limit", "cancelled"])
def test_giving_up_on_a_silent_proxy_breaks_the_connection(run: Run, how: str, monkeypatch: pytest.MonkeyPatch) -> None:
    async def main() -> None:
        proxy = Silent(greets=True)
        async with serving(proxy) as port:
            monkeypatch.setenv("https_proxy", f"http://127.0.0.1:{port}")
            async with client(443, timeout_s=limit_of(how), scheme="https", host="models.example") as one:
                await given_up(how, one, proxy, HttpError)
                await proxy.sees_the_client_leave()

    run(main())


def test_a_reply_that_drips_does_not_outlast_the_time_limit(run: Run) -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read_request(reader)
        writer.write(HEAD + b"\r\n")
        while True:
            writer.write(b".")
            await writer.drain()
            await asyncio.sleep(0.01)

    with pytest.raises(TimeoutError):
        run(post_to(serve, timeout_s=0.1))


def test_the_time_limit_leaves_the_task_as_it_was(run: Run) -> None:
    """As asyncio.timeout does, also in a task that cleans up after it was cancelled."""

    async def main() -> None:
        async with serving(Silent()) as port, client(port, timeout_s=0.03) as one:
            task = asyncio.current_task()
            assert task is not None
            with pytest.raises(TimeoutError):
                await one.post(b"x")
            assert task.cancelling() == 0
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await asyncio.sleep(1)
            with pytest.raises(TimeoutError):
                await one.post(b"x")
            assert task.cancelling() == 1
            task.uncancel()

    run(main())


def test_a_limit_after_the_reply_does_not_fire(run: Run) -> None:
    async def main() -> None:
        async with serving(sends(OK, close=False)) as port:
            for limit_s in (0.05, 1.0, HANGS_S):  # the shortest that the machine's answer keeps
                async with client(port, timeout_s=limit_s) as one:
                    try:
                        await one.post(b"x")
                    except (TimeoutError, HttpError):
                        continue
                    await asyncio.sleep(2 * limit_s)  # which a limit that still ran would cancel
                    return
        pytest.fail("no answer came in time")

    run(main())


def test_no_server_is_an_os_error(run: Run) -> None:
    async def main() -> None:
        async with serving(sends(OK)) as port:
            pass
        async with client(port) as one:
            with pytest.raises(ConnectionRefusedError):
                await one.post(b"x")

    run(main())


def test_a_connection_that_the_system_gives_up_is_not_our_time_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    async def main() -> None:
        async def unreachable(*_: Any, **__: Any) -> None:
            raise TimeoutError(110, "Connection timed out")

        monkeypatch.setattr(asyncio.get_running_loop(), "sock_connect", unreachable)
        async with client(80) as one:
            with pytest.raises(HttpError, match="Connection timed out"):
                await one.post(b"x")

    asyncio.run(main())


# ── bodies that are handed on ────────────────────────────────────────────────────────────────────────────


def into(pieces: list[bytes], end: bytes | None = None) -> BodyHandler:
    """Keeps the pieces; all is there where they end with `end`."""

    def keep(piece: bytes) -> bool:
        pieces.append(piece)
        return end is not None and b"".join(pieces).endswith(end)

    return keep


def test_pieces_are_handed_on_as_they_come(run: Run) -> None:
    async def main() -> list[bytes]:
        pieces: list[bytes] = []
        async with serving(sends(CHUNKED)) as port, client(port) as one:
            assert (await one.post(b"x", into(pieces))).body == b""
        return pieces

    assert b"".join(run(main())) == b"hello"


def test_the_body_of_an_error_is_not_handed_on(run: Run) -> None:
    async def main() -> None:
        pieces: list[bytes] = []
        async with serving(sends(OK.replace(b"200 OK", b"500 X"))) as port, client(port) as one:
            assert (await one.post(b"x", into(pieces))).body == b"hello"
        assert pieces == []

    run(main())


def test_what_the_handler_raises_ends_the_exchange(run: Run) -> None:
    class EnoughError(Exception):
        pass

    def refuse(piece: bytes) -> bool:
        raise EnoughError

    async def main() -> None:
        server = Silent(CHUNKED[:-1])
        async with serving(server) as port, client(port) as one:
            with pytest.raises(EnoughError):
                await one.post(b"x", refuse)
            await server.sees_the_client_leave()

    run(main())


STREAM = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n"
LAST_CHUNK = b"0\r\n\r\n"


@pytest.mark.parametrize("head", [STREAM, TO_THE_END], ids=["chunked", "no-length"])
def test_a_reply_is_whole_when_its_handler_says_so_though_the_connection_stays_open(run: Run, head: bytes) -> None:
    async def main() -> None:
        server = Silent(head)
        async with serving(server) as port, client(port) as one:
            pieces: list[bytes] = []
            assert (await one.post(b"x", into(pieces, b"hello"))).status == 200
            assert pieces == [b"hello"]
            await one.close()
            await server.sees_the_client_leave()

    run(main())


@pytest.mark.parametrize(
    ("pieces", "connections"),
    [
        pytest.param([STREAM + LAST_CHUNK], 1, id="end-in-the-same-packet"),
        pytest.param([STREAM, LAST_CHUNK], 1, id="end-in-the-next-packet"),
        pytest.param([STREAM, b"1\r\n\n\r\n", LAST_CHUNK], 1, id="a-line-end-before-it"),
        pytest.param([STREAM, b"5\r\nhello\r\n" * 1_000], 2, id="goes-on"),
        pytest.param([STREAM, b"garbage"], 2, id="garbage"),
        pytest.param([STREAM], 2, id="no-end"),
    ],
)
def test_a_connection_is_used_again_once_its_body_has_ended(run: Run, pieces: list[bytes], connections: int) -> None:
    """Two posts, one after the other, the second when all of the first reply's bytes have been taken."""

    async def main() -> None:
        count = 0
        sent = asyncio.Event()

        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            nonlocal count
            count += 1
            while True:
                await read_request(reader)
                for piece in pieces:
                    writer.write(piece)
                    await writer.drain()
                    await asyncio.sleep(0.001)
                sent.set()

        async with serving(serve) as port, client(port) as one:
            for _ in range(2):
                sent.clear()
                await one.post(b"x", into([], b"hello"))
                await asyncio.wait_for(sent.wait(), HANGS_S)
                await asyncio.sleep(0.02)  # the client takes what has come
        assert count == connections

    run(main())


def test_a_compressed_body_is_not_handed_on(run: Run) -> None:
    async def main() -> None:
        pieces: list[bytes] = []
        reply = OK.replace(b"X-One: 1", b"Content-Encoding: gzip")
        async with serving(sends(reply)) as port, client(port) as one:
            assert (await one.post(b"x", into(pieces))).body == b"hello"
        assert pieces == []

    run(main())


# ── whose fault it is ────────────────────────────────────────────────────────────────────────────────────


async def hang(*_: Any, **__: Any) -> None:
    await asyncio.sleep(HANGS_S)


@pytest.mark.parametrize(
    ("step", "proxy", "cause"),
    [
        ("getaddrinfo", False, "dns"),
        ("sock_connect", False, "connection"),
        ("getaddrinfo", True, "proxy"),
        ("sock_connect", True, "proxy"),
    ],
)
def test_a_time_limit_that_is_met_before_the_request_is_not_the_models(
    step: str, proxy: bool, cause: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if proxy:
        monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")

    async def main() -> None:
        monkeypatch.setattr(asyncio.get_running_loop(), step, hang)
        async with client(9, timeout_s=0.02, host="models.example" if proxy else "127.0.0.1") as one:
            with pytest.raises(HttpError, match="no connection within the time limit") as caught:
                await one.post(b"x")
        assert caught.value.cause == cause

    asyncio.run(main())


def test_a_time_limit_in_the_tls_handshake_is_tlss(run: Run) -> None:
    async def main() -> None:
        async with serving(Silent(greets=True)) as port:
            for limit_s in LIMITS_S:
                async with client(port, timeout_s=limit_s, scheme="https") as one:
                    with pytest.raises(HttpError) as caught:
                        await one.post(b"x")
                if caught.value.cause == "tls":
                    return
        pytest.fail(f"the cause is {caught.value.cause}")

    run(main())


def test_a_time_limit_that_came_late_is_this_machines(monkeypatch: pytest.MonkeyPatch) -> None:
    """As after a SIGSTOP, or a laptop's sleep: the server may have answered long ago."""

    async def main() -> None:
        loop = asyncio.get_running_loop()
        real = loop.time
        for limit_s in LIMITS_S:
            monkeypatch.setattr(loop, "time", real)
            server = Silent()
            async with serving(server) as port, client(port, timeout_s=limit_s) as one:
                task = asyncio.ensure_future(one.post(b"x"))
                begun = asyncio.ensure_future(server.begun.wait())
                await asyncio.wait([task, begun], return_when=asyncio.FIRST_COMPLETED)
                begun.cancel()
                monkeypatch.setattr(loop, "time", lambda: real() + 8.0)
                (error,) = await asyncio.gather(task, return_exceptions=True)
            if not isinstance(error, TimeoutError):  # the limit was met before the clock was put on
                break
        assert isinstance(error, HttpError)
        assert "this process was held up for" in str(error)
        assert error.cause == "local"

    asyncio.run(main())


def test_no_more_files_closes_what_is_idle_and_is_this_machines(monkeypatch: pytest.MonkeyPatch) -> None:
    async def main() -> None:
        server = Counting(OK, OK)
        async with serving(server) as port, client(port) as idle, client(port) as one:
            await idle.post(b"x")

            def none_left(*arguments: Any, **more: Any) -> socket.socket:
                raise OSError(errno.EMFILE, "Too many open files")

            monkeypatch.setattr(http_client, "socket", SimpleNamespace(**vars(socket) | {"socket": none_left}))
            with pytest.raises(OSError, match="Too many open files"):
                await one.post(b"x")
            monkeypatch.undo()
            assert not idle._idle
            assert (await one.post(b"x")).body == b"hello"

    asyncio.run(main())


# ── addresses ────────────────────────────────────────────────────────────────────────────────────────────


def test_a_query_stays_behind_the_path(run: Run) -> None:
    heads = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heads.append((await read_request(reader))[0])
        writer.write(OK)

    async def main() -> None:
        async with serving(serve) as port:
            one = HttpClient(f"http://127.0.0.1:{port}/v1/x?api-version=1&b=2", {}, timeout_s=HANGS_S, max_body=100)
            await one.post(b"x")
            await one.close()

    run(main())
    assert heads[0].startswith(b"POST /v1/x?api-version=1&b=2 HTTP/1.1\r\n")


def test_an_ipv6_address(run: Run) -> None:
    heads = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heads.append((await read_request(reader))[0])
        writer.write(OK)

    async def main() -> int:
        async with serving(serve, host="::1") as port, client(port, host="[::1]") as one:
            assert (await one.post(b"x")).body == b"hello"
        return port

    try:
        port = run(main())
    except OSError as error:
        pytest.skip(f"no IPv6 here: {error}")
    assert b"\r\nHost: [::1]:%d\r\n" % port in heads[0]


# ── TLS ──────────────────────────────────────────────────────────────────────────────────────────────────


def make_certificate(folder: Path, name: str, subject: str) -> Path:
    """A certificate that signs itself, and its key, in one file."""
    if shutil.which("openssl") is None:
        pytest.skip("there is no openssl command to make a certificate with")
    key, certificate, both = (folder / f"{name}.{part}.pem" for part in ("key", "certificate", "both"))
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
         "-keyout", key, "-out", certificate, "-days", "2", "-subj", f"/CN={name}",
         "-addext", f"subjectAltName={subject}"],
        check=True, capture_output=True,
    )  # fmt: skip
    both.write_bytes(certificate.read_bytes() + key.read_bytes())
    return both


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """For this machine, and for a server that is reached through a proxy."""
    return make_certificate(tmp_path_factory.mktemp("tls"), "ours", "IP:127.0.0.1,DNS:models.example")


@pytest.fixture(scope="module")
def certificate_of_another(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_certificate(tmp_path_factory.mktemp("tls"), "other", "DNS:other.example")


def server_tls(certificate: Path) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    return context


def test_tls_with_a_known_certificate(run: Run, certificate: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    assert run(post_to(sends(OK), tls=server_tls(certificate), scheme="https")).body == b"hello"


def test_a_tls_connection_is_used_again_and_closed_in_the_end(
    run: Run, certificate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))

    async def main() -> None:
        server = Counting(*(OK,) * 20)
        async with serving(server, tls=server_tls(certificate)) as port, client(port, scheme="https") as one:
            for _ in range(5):
                assert (await one.post(b"x")).body == b"hello"
        assert server.connections == 1

    run(main())
    gc.collect()  # what was left open warns here


def test_tls_that_is_cut_anywhere_is_never_an_answer(
    run: Run, certificate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))

    async def main() -> None:
        cuts = iter(range(0, len(OK), 5))

        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await read_request(reader)
            writer.write(OK[: next(cuts)])
            await writer.drain()

        async with serving(serve, tls=server_tls(certificate)) as port, client(port, scheme="https") as one:
            for _ in range(0, len(OK), 5):
                with pytest.raises(HttpError):
                    await one.post(b"x")

    run(main())


def test_an_unknown_certificate_is_refused(run: Run, certificate: Path) -> None:
    with pytest.raises(ssl.SSLCertVerificationError):
        run(post_to(sends(OK), tls=server_tls(certificate), scheme="https"))


def test_a_certificate_of_another_host_is_refused(
    run: Run, certificate_of_another: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate_of_another))
    with pytest.raises(ssl.SSLCertVerificationError, match=r"127\.0\.0\.1"):
        run(post_to(sends(OK), tls=server_tls(certificate_of_another), scheme="https"))


def test_a_server_without_tls_is_an_os_error(run: Run) -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(1)
        writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")

    with pytest.raises(OSError):  # noqa: PT011 - an ssl.SSLError or a reset, by which of the two is seen first
        run(post_to(serve, scheme="https"))


# ── proxies ──────────────────────────────────────────────────────────────────────────────────────────────


def test_an_http_proxy_gets_the_whole_address_and_its_credentials(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    heads = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heads.append((await read_request(reader))[0])
        writer.write(OK)

    async def main() -> None:
        async with serving(serve) as port:
            monkeypatch.setenv("http_proxy", f"http://me:p%40ss@127.0.0.1:{port}")
            async with client(8000, host="models.example") as one:
                assert (await one.post(b"x")).body == b"hello"

    run(main())
    assert heads[0].startswith(b"POST http://models.example:8000/v1/x HTTP/1.1\r\nHost: models.example:8000\r\n")
    assert b"\r\nProxy-Authorization: Basic bWU6cEBzcw==\r\n" in heads[0]


class Tunnel:
    """A proxy that answers each CONNECT with `reply` and, where that is a 200, leads to `port`."""

    def __init__(self, port: int, *reply: bytes) -> None:
        self.port = port
        self.reply = reply
        self.heads: list[bytes] = []

    async def __call__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.heads.append(await reader.readuntil(b"\r\n\r\n"))
        for piece in self.reply:
            writer.write(piece)
            await writer.drain()
            await asyncio.sleep(0.001)
        if not b"".join(self.reply).startswith(b"HTTP/1.1 2"):
            return
        there_reader, there_writer = await asyncio.open_connection("127.0.0.1", self.port)
        await asyncio.gather(pump(reader, there_writer), pump(there_reader, writer))


async def pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while data := await reader.read(65536):
            writer.write(data)
    except ConnectionError:
        pass
    finally:
        writer.close()


async def post_through(
    tunnel_reply: tuple[bytes, ...], tls: ssl.SSLContext, monkeypatch: pytest.MonkeyPatch
) -> tuple[list[bytes], Response]:
    """Two exchanges with models.example through a proxy: the heads that the proxy saw, and the last reply."""
    async with serving(sends(OK, close=False), tls=tls) as port:
        tunnel = Tunnel(port, *tunnel_reply)
        async with serving(tunnel) as proxy_port:
            monkeypatch.setenv("https_proxy", f"me:pass@127.0.0.1:{proxy_port}")
            async with client(8443, scheme="https", host="models.example") as one:
                await one.post(b"x")
                response = await one.post(b"x")
    return tunnel.heads, response


ESTABLISHED = b"HTTP/1.1 200 Connection established\r\nProxy-Agent: test\r\n\r\n"


@pytest.mark.parametrize(
    "reply",
    [(ESTABLISHED,), tuple(bytes([byte]) for byte in ESTABLISHED), (ESTABLISHED[:30], ESTABLISHED[30:])],
    ids=["in-one-packet", "a-byte-at-a-time", "in-two"],
)
def test_tls_goes_through_a_proxy_in_a_tunnel_that_is_kept(
    run: Run, certificate: Path, monkeypatch: pytest.MonkeyPatch, reply: tuple[bytes, ...]
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    heads, response = run(post_through(reply, server_tls(certificate), monkeypatch))
    assert response.body == b"hello"
    place = b"models.example:8443"
    assert heads == [
        b"CONNECT %b HTTP/1.1\r\nHost: %b\r\nProxy-Authorization: Basic bWU6cGFzcw==\r\n\r\n" % (place, place)
    ]


def test_a_certificate_of_another_host_is_refused_through_a_proxy_too(
    run: Run, certificate_of_another: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate_of_another))
    with pytest.raises(ssl.SSLCertVerificationError, match=r"models\.example"):
        run(post_through((ESTABLISHED,), server_tls(certificate_of_another), monkeypatch))
    gc.collect()


@pytest.mark.parametrize(
    ("reply", "says"),
    [
        (b"HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 2\r\n\r\nno", "status 407"),
        (b"HTTP/1.1 403 Forbidden\r\n\r\n", "status 403"),
        (b"garbage\r\n\r\n", "status 0"),
        (b"\r\n\r\n", "status 0"),
        (b"HTTP/1.1 4", "closed the connection"),
        (b"X" * (MAX_HEAD + 1), "larger than"),
    ],
    ids=["407", "403", "garbage", "nothing", "cut", "endless"],
)
def test_a_proxy_that_refuses_is_a_fault(
    run: Run, certificate: Path, monkeypatch: pytest.MonkeyPatch, reply: bytes, says: str
) -> None:
    with pytest.raises(HttpError, match=says):
        run(post_through((reply,), server_tls(certificate), monkeypatch))


def proxied(url: str) -> bool:
    return HttpClient(url, {}, timeout_s=1, max_body=1)._proxy is not None


P = {"http_proxy": "http://p:1"}


@pytest.mark.parametrize(
    ("url", "environment", "expected"),
    [
        pytest.param("http://m.example/v1", P, True, id="http"),
        pytest.param("https://m.example/v1", P, False, id="http-proxy-is-not-for-https"),
        pytest.param("https://m.example/v1", {"HTTPS_PROXY": "http://p:1"}, True, id="upper-case"),
        pytest.param("https://m.example/v1", {"all_proxy": "p:1"}, True, id="all-without-a-scheme"),
        pytest.param("http://m.example/v1", {}, False, id="none"),
        pytest.param("http://m.example/v1", {"http_proxy": ""}, False, id="empty"),
        pytest.param("http://m.example/v1", P | {"no_proxy": "x, m.example"}, False, id="no-proxy"),
        pytest.param("http://a.m.example/v1", P | {"no_proxy": ".m.example"}, False, id="no-proxy-suffix"),
        pytest.param("http://xm.example/v1", P | {"no_proxy": "m.example"}, True, id="no-proxy-whole-names"),
        pytest.param("http://m.example:81/", P | {"no_proxy": "m.example:81"}, False, id="no-proxy-port"),
        pytest.param("http://m.example:82/", P | {"no_proxy": "m.example:81"}, True, id="no-proxy-other-port"),
        pytest.param("http://m.example/", P | {"no_proxy": "*"}, False, id="no-proxy-star"),
        pytest.param("http://127.0.0.1:8080/", P, False, id="this-machine"),
        pytest.param("http://[::1]:8080/", P, False, id="this-machine-ipv6"),
        pytest.param("http://localhost/", P, False, id="localhost"),
    ],
)
def test_which_addresses_are_reached_through_a_proxy(
    monkeypatch: pytest.MonkeyPatch, url: str, environment: dict[str, str], expected: bool
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert proxied(url) is expected


@pytest.mark.parametrize("proxy", ["socks5://p:1", "https://p:1", "http://p:port", "http://", "http://[::1"])
def test_a_proxy_that_can_not_be_used_is_not_passed_by(monkeypatch: pytest.MonkeyPatch, proxy: str) -> None:
    monkeypatch.setenv("https_proxy", proxy)
    with pytest.raises(ConfigError, match=r"https_proxy: found .*; expected http://host:port"):
        proxied("https://m.example/v1")


def test_a_proxys_credentials_are_in_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("https_proxy", "socks5://me:pass@p:1")
    with pytest.raises(ConfigError) as caught:
        proxied("https://m.example/v1")
    assert "pass" not in str(caught.value)
