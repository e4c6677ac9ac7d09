"""An HTTP client that connects step by step, so that a failure names its step: the name, the connection, TLS."""

from __future__ import annotations

import asyncio
import base64
import ipaddress
import socket
import ssl
import weakref
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import SplitResult, unquote, urlsplit
from urllib.request import getproxies, proxy_bypass

from benchbook.ask.providers.http_connection import BodyHandler, Connection, HttpError, Response, is_local
from benchbook.ask.providers.keys import redact
from benchbook.errors import ConfigError
from benchbook.record.facts import FailureCause

_WORDS: dict[FailureCause, str] = {
    "dns": "the name was not found",
    "connection": "the server did not take it",
    "tls": "TLS was not agreed upon",
    "proxy": "the proxy did not make it",
}


@dataclass(slots=True)
class Phase:
    """The step of connecting that is under way, and whether it leads to the proxy."""

    cause: FailureCause = "connection"
    by_proxy: bool = False

    @property
    def blamed(self) -> FailureCause:
        return "proxy" if self.by_proxy else self.cause

    @property
    def words(self) -> str:
        return _WORDS[self.blamed]


async def open_connection(
    host: str, port: int, tls: ssl.SSLContext | None, phase: Phase
) -> tuple[asyncio.Transport, Connection]:
    """Connect. Raises: OSError if the address can't be found or reached; HttpError if the system gave up."""
    loop = asyncio.get_running_loop()
    phase.cause = "dns"
    addresses = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    phase.cause = "connection"
    connected = await _connected(loop, addresses)
    phase.cause = "tls" if tls is not None else "connection"
    return await loop.create_connection(
        Connection, sock=connected, ssl=tls, server_hostname=host if tls is not None else None
    )


async def _connected(loop: asyncio.AbstractEventLoop, addresses: Sequence[tuple[Any, ...]]) -> socket.socket:
    """A socket to the first of the addresses that accepts a connection."""
    failed: OSError | None = None
    for family, kind, protocol, _, address in addresses:
        try:
            one = socket.socket(family, kind, protocol)
        except OSError as error:
            failed = failed or error
            continue
        try:
            one.setblocking(False)
            one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            await loop.sock_connect(one, address)
        except OSError as error:
            one.close()
            failed = failed or error
        except BaseException:
            one.close()
            raise
        else:
            return one
    if isinstance(failed, TimeoutError):  # the system's own: our limit comes as a cancellation
        raise HttpError(f"no connection ({failed})")
    raise failed or OSError("the name has no address")


_END_WITHIN_S = 5.0  # for a body to end after its reply was whole; then its connection is given up
_HELD_UP_S = 1.0  # a time limit that fires so late is not the server's fault: this process did not run meanwhile
_clients: weakref.WeakSet[HttpClient] = weakref.WeakSet()


class HttpClient:
    """Posts bytes to `url`. Belongs to one event loop; `close` it there.

    The proxy that the environment names for this address is used (`https_proxy`, `http_proxy`, `all_proxy`,
    `no_proxy`). Raises: ConfigError for a proxy that is no HTTP proxy.
    """

    def __init__(self, url: str, headers: dict[str, str], *, timeout_s: float, max_body: int) -> None:
        parts = urlsplit(url)
        self._host = parts.hostname or ""
        self._port = parts.port or (443 if parts.scheme == "https" else 80)
        self._tls = ssl.create_default_context() if parts.scheme == "https" else None
        self._timeout_s = timeout_s
        self._max_body = max_body
        self._proxy = _proxy_for(parts, self._port)
        self._head = self._request_head(parts, headers)
        self._idle: deque[Connection] = deque()
        self._ending: set[Connection] = set()  # their reply was whole before their body ended
        _clients.add(self)

    @property
    def proxy_key(self) -> str | None:
        """The password in the proxy's address, or else the name; None without a proxy, or without either."""
        found = None if self._proxy is None else self._proxy.password or self._proxy.username
        return None if not found else unquote(found)

    def _request_head(self, parts: SplitResult, headers: dict[str, str]) -> bytes:
        target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        if self._proxy is not None and self._tls is None:
            target = f"http://{parts.netloc}{target}"
            headers = headers | _proxy_authorization(self._proxy)
        return _head(f"POST {target} HTTP/1.1", {"Host": parts.netloc} | headers) + b"Content-Length: "

    async def post(self, body: bytes, on_body: BodyHandler | None = None) -> Response:
        """Send a request and return the whole reply, whatever its status.

        Raises: TimeoutError if the request was sent and the reply is not whole in time; HttpError; OSError
        if no connection can be made.
        """
        loop, task = asyncio.get_running_loop(), asyncio.current_task()
        assert task is not None  # noqa: S101 - we run in one
        cancelling = task.cancelling()
        limit = _Limit(task, loop.time() + self._timeout_s)
        timer = loop.call_at(limit.at_s, limit.reach, loop)
        phase: Phase | None = None
        connection: Connection | None = None
        try:
            connection = self._idle_connection()
            if connection is None:
                phase = Phase()
                connection = await self._connect(phase)
                phase = None
            request = b"%b%d\r\n\r\n%b" % (self._head, len(body), body)
            response = await connection.exchange(request, self._max_body, on_body)
        except asyncio.CancelledError:
            if not limit.reached or task.uncancel() > cancelling:
                raise
            return limit.outcome(phase, connection)
        finally:
            timer.cancel()
        if connection.usable:
            self._idle.append(connection)
        elif connection.ending:
            self._await_end(connection, loop)
        else:
            connection.abort()
        return response

    def _await_end(self, connection: Connection, loop: asyncio.AbstractEventLoop) -> None:
        """Use the connection again once its body has ended, if that happens soon."""
        timer = loop.call_later(_END_WITHIN_S, connection.abort)

        def ended(connection: Connection) -> None:
            timer.cancel()
            self._ending.discard(connection)
            if connection.usable:
                self._idle.append(connection)
            else:
                connection.abort()

        self._ending.add(connection)
        connection.on_end = ended

    def _idle_connection(self) -> Connection | None:
        """The connection used last, which is the least likely to have been closed meanwhile; None if none is idle."""
        while self._idle:
            connection = self._idle.pop()
            if connection.usable:
                return connection
        return None

    async def _connect(self, phase: Phase) -> Connection:
        """Open a new connection. Raises: OSError, HttpError."""
        try:
            if self._proxy is not None:
                return await self._connect_by_proxy(self._proxy, phase)
            _, connection = await open_connection(self._host, self._port, self._tls, phase)
        except (OSError, MemoryError, RuntimeError) as error:
            if is_local(error):
                for client in list(_clients):
                    client.drop_idle()  # each holds a file that a new connection may need more
            elif phase.by_proxy and isinstance(error, OSError):
                raise HttpError(f"the proxy: {type(error).__name__}: {error}", cause="proxy") from None
            raise
        return connection

    async def _connect_by_proxy(self, proxy: SplitResult, phase: Phase) -> Connection:
        """Connect by the proxy; for TLS, through a tunnel (RFC 9110, section 9.3.6)."""
        phase.by_proxy = True
        transport, connection = await open_connection(proxy.hostname or "", proxy.port or 80, None, phase)
        if self._tls is None:
            return connection
        place = f"[{self._host}]:{self._port}" if ":" in self._host else f"{self._host}:{self._port}"
        head = _head(f"CONNECT {place} HTTP/1.1", {"Host": place} | _proxy_authorization(proxy))
        status = await connection.connect_through(head + b"\r\n")
        if status != 200:
            connection.abort()
            raise HttpError(f"the proxy refuses to connect to {place} (status {status})", cause="proxy")
        phase.by_proxy, phase.cause = False, "tls"
        inner = Connection()
        secured = await asyncio.get_running_loop().start_tls(transport, inner, self._tls, server_hostname=self._host)
        if secured is None:
            raise HttpError("TLS through the proxy failed", cause="tls")
        inner.connection_made(secured)
        return inner

    def drop_idle(self) -> None:
        """Close the connections that no exchange uses."""
        while self._idle:
            self._idle.pop().abort()

    async def close(self) -> None:
        self.drop_idle()
        for connection in list(self._ending):
            connection.abort()
        await asyncio.sleep(0)


