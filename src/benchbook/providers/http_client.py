"""POSTs to one address over connections that are kept open: TLS, proxies, time limits, bounded bodies.

Our own, because it is the runner's hot path: the same exchange costs aiohttp three times the CPU (docs/decisions/0005).
Nothing here is general: one method, one path, no redirects, no cookies, no compression.
"""

from __future__ import annotations

import asyncio
import base64
import ssl
from collections import deque
from urllib.parse import SplitResult, unquote, urlsplit
from urllib.request import getproxies, proxy_bypass

from benchbook.providers.http_connection import BodyHandler, Connection, HttpError, Response

__all__ = ["HttpClient"]


class HttpClient:
    """Posts bytes to `url`. Belongs to one event loop; `close` it there.

    The proxy that the environment names for this address is used (`https_proxy`, `http_proxy`, `no_proxy`).
    """

    def __init__(self, url: str, headers: dict[str, str], *, timeout_s: float, max_body: int) -> None:
        parts = urlsplit(url)
        self._host = parts.hostname or ""
        self._port = parts.port or (443 if parts.scheme == "https" else 80)
        self._tls = ssl.create_default_context() if parts.scheme == "https" else None
        self._timeout_s = timeout_s
        self._max_body = max_body
        self._proxy = _proxy_for(parts)
        self._head = self._request_head(parts, headers)
        self._idle: deque[Connection] = deque()

    def _request_head(self, parts: SplitResult, headers: dict[str, str]) -> bytes:
        target = parts.path or "/"
        if self._proxy is not None and self._tls is None:
            target = f"http://{parts.netloc}{target}"
            headers = headers | _proxy_authorization(self._proxy)
        lines = [
            f"POST {target} HTTP/1.1",
            f"Host: {parts.netloc}",
            *(f"{name}: {value}" for name, value in headers.items()),
        ]
        return ("\r\n".join(lines) + "\r\nContent-Length: ").encode("latin-1")

    async def post(self, body: bytes, on_body: BodyHandler | None = None) -> Response:
        """The whole reply, whatever its status.

        Raises: TimeoutError when it is not whole in time; HttpError; OSError when no connection can be made.
        """
        loop, task = asyncio.get_running_loop(), asyncio.current_task()
        assert task is not None  # noqa: S101 - we are in one
        limit = _Limit(task)
        timer = loop.call_later(self._timeout_s, limit.reach)
        try:
            connection = self._idle_connection() or await self._connect()
            request = b"%b%d\r\n\r\n%b" % (self._head, len(body), body)
            response = await connection.exchange(request, self._max_body, on_body)
        except asyncio.CancelledError:
            if limit.reached and task.uncancel() == 0:
                raise TimeoutError from None
            raise
        finally:
            timer.cancel()
        if connection.usable:
            self._idle.append(connection)
        else:
            connection.close()
        return response

    def _idle_connection(self) -> Connection | None:
        """The one used last: it is the least likely to have been closed meanwhile."""
        while self._idle:
            connection = self._idle.pop()
            if connection.usable:
                return connection
            connection.close()
        return None

    async def _connect(self) -> Connection:
        loop = asyncio.get_running_loop()
        name = self._host if self._tls is not None else None
        if self._proxy is None:
            _, connection = await loop.create_connection(
                Connection, self._host, self._port, ssl=self._tls, server_hostname=name
            )
            return connection
        proxy = self._proxy
        transport, connection = await loop.create_connection(Connection, proxy.hostname or "", proxy.port or 80)
        if self._tls is None:
            return connection
        return await self._tunnel(transport, connection, proxy)

    async def _tunnel(self, transport: asyncio.Transport, connection: Connection, proxy: SplitResult) -> Connection:
        """TLS through a proxy (RFC 9110, section 9.3.6)."""
        place = f"{self._host}:{self._port}"
        head = _head(f"CONNECT {place} HTTP/1.1", {"Host": place} | _proxy_authorization(proxy))
        status = await connection.connect_through(head + b"\r\n")
        if status != 200:
            connection.close()
            raise HttpError(f"the proxy refuses to connect to {place} (status {status})")
        inner = Connection()
        assert self._tls is not None  # noqa: S101 - a tunnel is for TLS
        secured = await asyncio.get_running_loop().start_tls(transport, inner, self._tls, server_hostname=self._host)
        if secured is None:
            raise HttpError("TLS through the proxy failed")
        inner.connection_made(secured)
        return inner

    async def close(self) -> None:
        while self._idle:
            self._idle.pop().close()
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


def _proxy_for(parts: SplitResult) -> SplitResult | None:
    if not parts.hostname or proxy_bypass(parts.hostname):
        return None
    proxies = getproxies()
    found = proxies.get(parts.scheme) or proxies.get("all")
    if not found:
        return None
    proxy = urlsplit(found if "//" in found else f"http://{found}")
    return proxy if proxy.scheme == "http" and proxy.hostname else None


def _proxy_authorization(proxy: SplitResult) -> dict[str, str]:
    if proxy.username is None:
        return {}
    pair = f"{unquote(proxy.username)}:{unquote(proxy.password or '')}".encode()
    return {"Proxy-Authorization": "Basic " + base64.b64encode(pair).decode("ascii")}
