"""How connections are held: the protocol by itself, with a transport and a clock of the test's own."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pytest
import uvicorn
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.server import ServerState

from benchbook.server.connections import MOST_CONNECTIONS, Connections, HeldConnection

GET = b"GET /x HTTP/1.1\r\nHost: h\r\n\r\n"
POST = b"POST /x HTTP/1.1\r\nHost: h\r\n"
CHUNKED = POST + b"Transfer-Encoding: chunked\r\n\r\n"


class Clock:
    """A loop whose time stands still until a test moves it."""

    def __init__(self) -> None:
        self.now = 100.0

    def time(self) -> float:
        return self.now

    def create_task(self, work: Any) -> asyncio.Task[None]:
        return asyncio.get_running_loop().create_task(work)

    def call_later(self, delay: float, *_: Any) -> asyncio.Handle:
        assert delay == 15  # uvicorn's own: it closes a connection between requests, too
        return asyncio.get_running_loop().call_soon(lambda: None)


class Pipe(asyncio.Transport):
    """A transport that keeps what is written."""

    def __init__(self, address: str = "192.0.2.1") -> None:
        super().__init__({"peername": (address, 1)})
        self.protocol: HeldConnection | None = None
        self.sent = b""
        self.n_unsent = 0
        self.state = "open"

    def write(self, data: Any) -> None:
        self.sent += bytes(data)

    def get_write_buffer_size(self) -> int:
        return self.n_unsent

    def can_write_eof(self) -> bool:
        return True

    def write_eof(self) -> None:
        self.state = "half closed"

    def is_closing(self) -> bool:
        return self.state in ("closed", "aborted")

    def close(self) -> None:
        self.state = "closed"

    def abort(self) -> None:
        self.state = "aborted"
        assert self.protocol is not None
        self.protocol.connection_lost(ConnectionAbortedError())

    def pause_reading(self) -> None:
        pass

    resume_reading = pause_reading

    @property
    def statuses(self) -> list[int]:
        return [int(part[:3]) for part in self.sent.split(b"HTTP/1.1 ")[1:]]


class Server:
    """The protocol over an application that answers with the size of the body, once it is told to."""

    def __init__(self, most: int = 100, most_of_one: int = 100, app: ASGIApp | None = None) -> None:
        self.clock = Clock()
        self.held = Connections(most, most_of_one)
        self.goes_on = asyncio.Event()
        self.n_gone = 0
        self._config = uvicorn.Config(app or self._app, interface="asgi3", ws="none", log_config=None)
        self._state = ServerState()

    async def _app(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self.goes_on.wait()
        size, more = 0, scope["method"] == "POST"
        while more:
            message = await receive()
            if message["type"] == "http.disconnect":
                self.n_gone += 1
                return
            size += len(message["body"])
            more = message["more_body"]
        body = f"{size} {len(scope['headers'])}".encode()
        headers = [(b"content-length", str(len(body)).encode())]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": body})

    def open(self, address: str = "192.0.2.1") -> Pipe:
        pipe = Pipe(address)
        pipe.protocol = HeldConnection(
            held=self.held, config=self._config, server_state=self._state, app_state={}, _loop=self.clock
        )
        pipe.protocol.connection_made(pipe)
        return pipe

    def after(self, seconds: float) -> None:
        self.clock.now += seconds
        self.held.sweep(self.clock.now)


def feed(pipe: Pipe, *pieces: bytes) -> None:
    assert pipe.protocol is not None
    for piece in pieces:
        pipe.protocol.data_received(piece)


async def settled() -> None:
    """The tasks that can go on have gone on."""
    for _ in range(20):
        await asyncio.sleep(0)


def over(test: Callable[[Server], Awaitable[None]], **limits: int) -> None:
    async def run() -> None:
        await test(Server(**limits))

    asyncio.run(run())


# ── what comes in ────────────────────────────────────────────────────────────────────────────────────────────

X = b"x" * 1_000
START = b"GET /x HTTP/1.1\r\nHost: h\r\n"


@pytest.mark.parametrize(
    ("pieces", "status"),
    [
        pytest.param([START + b"A: ", *[X] * 66], 431, id="one-header-in-pieces"),
        pytest.param([START + b"A: " + X * 66 + b"\r\n\r\n"], 431, id="one-header-at-once"),
        pytest.param([START + b"A: b\r\n" * 100 + b"\r\n"], 431, id="too-many-headers"),
        pytest.param([START + b"A: b\r\n" * 99 + b"\r\n"], 200, id="as-many-as-may-be"),
        pytest.param([START, *[b"A: " + X + b"\r\n"] * 66], 431, id="headers-in-pieces"),
        pytest.param([START + b"A: " + X * 60 + b"\r\n\r\n"], 200, id="a-large-head"),
        pytest.param([b"GET /", *[X] * 66], 414, id="a-target-in-pieces"),
        pytest.param([b"GET /" + X * 66], 414, id="a-target-at-once"),
        pytest.param([CHUNKED + b"1\r\n \r\n" * 1_002], 400, id="tiny-chunks"),
        pytest.param([CHUNKED + b"10\r\n%s\r\n" % (b" " * 16) * 1_500 + b"0\r\n\r\n"], 200, id="small-chunks"),
        pytest.param([CHUNKED, b"1\r\n \r\n0\r\nA: ", *[X] * 66], 400, id="a-trailer-in-pieces"),
        pytest.param([CHUNKED + b"1\r\n \r\n0\r\n" + b"A: b\r\n" * 101], 431, id="too-many-trailers"),
        pytest.param([CHUNKED + b"1\r\n \r\n0\r\nA: b\r\n\r\n"], 200, id="a-trailer"),
        pytest.param([CHUNKED, b"1;a=", *[X] * 66], 400, id="an-extension-in-pieces"),
        pytest.param([POST + b"Content-Length: 200000\r\n\r\n" + b"x" * 200_000], 200, id="head-and-body-at-once"),
        pytest.param([POST + b"Content-Length: 200000\r\n\r\n", *[b"x" * 20_000] * 10], 200, id="a-body-in-pieces"),
        pytest.param([GET * 12], 429, id="a-dozen-at-once"),
        pytest.param([b"\x00\xff nonsense\r\n\r\n"], 400, id="no-http"),
        pytest.param([POST + b"Content-Length: -1\r\n\r\n"], 400, id="a-negative-length"),
        pytest.param([POST + b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n"], 400, id="two-lengths"),
    ],
)
def test_what_comes_in_has_bounds(pieces: list[bytes], status: int) -> None:
    async def test(server: Server) -> None:
        server.goes_on.set()
        pipe = server.open()
        for piece in pieces:  # as they come: each may find the answer there already
            feed(pipe, piece)
            await settled()
        assert pipe.statuses == [status]
        refused = status != 200
        assert (b"connection: close" in pipe.sent, pipe.state) == (refused, "half closed" if refused else "open")
        if refused:
            feed(pipe, X, GET)  # both are dropped
            server.after(2)
            assert (pipe.state, len(server.held)) == ("aborted", 0)
            await settled()
            assert pipe.statuses == [status]

    over(test)


def test_a_trailer_is_no_header() -> None:
    async def test(server: Server) -> None:
        pipe = server.open()
        feed(pipe, CHUNKED + b"1\r\n \r\n0\r\nHost: other\r\n\r\n")
        server.goes_on.set()
        await settled()
        assert pipe.sent.endswith(b"1 2")  # bytes of the body, headers

    over(test)


def test_requests_that_are_sent_ahead_are_answered_in_order_and_told_of_the_end() -> None:
    async def test(server: Server) -> None:
        pipe = server.open()
        feed(pipe, POST + b"Content-Length: 3\r\n\r\nabc" + GET)
        server.goes_on.set()
        await settled()
        assert pipe.statuses == [200, 200]
        assert pipe.sent.index(b"3 2") < pipe.sent.index(b"0 1")
        pipe = server.open()
        feed(pipe, POST + b"Content-Length: 3\r\n\r\na")
        await settled()
        assert pipe.protocol is not None
        pipe.protocol.connection_lost(None)
        await settled()
        assert server.n_gone == 1

    over(test)


def test_the_oldest_request_learns_that_the_client_is_gone() -> None:
    """Also where another was sent ahead: a listener would stay for ever."""

    async def test(_: Server) -> None:
        heard = []

        async def listening(scope: Scope, receive: Receive, send: Send) -> None:
            await receive()
            heard.append((await receive())["type"])

        pipe = Server(app=listening).open()
        feed(pipe, GET + GET)
        await settled()
        assert pipe.protocol is not None
        pipe.protocol.connection_lost(None)
        await settled()
        assert heard == ["http.disconnect"]

    over(test)


def test_what_follows_a_wish_for_another_protocol_is_no_request() -> None:
    """Else the body of a request that a proxy hands on would be one that nobody checked."""

    async def test(server: Server) -> None:
        server.goes_on.set()
        pipe = server.open()
        upgrade = b"Connection: Upgrade\r\nUpgrade: websocket\r\nContent-Length: %d\r\n\r\n" % len(GET)
        feed(pipe, POST + upgrade, GET)
        await settled()
        assert (pipe.statuses, pipe.state) == ([200], "closed")
        assert b"connection: close" in pipe.sent

    over(test)


# ── time ─────────────────────────────────────────────────────────────────────────────────────────────────────


def test_time_for_a_head() -> None:
    async def test(server: Server) -> None:
        silent, slow, empty, late = (server.open() for _ in range(4))
        feed(slow, START)
        for _ in range(9):
            server.after(1)
            feed(slow, b"A: b\r\n")  # a byte now and then is no head
            feed(empty, b"\r\n")
        feed(late, START)
        assert [one.state for one in (silent, slow, empty, late)] == ["open"] * 4
        server.after(1)
        assert [one.state for one in (silent, slow, empty, late)] == ["aborted", "half closed", "aborted", "open"]
        assert slow.statuses == [408]
        feed(late, b"\r\n")
        server.goes_on.set()
        await settled()
        assert late.statuses == [200]

    over(test)


def test_time_between_requests_and_for_a_body_that_nobody_reads() -> None:
    async def test(server: Server) -> None:
        server.goes_on.set()
        kept, unread = server.open(), server.open()
        feed(kept, GET)
        feed(unread, START + b"Content-Length: 1000000\r\n\r\n")
        await settled()
        assert (kept.statuses, unread.statuses) == ([200], [200])
        for _ in range(9):
            server.after(1)
            feed(unread, X)
        assert unread.state == "open"
        server.after(1)
        assert (kept.state, unread.state) == ("open", "aborted")
        server.after(4)
        feed(kept, GET)
        await settled()
        assert kept.statuses == [200, 200]
        server.after(15)
        assert kept.state == "aborted"

    over(test)


def test_a_request_that_is_answered_has_time() -> None:
    async def test(server: Server) -> None:
        pipe = server.open()
        feed(pipe, GET)
        server.after(3_600)
        server.goes_on.set()
        await settled()
        assert pipe.statuses == [200]

    over(test)


def test_an_answer_has_to_be_read() -> None:
    async def test(server: Server) -> None:
        server.goes_on.set()
        pipes = [server.open() for _ in range(3)]
        for pipe in pipes:
            pipe.n_unsent = 1 << 20
            feed(pipe, GET)
        await settled()
        never, slowly, at_last = pipes
        for _ in range(3):
            server.after(29)
            slowly.n_unsent -= 64 << 10
        assert [one.state for one in pipes] == ["aborted", "open", "aborted"]
        assert slowly.n_unsent == (1 << 20) - 3 * (64 << 10)
        slowly.n_unsent = 0
        server.after(1)  # it waits for a request now, and its time is over
        assert slowly.state == "aborted"
        del never, at_last

    over(test)


def test_answers_that_wait_for_slow_readers_have_a_bound_in_sum() -> None:
    async def test(server: Server) -> None:
        server.goes_on.set()
        pipes = [server.open() for _ in range(4)]
        for pipe, n_mb in zip(pipes, (100, 120, 30, 10), strict=True):
            pipe.n_unsent = n_mb << 20
            feed(pipe, GET)
        await settled()
        server.after(1)
        assert [one.state for one in pipes] == ["open", "aborted", "open", "open"]
        assert server.held.ended == {"too many bytes that are not read": 1}

    over(test)


# ── number ───────────────────────────────────────────────────────────────────────────────────────────────────


@contextmanager
def opened(server: Server, addresses: Sequence[str]) -> Iterator[list[Pipe]]:
    pipes = []
    for address in addresses:
        server.clock.now += 1
        pipes.append(server.open(address))
    yield pipes


def states(pipes: Sequence[Pipe]) -> str:
    return "".join("-" if one.state == "aborted" else "o" for one in pipes)


def test_the_one_that_waits_longest_gives_way() -> None:
    async def test(server: Server) -> None:
        with opened(server, ["192.0.2.1"] * 4) as pipes:
            feed(pipes[0], GET)  # it asked
            feed(pipes[1], START)  # half a head is none
        with opened(server, ["192.0.2.1"]) as more:
            assert states(pipes + more) == "o-ooo"
        feed(pipes[2], POST + b"Content-Length: 9\r\n\r\n")
        with opened(server, ["192.0.2.2"] * 2) as others:
            assert states(pipes + more + others) == "o-o--oo"[:5] + "oo"
        for one in others:
            feed(one, GET)
        with opened(server, ["192.0.2.2"]) as last:  # nobody waits: a body that comes is next
            assert states(pipes) == "o---"
            feed(last[0], GET)
        with opened(server, ["192.0.2.2"]) as none:  # all are answered
            assert states(none) == "-"
        others[1].n_unsent = 1
        with opened(server, ["192.0.2.2"]) as one:  # or would be, if they read
            assert (states(one), states(others)) == ("o", "o-")
        server.goes_on.set()
        await settled()
        assert pipes[0].statuses == [200]
        assert len(server.held) == 4

    over(test, most=4)


def test_one_address_has_a_share_of_those_that_wait() -> None:
    async def test(server: Server) -> None:
        with opened(server, ["192.0.2.9", *["192.0.2.1"] * 5]) as pipes:
            assert states(pipes) == "o---oo"
        for pipe in pipes[4:]:
            feed(pipe, GET)  # they wait no more, and do not count
        with opened(server, ["192.0.2.1"] * 2) as more:
            assert states(pipes + more) == "o---oooo"
        at_once = [server.open("192.0.2.1") for _ in range(3)]  # their requests may be there, and not read yet
        assert states(pipes + more + at_once) == "o---oo-oooo"

    over(test, most_of_one=2)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("2001:db8::1", "2001:db8::2", True),
        ("2001:db8::1", "2001:db8:0:1::1", False),
        ("::ffff:192.0.2.1", "::ffff:192.0.2.2", False),
        ("fe80::1%eth0", "fe80::2", True),
    ],
)
def test_ipv6_is_counted_by_its_network(one: str, other: str, same: bool) -> None:
    async def test(server: Server) -> None:
        with opened(server, [one, other]) as pipes:
            assert states(pipes) == ("-o" if same else "oo")

    over(test, most_of_one=1)


@pytest.mark.parametrize(
    ("soft", "most"), [(1_024, 924), (1 << 20, MOST_CONNECTIONS), (-1, MOST_CONNECTIONS), (64, 50)]
)
def test_as_many_as_files_may_be_open(soft: int, most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("resource.getrlimit", lambda _: (soft, soft))
    assert Connections().most == most