class _Limit:
    """Cancels a task when its time is up, and remembers having done so (as asyncio.timeout does, but cheaper)."""

    __slots__ = ("_task", "at_s", "late_s", "reached")

    def __init__(self, task: asyncio.Task[object], at_s: float) -> None:
        self._task = task
        self.at_s = at_s
        self.late_s = 0.0
        self.reached = False

    def reach(self, loop: asyncio.AbstractEventLoop) -> None:
        self.reached = True
        self.late_s = loop.time() - self.at_s
        self._task.cancel()

    def outcome(self, phase: Phase | None, connection: Connection | None) -> Response:
        """The reply as far as it came, if that is a refusal.

        Raises: the error by whose fault it is: TimeoutError only if the server was asked and this process was reading.
        """
        if self.late_s > _HELD_UP_S:
            raise HttpError(f"this process was held up for {self.late_s:.0f} s at least", cause="local")
        if phase is not None:
            raise HttpError(f"no connection within the time limit ({phase.words})", cause=phase.blamed)
        assert connection is not None  # noqa: S101 - it is made, or the phase says how far it came
        if (refusal := connection.refusal()) is not None:
            return refusal
        if connection.was_held_back:
            raise HttpError(
                "not read whole within the time limit, for want of memory: ask fewer at once", cause="local"
            )
        raise TimeoutError


def _head(first_line: str, headers: dict[str, str]) -> bytes:
    lines = [first_line, *(f"{name}: {value}" for name, value in headers.items())]
    return ("\r\n".join(lines) + "\r\n").encode("latin-1")


def _proxy_for(parts: SplitResult, port: int) -> SplitResult | None:
    """The proxy that the environment names for an address; None for this machine itself.

    Raises: ConfigError for a proxy that is not an HTTP proxy: bypassing it silently would be wrong.
    """
    host = parts.hostname or ""
    if is_loopback(host) or proxy_bypass(host) or proxy_bypass(f"{host}:{port}"):
        return None
    proxies = getproxies()
    found = proxies.get(parts.scheme) or proxies.get("all")
    if not found:
        return None
    try:
        proxy = urlsplit(found if "//" in found else f"http://{found}")
        usable = proxy.scheme == "http" and proxy.hostname and proxy.port != 0
    except ValueError:
        usable = False
    if not usable:
        raise ConfigError(
            f"{parts.scheme}_proxy", redact(found), f"http://host:port, or {host} among the hosts in no_proxy"
        )
    return proxy


def is_loopback(host: str) -> bool:
    """True for this machine itself, which is asked without a proxy."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _proxy_authorization(proxy: SplitResult) -> dict[str, str]:
    if proxy.username is None:
        return {}
    pair = f"{unquote(proxy.username)}:{unquote(proxy.password or '')}".encode()
    return {"Proxy-Authorization": "Basic " + base64.b64encode(pair).decode("ascii")}
