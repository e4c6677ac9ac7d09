"""Any OpenAI-compatible endpoint, over aiohttp: one exchange, one parse. This is the hot path."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import aiohttp
from yarl import URL

from benchbook.errors import ConfigError
from benchbook.providers.calls import Answer, CallFailed, fault_of_status
from benchbook.providers.openai_wire import ChatStream, error_detail, read_completion
from benchbook.providers.retry_after import retry_after_s
from benchbook.providers.secrets import Secret, redact

__all__ = ["DEFAULT_BASE_URL", "OpenAIProvider", "checked_base_url"]

DEFAULT_BASE_URL = "https://api.openai.com/v1"
MAX_REPLY_BYTES = 16 << 20
_NS_PER_MS = 1_000_000


def checked_base_url(url: str, setting: str) -> str:
    """`url` without a slash at its end.

    Raises: ConfigError for what is no http(s) address, and for one that holds credentials (they would end in records).
    """
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ConfigError(setting, redact(url), "an address such as https://host/v1")
    if parts.username or parts.password or parts.query:
        raise ConfigError(setting, "an address with credentials or a query in it", "the key in an environment variable")
    return url.rstrip("/")


class OpenAIProvider:
    """One model at one address. Open it inside a running event loop; close it there too."""

    def __init__(
        self,
        base_url: str,
        secret: Secret | None,
        *,
        timeout_ms: int,
        max_connections: int,
        max_reply_bytes: int = MAX_REPLY_BYTES,
    ) -> None:
        self._url = URL(f"{base_url}/chat/completions")
        self._secret = secret
        self._max_reply_bytes = max_reply_bytes
        self._proxy = _proxy_for(base_url)
        headers = {"Content-Type": "application/json", "Accept-Encoding": "identity", "User-Agent": "benchbook"}
        if secret is not None:
            headers["Authorization"] = secret.header()
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=max_connections),
            timeout=aiohttp.ClientTimeout(total=timeout_ms / 1000),
            headers=headers,
            auto_decompress=False,  # a small body must not become a large one
            cookie_jar=aiohttp.DummyCookieJar(),
        )

    async def ask(self, body: bytes) -> Answer:
        started = time.monotonic_ns()
        try:
            async with self._session.post(self._url, data=body, proxy=self._proxy, allow_redirects=False) as response:
                if response.status != 200:
                    raise await self._failure(response, started)
                if response.content_length is None and response.content_type == "text/event-stream":
                    return await self._read_stream(response, started)
                data = await self._read_body(response, started)
        except TimeoutError:
            raise CallFailed("timeout", "no whole answer within the time limit", latency_ms=_since(started)) from None
        except (aiohttp.ClientError, OSError) as error:
            detail = redact(f"{type(error).__name__}: {error}")[:300]
            raise CallFailed("provider_error", detail, retryable=True, latency_ms=_since(started)) from None
        return read_completion(data, response.headers, _since(started))

    async def close(self) -> None:
        await self._session.close()
        await asyncio.sleep(0)

    async def _read_body(self, response: aiohttp.ClientResponse, started: int) -> bytes:
        length = response.content_length
        if length is not None and length <= self._max_reply_bytes:
            data = await response.read()
        else:
            data = await self._read_bounded(response, started)
        return data if self._secret is None else self._secret.removed_from(data)

    async def _read_bounded(self, response: aiohttp.ClientResponse, started: int) -> bytes:
        blocks, size = [], 0
        if (response.content_length or 0) <= self._max_reply_bytes:
            async for block in response.content.iter_any():
                blocks.append(block)
                size += len(block)
                if size > self._max_reply_bytes:
                    break
            else:
                return b"".join(blocks)
        response.close()  # the rest is neither read nor waited for
        raise CallFailed(
            "provider_error",
            f"the reply is larger than {self._max_reply_bytes} bytes",
            status=response.status,
            latency_ms=_since(started),
        )

    async def _read_stream(self, response: aiohttp.ClientResponse, started: int) -> Answer:
        stream, size = ChatStream(), 0
        rest = b""
        async for block in response.content.iter_any():
            size += len(block)
            if size > self._max_reply_bytes:
                response.close()
                raise CallFailed("provider_error", "the stream is too long", latency_ms=_since(started))
            if self._secret is not None:
                block = self._secret.removed_from(block)
            *lines, rest = (rest + block).split(b"\n")
            for line in lines:
                stream.feed(line, _since(started))
        if not stream.done:
            raise CallFailed(
                "provider_error", "the stream ended without its end mark", retryable=True, latency_ms=_since(started)
            )
        return stream.answer(response.headers, _since(started))

    async def _failure(self, response: aiohttp.ClientResponse, started: int) -> CallFailed:
        status = response.status
        try:
            data = await self._read_body(response, started)
        except CallFailed:
            data = b""
        retryable, stops_run = fault_of_status(status)
        return CallFailed(
            "provider_error",
            f"status {status}: {error_detail(data)}" if data else f"status {status}",
            status=status,
            retryable=retryable,
            stops_run=stops_run,
            retry_after_s=_wait_of(response.headers),
            latency_ms=_since(started),
        )


def _wait_of(headers: Mapping[str, str]) -> float | None:
    return retry_after_s(headers, datetime.now(UTC))


def _since(started_ns: int) -> int:
    """Whole milliseconds, half up: 0.4 ms is 0, 0.5 ms is 1."""
    return (time.monotonic_ns() - started_ns + _NS_PER_MS // 2) // _NS_PER_MS


def _proxy_for(base_url: str) -> str | None:
    """The environment's proxy for this host, looked up once and not for every request."""
    parts = urlsplit(base_url)
    if not parts.hostname or proxy_bypass(parts.hostname):
        return None
    return getproxies().get(parts.scheme)
