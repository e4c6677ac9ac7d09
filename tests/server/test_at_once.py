"""Many requests at once: they queue, listeners and bodies take no worker, and signs of life wait for nothing."""

from __future__ import annotations

import asyncio
import threading
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import aclosing, contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from benchbook.server import problems
from benchbook.server.access import Access, Principal, TokenFile, default_token_file
from benchbook.server.app import App
from benchbook.server.cookies import SESSION
from benchbook.server.events import Events
from benchbook.server.operations import Stream
from benchbook.server.operations_list import OPERATIONS
from benchbook.server.problems import ProblemError, Room, read_body
from benchbook.server.running import make_app
from server.making import HOST, Api, settings

RUNS = "/api/v1/runs"


@pytest.fixture
def app(tmp_path: Path) -> Iterator[App]:
    """A server over no records at all."""
    made = make_app(settings(tmp_path / "runs", str(tmp_path / "catalog.sqlite")))
    yield made
    made.stop()


def client_of(app: App) -> httpx.AsyncClient:
    return httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url=f"http://{HOST}")


@contextmanager
def every_worker_taken(app: App) -> Iterator[threading.Event]:
    goes_on = threading.Event()
    for pool in (app._threads, app._heavy):
        for _ in range(pool._max_workers):
            pool.submit(goes_on.wait, 60)
    try:
        yield goes_on
    finally:
        goes_on.set()


# ── workers ──────────────────────────────────────────────────────────────────────────────────────────────────


def test_signs_of_life_while_every_worker_is_taken_and_260_wait(app: App) -> None:
    async def ask() -> tuple[list[int], Counter[int]]:
        async with client_of(app) as client:
            with every_worker_taken(app) as goes_on:
                waiting = [asyncio.ensure_future(client.get(RUNS)) for _ in range(260)]
                while app._n_queued < len(waiting):
                    await asyncio.sleep(0)
                alive = [(await client.get(path)).status_code for path in ("/healthz", "/readyz")]
                goes_on.set()
                return alive, Counter(answer.status_code for answer in await asyncio.gather(*waiting))

    assert asyncio.run(ask()) == ([200, 200], Counter({200: 260}))
    assert app._n_queued == 0


