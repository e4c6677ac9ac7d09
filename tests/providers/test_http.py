"""Our HTTP client against servers that do what servers do (docs/decisions/0005)."""

from __future__ import annotations

import asyncio
import contextlib
import shutil
import ssl
import subprocess
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
import uvloop

from benchbook.providers.http_client import HttpClient
from benchbook.providers.http_connection import BodyTooLargeError, HttpError, Response

Serve = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]
OK = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nX-One: 1\r\n\r\nhello"
LOOPS = [pytest.param(asyncio.run, id="asyncio"), pytest.param(uvloop.run, id="uvloop")]


@pytest.fixture(params=LOOPS)
def run(request: pytest.FixtureRequest) -> Callable[[Any], Any]:
    return request.param


async def read_request(reader: asyncio.StreamReader) -> tuple[bytes, bytes]:
    head = await reader.readuntil(b"\r\n\r\n")
    length = int(head.lower().split(b"content-length: ")[1].split(b"\r\n")[0])
    return head, await reader.readexactly(length)


async def with_server(serve: Serve, work: Callable[[int], Awaitable[Any]], *, tls: ssl.SSLContext | None = None) -> Any:
    async def guarded(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await serve(reader, writer)
        except (asyncio.IncompleteReadError, ConnectionError, asyncio.CancelledError):
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(guarded, "127.0.0.1", 0, ssl=tls)
    try:
        return await work(server.sockets[0].getsockname()[1])
    finally:
        server.close()


def client(port: int, *, timeout_s: float = 5.0, max_body: int = 1 << 20, scheme: str = "http") -> HttpClient:
    return HttpClient(f"{scheme}://127.0.0.1:{port}/v1/x", {"A": "b"}, timeout_s=timeout_s, max_body=max_body)


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


async def post_once(port: int, **options: Any) -> Response:
    one = client(port, **options)
    try:
        return await one.post(b"body")
    finally:
        await one.close()


CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n2;x=y\r\nlo\r\n0\r\nTrailer: 1\r\n\r\n"
WHOLE = [
    pytest.param([OK], id="content-length"),
    pytest.param([CHUNKED], id="chunked"),
    pytest.param([bytes([byte]) for byte in CHUNKED], id="chunked-a-byte-at-a-time"),
    pytest.param([b"HTTP/1.1 200 OK\r\n\r\nhel", b"lo"], id="ends-with-the-connection"),
    pytest.param([b"HTTP/1.1 100 Continue\r\n\r\n", OK], id="interim-reply-first"),
    pytest.param([b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" + OK], id="early-hints-first"),
]


@pytest.mark.parametrize("pieces", WHOLE)
def test_a_whole_reply_is_read(run: Callable[[Any], Any], pieces: list[bytes]) -> None:
    response = run(with_server(sends(*pieces), post_once))
    assert (response.status, response.body) == (200, b"hello")


def test_header_names_come_in_lower_case(run: Callable[[Any], Any]) -> None:
    assert run(with_server(sends(OK), post_once)).headers["x-one"] == "1"


@pytest.mark.parametrize("reply", [OK, CHUNKED], ids=["content-length", "chunked"])
def test_a_reply_that_is_cut_anywhere_is_never_an_answer(run: Callable[[Any], Any], reply: bytes) -> None:
    async def work(port: int) -> None:
        with pytest.raises(HttpError):
            await post_once(port)

    for cut in range(len(reply)):
        run(with_server(sends(reply[:cut]), work))


@pytest.mark.parametrize(
    "reply",
    [b"garbage\r\n\r\n", b"HTTP/1.1 abc\r\n\r\n", b"HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n", b"\0" * 100],
    ids=["garbage", "status", "length", "zeros"],
)
def test_what_is_no_http_is_a_fault(run: Callable[[Any], Any], reply: bytes) -> None:
    async def work(port: int) -> None:
        with pytest.raises(HttpError):
            await post_once(port)

    run(with_server(sends(reply), work))


@pytest.mark.parametrize(
    "reply",
    [
        pytest.param(b"HTTP/1.1 200 OK\r\nContent-Length: 101\r\n\r\n", id="said-to-be-too-large"),
        pytest.param(b"HTTP/1.1 200 OK\r\n\r\n" + b"x" * 101, id="too-large-without-a-length"),
        pytest.param(b"HTTP/1.1 200 OK\r\nX: " + b"y" * 300_000 + b"\r\n\r\n", id="endless-headers"),
    ],
)
def test_a_reply_over_the_limit_is_refused(run: Callable[[Any], Any], reply: bytes) -> None:
    async def work(port: int) -> None:
        with pytest.raises(BodyTooLargeError):
            await post_once(port, max_body=100)

    run(with_server(sends(reply), work))


def test_connections_are_used_again_and_closed_ones_replaced(run: Callable[[Any], Any]) -> None:
    connections = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connections.append(writer)
        for reply in (OK, OK, OK.replace(b"X-One: 1", b"Connection: close")):
            await read_request(reader)
            writer.write(reply)
            await writer.drain()

    async def work(port: int) -> None:
        one = client(port)
        for _ in range(7):
            assert (await one.post(b"x")).body == b"hello"
        await one.close()

    run(with_server(serve, work))
    assert len(connections) == 3


def test_many_posts_at_once_do_not_mix(run: Callable[[Any], Any]) -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while True:
            _, body = await read_request(reader)
            await asyncio.sleep(0)
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body))

    async def work(port: int) -> None:
        one = client(port)
        bodies = [f"{number}".encode() * 50 for number in range(200)]
        answers = await asyncio.gather(*(one.post(body) for body in bodies))
        assert [answer.body for answer in answers] == bodies
        await one.close()

    run(with_server(serve, work))


@pytest.mark.parametrize("how", ["time-limit", "cancelled"])
def test_giving_up_breaks_the_connection(run: Callable[[Any], Any], how: str) -> None:
    async def work_with(gone: asyncio.Event, port: int) -> None:
        one = client(port, timeout_s=0.05 if how == "time-limit" else 60)
        task = asyncio.ensure_future(one.post(b"x"))
        if how == "time-limit":
            with pytest.raises(TimeoutError):
                await task
        else:
            await asyncio.sleep(0.05)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
        await asyncio.wait_for(gone.wait(), 5)  # the server sees it, and can stop working
        await one.close()

    async def main() -> None:
        gone = asyncio.Event()

        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await read_request(reader)
            with contextlib.suppress(ConnectionError):
                await reader.read()
            gone.set()

        await with_server(serve, lambda port: work_with(gone, port))

    run(main())


def test_no_server_is_an_os_error(run: Callable[[Any], Any]) -> None:
    async def work(port: int) -> int:
        return port

    async def main() -> None:
        port = await with_server(sends(OK), work)
        with pytest.raises(ConnectionRefusedError):
            await post_once(port)

    run(main())


def test_pieces_are_handed_on_as_they_come(run: Callable[[Any], Any]) -> None:
    async def work(port: int) -> list[bytes]:
        pieces: list[bytes] = []
        one = client(port)
        response = await one.post(b"x", pieces.append)
        await one.close()
        assert response.body == b""
        return pieces

    assert b"".join(run(with_server(sends(CHUNKED), work))) == b"hello"


# ── TLS and proxies ──────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A certificate for 127.0.0.1, and its key, in one file."""
    if shutil.which("openssl") is None:
        pytest.skip("there is no openssl command to make a certificate with")
    folder = tmp_path_factory.mktemp("tls")
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", folder / "key.pem", "-out",
         folder / "cert.pem", "-days", "2", "-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"],
        check=True, capture_output=True,
    )  # fmt: skip
    whole = folder / "both.pem"
    whole.write_bytes((folder / "cert.pem").read_bytes() + (folder / "key.pem").read_bytes())
    return whole


