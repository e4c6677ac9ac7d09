"""POSTs to one address over connections that are kept open: TLS, proxies, time limits, bounded bodies.

Our own, because it is the runner's hot path: the same exchange costs aiohttp three times the CPU (docs/decisions/0005).
Nothing here is general: one method, one path, no redirects, no cookies, no compression.
"""

from __future__ import annotations

import asyncio
import base64
import ipaddress
import ssl
from collections import deque
from urllib.parse import SplitResult, unquote, urlsplit
from urllib.request import getproxies, proxy_bypass

from benchbook.errors import ConfigError
from benchbook.providers.http_connection import BodyHandler, Connection, HttpError, Response
from benchbook.providers.secrets import redact

__all__ = ["HttpClient"]


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

    def _request_head(self, parts: SplitResult, headers: dict[str, str]) -> bytes:
        target = parts.path or "/"
        if self._proxy is not None and self._tls is None:
            target = f"http://{parts.netloc}{target}"
            headers = headers | _proxy_authorization(self._proxy)
        return _head(f"POST {target} HTTP/1.1", {"Host": parts.netloc} | headers) + b"Content-Length: "

    async def post(self, body: bytes, on_body: BodyHandler | None = None) -> Response:
        """The whole reply, whatever its status.

        Raises: TimeoutError when it is not whole in time; HttpError; OSError when no connection can be made.
        """
        loop, task = asyncio.get_running_loop(), asyncio.current_task()
        assert task is not None  # noqa: S101 - we are in one
        cancelling = task.cancelling()
        limit = _Limit(task)
        timer = loop.call_later(self._timeout_s, limit.reach)
        try:
            connection = self._idle_connection() or await self._connect()
            request = b"%b%d\r\n\r\n%b" % (self._head, len(body), body)
            response = await connection.exchange(request, self._max_body, on_body)
        except asyncio.CancelledError:
            if limit.reached and task.uncancel() <= cancelling:
                raise TimeoutError from None
            raise
        finally:
            timer.cancel()
        if connection.usable:
            self._idle.append(connection)
        else:
            connection.abort()
        return response

    def _idle_connection(self) -> Connection | None:
        """The one used last: it is the least likely to have been closed meanwhile."""
        while self._idle:
            connection = self._idle.pop()
            if connection.usable:
                return connection
        return None

    async def _connect(self) -> Connection:
        if self._proxy is not None:
            return await self._connect_by_proxy(self._proxy)
        _, connection = await _open(self._host, self._port, self._tls)
        return connection

    async def _connect_by_proxy(self, proxy: SplitResult) -> Connection:
        """For TLS through a tunnel (RFC 9110, section 9.3.6)."""
        transport, connection = await _open(proxy.hostname or "", proxy.port or 80, None)
        if self._tls is None:
            return connection
        place = f"[{self._host}]:{self._port}" if ":" in self._host else f"{self._host}:{self._port}"
        head = _head(f"CONNECT {place} HTTP/1.1", {"Host": place} | _proxy_authorization(proxy))
        status = await connection.connect_through(head + b"\r\n")
        if status != 200:
            connection.abort()
            raise HttpError(f"the proxy refuses to connect to {place} (status {status})")
        inner = Connection()
        secured = await asyncio.get_running_loop().start_tls(transport, inner, self._tls, server_hostname=self._host)
        if secured is None:
            raise HttpError("TLS through the proxy failed")
        inner.connection_made(secured)
        return inner

    async def close(self) -> None:
        while self._idle:
            self._idle.pop().abort()
        await asyncio.sleep(0)


class _Limit:
    """Cancels a task when its time is up, and remembers that it was that (as asyncio.timeout does, for less)."""

    __slots__ = ("_task", "reached")

    def __init__(self, task: asyncio.Task[object]) -> None:
        self._task = task
        self.reached = False

    def reach(self) -> None:
        self.reached = True
        self._task.cancel()


def _head(first_line: str, headers: dict[str, str]) -> bytes:
    lines = [first_line, *(f"{name}: {value}" for name, value in headers.items())]
    return ("\r\n".join(lines) + "\r\n").encode("latin-1")


async def _open(host: str, port: int, tls: ssl.SSLContext | None) -> tuple[asyncio.Transport, Connection]:
    try:
        return await asyncio.get_running_loop().create_connection(
            Connection, host, port, ssl=tls, server_hostname=host if tls is not None else None
        )
    except TimeoutError as error:  # the system's own, and not our limit, which comes as a cancellation
        raise HttpError(f"no connection ({error})") from None


def _proxy_for(parts: SplitResult, port: int) -> SplitResult | None:
    """The proxy that the environment names for an address. There is none to this machine itself.

    Raises: ConfigError for one that speaks something other than HTTP: to go past it unasked would be wrong.
    """
    host = parts.hostname or ""
    if _is_loopback(host) or proxy_bypass(host) or proxy_bypass(f"{host}:{port}"):
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


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _proxy_authorization(proxy: SplitResult) -> dict[str, str]:
    if proxy.username is None:
        return {}
    pair = f"{unquote(proxy.username)}:{unquote(proxy.password or '')}".encode()
    return {"Proxy-Authorization": "Basic " + base64.b64encode(pair).decode("ascii")}