@pytest.mark.parametrize(("patience", "wanted"), [(60, ["light", "heavy"]), (0, ["heavy", "light"])])
def test_heavy_work_waits_for_light_work_for_a_while(
    app: App, patience: float, wanted: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("benchbook.server.app._PATIENCE_S", patience)
    goes_on = threading.Event()
    done: list[str] = []
    light, heavy = (next(one for one in OPERATIONS if one.heavy is is_heavy) for is_heavy in (False, True))

    def slow() -> None:
        goes_on.wait(60)
        done.append("light")

    async def ask() -> None:
        first = asyncio.ensure_future(app.in_thread(light, slow))
        while app._n_light == 0:
            await asyncio.sleep(0)
        second = asyncio.ensure_future(app.in_thread(heavy, lambda: done.append("heavy")))
        if patience == 0:
            await second
        goes_on.set()
        await asyncio.gather(first, second)

    asyncio.run(ask())
    assert done == wanted


def test_a_queue_has_an_end(app: App) -> None:
    app._most_queued = 2

    async def ask() -> list[httpx.Response]:
        async with client_of(app) as client:
            with every_worker_taken(app) as goes_on:
                waiting = [asyncio.ensure_future(client.get(RUNS)) for _ in range(2)]
                while app._n_queued < len(waiting):
                    await asyncio.sleep(0)
                refused = await client.get(RUNS)
                goes_on.set()
                return [refused, *await asyncio.gather(*waiting)]

    refused, *others = asyncio.run(ask())
    assert (refused.status_code, refused.headers["retry-after"]) == (503, "2")
    assert [one.status_code for one in others] == [200, 200]


def test_not_ready_where_the_last_look_failed(app: App) -> None:
    api = Api(app)
    app.services.watcher.error = "the catalog is gone"
    answer = api.get("/readyz")
    assert (answer.status_code, answer.json()["detail"]) == (503, "the folder of records was not looked through lately")
    assert api.json("/healthz") == {"status": "ok"}


def test_connections_are_measured(app: App) -> None:
    app.services.connections.ended["too many"] = 3
    lines = Api(app).get("/metrics").text.splitlines()
    assert 'benchbook_connections_ended_total{why="too many"} 3' in lines
    assert "benchbook_connections 0.0" in lines


# ── listeners ────────────────────────────────────────────────────────────────────────────────────────────────

LOCAL, ANN, BOB = (Principal(name, ("read",), via) for name, via in
                   (("local", "local"), ("ann", "token"), ("bob", "token")))  # fmt: skip


def test_listeners_have_a_bound_for_a_token_and_in_all() -> None:
    async def listen() -> None:
        events = Events()
        heard: list[AsyncIterator[bytes]] = [events.listen(ANN) for _ in range(50)]
        with pytest.raises(ProblemError, match="too many listeners") as found:
            events.listen(ANN)
        assert found.value.headers == {"retry-after": "10"}
        heard += [events.listen(BOB), *(events.listen(LOCAL) for _ in range(149))]
        for principal in (LOCAL, BOB):
            with pytest.raises(ProblemError, match="too many listeners"):
                events.listen(principal)
        async with aclosing(heard[0]):  # type: ignore[type-var]
            assert await anext(heard[0]) == b"retry: 2000\n\n"
        assert events.n_listeners == 199
        events.listen(ANN)

    asyncio.run(listen())


def test_a_listener_that_never_asks_for_an_event_is_not_counted_for_ever(app: App) -> None:
    for _ in range(3):
        assert Api(app).ask("HEAD", "/api/v1/events").status_code == 200
    assert app.services.events.n_listeners == 0


def test_listeners_take_no_worker(app: App) -> None:
    async def ask() -> tuple[int, int]:
        listeners = [app.services.events.listen(LOCAL) for _ in range(200)]
        async with client_of(app) as client:
            return len(listeners), (await client.get(RUNS)).status_code

    assert asyncio.run(ask()) == (200, 200)


# ── downloads ────────────────────────────────────────────────────────────────────────────────────────────────


def test_downloads_that_are_made_from_rows_wait_for_one_another(app: App) -> None:
    begun: list[str] = []

    def rows(name: str) -> Iterator[bytes]:
        begun.append(name)
        yield b"1"
        yield b"2"

    async def read() -> None:
        app._downloads = asyncio.Semaphore(1)
        one, two = app.pieces(Stream(rows("one"), "one")), app.pieces(Stream(rows("two"), "two"))
        file = app.pieces(Stream(rows("file"), "file", length=2))
        assert await anext(one) == b"1"
        waiting = asyncio.ensure_future(anext(two))
        assert [piece async for piece in file] == [b"1", b"2"]
        assert begun == ["one", "file"]
        await one.aclose()  # type: ignore[attr-defined]
        assert await waiting == b"1"
        assert [piece async for piece in two] == [b"2"]

    asyncio.run(read())


# ── bodies ───────────────────────────────────────────────────────────────────────────────────────────────────


class Sender:
    """The messages of a request, one after another; then none, for ever."""

    def __init__(self, *parts: bytes, more: bool = False) -> None:
        self._messages: list[dict[str, Any]] = [
            {"type": "http.request", "body": part, "more_body": more or place < len(parts)}
            for place, part in enumerate(parts, 1)
        ]
        self.n_read = 0

    async def __call__(self) -> dict[str, Any]:
        if not self._messages:
            await asyncio.Event().wait()
        self.n_read += 1
        return self._messages.pop(0)


def test_bodies() -> None:
    room = Room(10)

    async def read(sender: Sender, most: int = 8, length: str | None = None) -> bytes | None:
        lent = room.lend()
        try:
            return await read_body(sender, length, most, lent)
        finally:
            lent.give_back()

    assert asyncio.run(read(Sender(b"ab", b"", b"c"))) == b"abc"
    for length in ("9", "99999999999999999999999999"):
        unread = Sender(b"")
        with pytest.raises(ProblemError, match="at most 8 bytes") as found:
            asyncio.run(read(unread, length=length))
        assert (found.value.status, unread.n_read) == (413, 0)
    with pytest.raises(ProblemError, match="at most 8 bytes"):
        asyncio.run(read(Sender(b"1234", b"56789", more=True)))
    with pytest.raises(ProblemError, match="body: expected none"):
        asyncio.run(read(Sender(b"x"), most=0))
    assert room.n_left == 10
    others = room.lend()
    others.take(8)
    with pytest.raises(ProblemError, match="too much is sent at once") as found:
        asyncio.run(read(Sender(b"123")))
    assert (found.value.status, found.value.headers) == (503, {"retry-after": "10"})
    assert asyncio.run(read(Sender(b"12"))) == b"12"
    others.give_back()
    assert room.n_left == 10


def test_a_body_that_comes_too_slowly(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(problems, "_BODY_S", 0.0)
    sent: list[dict[str, Any]] = []

    async def send(message: Any) -> None:
        sent.append(message)

    headers = [(b"host", HOST.encode()), (b"content-type", b"application/json"), (b"content-length", b"100000")]
    scope = {"type": "http", "method": "POST", "path": RUNS, "raw_path": RUNS.encode(), "query_string": b""}
    asyncio.run(app(scope | {"headers": headers}, Sender(b"{", more=True), send))  # type: ignore[arg-type]
    assert sent[0]["status"] == 408
    assert (b"connection", b"close") in sent[0]["headers"]
    assert app.room.n_left == app.room.lend()._room.n_left == 256 << 20


def test_who_is_not_known_sends_little(tmp_path: Path) -> None:
    runs = tmp_path / "runs"
    TokenFile(default_token_file(runs)).create("ann", ["read", "write"])
    app = make_app(settings(runs, str(tmp_path / "catalog.sqlite"), host="0.0.0.0"))
    try:
        api = Api(app)
        json_type = {"content-type": "application/json"}
        assert api.problem("/api/v1/login", "POST", headers=json_type, content=b" " * 4_097)[0] == 413
        assert api.problem(RUNS, "POST", headers=json_type, content=b" " * 4_097)[0] == 401
        # http.cookies takes half a minute for this header, on the loop
        cookie = 'benchbook_session="' + "\\\\" * 30_000 + '"; benchbook_csrf=b=; x; =y'
        assert api.problem(RUNS, headers={"cookie": cookie})[0] == 401
    finally:
        app.stop()


def test_cookies(tmp_path: Path) -> None:
    runs = tmp_path / "runs"
    text, _ = TokenFile(default_token_file(runs)).create("ann", ["read"])
    access = Access(settings(runs, "none", host="0.0.0.0"))
    _, session, csrf = access.login(text, SESSION)
    for cookie in (f"benchbook_session={session}", f"a=b;  benchbook_session = {session} ;benchbook_csrf={csrf}; c"):
        assert access.principal({"cookie": cookie}).name == "ann"
    for cookie in ("", ";", "=", f"benchbook_session={session}x", f"x=benchbook_session={session}"):
        assert access.principal({"cookie": cookie}).via == "nobody"