def server_tls(certificate: Path) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    return context


def test_tls_with_a_known_certificate(
    run: Callable[[Any], Any], certificate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))

    async def work(port: int) -> Response:
        return await post_once(port, scheme="https")

    assert run(with_server(sends(OK), work, tls=server_tls(certificate))).body == b"hello"


def test_tls_with_an_unknown_certificate_is_refused(run: Callable[[Any], Any], certificate: Path) -> None:
    async def work(port: int) -> None:
        with pytest.raises(OSError, match=r"(?i)certificate"):
            await post_once(port, scheme="https")

    run(with_server(sends(OK), work, tls=server_tls(certificate)))


def test_an_http_proxy_gets_the_whole_address_and_its_credentials(
    run: Callable[[Any], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    heads = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heads.append((await read_request(reader))[0])
        writer.write(OK)

    async def work(port: int) -> None:
        monkeypatch.setenv("http_proxy", f"http://me:pass@127.0.0.1:{port}")
        monkeypatch.setenv("no_proxy", "")
        one = HttpClient("http://models.example/v1/x", {}, timeout_s=5, max_body=100)
        assert (await one.post(b"x")).body == b"hello"
        await one.close()

    run(with_server(serve, work))
    assert heads[0].startswith(b"POST http://models.example/v1/x HTTP/1.1\r\n")
    assert b"Proxy-Authorization: Basic bWU6cGFzcw==" in heads[0]


def test_tls_goes_through_a_proxy_in_a_tunnel(
    run: Callable[[Any], Any], certificate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    monkeypatch.setenv("no_proxy", "")

    async def with_proxy(server_port: int) -> Response:
        async def proxy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            head = await reader.readuntil(b"\r\n\r\n")
            assert head.startswith(b"CONNECT 127.0.0.1:%d HTTP/1.1" % server_port)
            there_reader, there_writer = await asyncio.open_connection("127.0.0.1", server_port)
            writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
            await asyncio.gather(pump(reader, there_writer), pump(there_reader, writer))

        async def work(proxy_port: int) -> Response:
            monkeypatch.setenv("https_proxy", f"http://127.0.0.1:{proxy_port}")
            monkeypatch.setattr("benchbook.providers.http_client.proxy_bypass", lambda host: False)
            return await post_once(server_port, scheme="https")

        return await with_server(proxy, work)

    assert run(with_server(sends(OK), with_proxy, tls=server_tls(certificate))).body == b"hello"


async def pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while data := await reader.read(65536):
            writer.write(data)
    except ConnectionError:
        pass
    finally:
        writer.close()
