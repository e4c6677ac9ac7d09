"""Any OpenAI-compatible endpoint: one exchange, one parse. This is the hot path."""

from __future__ import annotations

import re
import ssl
import time
from datetime import UTC, datetime
from urllib.parse import urlsplit

from benchbook.errors import ConfigError
from benchbook.providers.calls import Answer, CallFailed, fault_of_status
from benchbook.providers.http_client import HttpClient
from benchbook.providers.http_connection import BodyTooLargeError, HttpError, Response
from benchbook.providers.openai_wire import ChatStream, error_detail, read_completion
from benchbook.providers.retry_after import retry_after_s
from benchbook.providers.secrets import Secret, redact

__all__ = ["DEFAULT_BASE_URL", "OpenAIProvider", "checked_base_url"]

DEFAULT_BASE_URL = "https://api.openai.com/v1"
MAX_REPLY_BYTES = 16 << 20
_NS_PER_MS = 1_000_000
_PRINTABLE = re.compile("[!-~]+")


def checked_base_url(url: str, setting: str) -> str:
    """`url` without a slash at its end.

    Raises: ConfigError for what is no http(s) address, and for one that holds credentials (they would end in records).
    """
    try:
        parts = urlsplit(url)
        usable = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:  # a port that is none, or half an IPv6 address
        usable = False
    if not usable or not _PRINTABLE.fullmatch(url):
        raise ConfigError(setting, redact(url), "an address such as https://host/v1, in printable ASCII")
    if "@" in parts.netloc or "?" in url or "#" in url:
        raise ConfigError(setting, "an address with credentials or a query in it", "the key in an environment variable")
    return url.rstrip("/")


class OpenAIProvider:
    """One model at one address. Open it inside a running event loop; close it there too."""

    def __init__(
        self, base_url: str, secret: Secret | None, *, timeout_ms: int, max_reply_bytes: int = MAX_REPLY_BYTES
    ) -> None:
        self._secret = secret
        headers = {
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
            "Accept-Encoding": "identity",  # a small body must not become a large one
            "User-Agent": "benchbook",
        }
        if secret is not None:
            headers["Authorization"] = secret.header()
        url = f"{base_url}/chat/completions"
        self._client = HttpClient(url, headers, timeout_s=timeout_ms / 1000, max_body=max_reply_bytes)

    async def ask(self, body: bytes) -> Answer:
        started = time.monotonic_ns()
        stream = _Stream(started, self._secret) if b',"stream":true,' in body else None
        try:
            response = await self._client.post(body, stream.feed if stream else None)
        except TimeoutError:
            raise CallFailed("timeout", "no whole answer within the time limit", latency_ms=_since(started)) from None
        except BodyTooLargeError as error:
            raise CallFailed("provider_error", str(error), status=200, latency_ms=_since(started)) from None
        except (HttpError, OSError) as error:
            detail = redact(f"{type(error).__name__}: {error}")[:300]
            retryable = not isinstance(error, ssl.SSLCertVerificationError)
            raise CallFailed("provider_error", detail, retryable=retryable, latency_ms=_since(started)) from None
        except CallFailed as failed:  # an error inside the stream
            raise self._without_key(failed) from None
        latency_ms = _since(started)
        try:
            if response.status != 200:
                raise self._failure(response, latency_ms)
            if stream is not None:
                answer = stream.answer(response, latency_ms)
            else:
                answer = read_completion(self._clean(response.body), response.headers, latency_ms)
        except CallFailed as failed:
            raise self._without_key(failed) from None
        # Once more on what was decoded: a key may have come as escapes, or split over the pieces of a stream.
        return answer if self._secret is None else self._secret.removed_from_answer(answer)

    async def close(self) -> None:
        await self._client.close()

    def _clean(self, data: bytes) -> bytes:
        return data if self._secret is None else self._secret.removed_from(data)

    def _without_key(self, failed: CallFailed) -> CallFailed:
        if self._secret is not None:
            failed.detail = self._secret.removed_from_text(failed.detail)
        return failed

    def _failure(self, response: Response, latency_ms: int) -> CallFailed:
        status = response.status
        retryable, stops_run = fault_of_status(status)
        return CallFailed(
            "provider_error",
            f"status {status}: {error_detail(self._clean(response.body))}" if response.body else f"status {status}",
            status=status,
            retryable=retryable,
            stops_run=stops_run,
            retry_after_s=retry_after_s(response.headers, datetime.now(UTC)),
            latency_ms=latency_ms,
        )


class _Stream:
    """A streamed answer as its bytes come; a server that answers in one piece all the same is read so."""

    def __init__(self, started_ns: int, secret: Secret | None) -> None:
        self._started_ns = started_ns
        self._secret = secret
        self._stream = ChatStream()
        self._rest: list[bytes] = []  # pieces of a line that has not ended, or of an answer in one piece
        self._in_one_piece = False

    def feed(self, piece: bytes) -> None:
        """Raises: CallFailed for an error inside the stream; it ends the exchange."""
        self._rest.append(piece)
        if self._in_one_piece or b"\n" not in piece:
            return
        data = b"".join(self._rest)
        if not self._stream.begun and data.lstrip().startswith(b"{"):
            self._in_one_piece = True
            return
        *lines, rest = data.split(b"\n")
        self._rest = [rest]
        self._take(lines)

    def _take(self, lines: list[bytes]) -> None:
        elapsed_ms = _since(self._started_ns)
        for line in lines:
            self._stream.feed(line if self._secret is None else self._secret.removed_from(line), elapsed_ms)

    def answer(self, response: Response, latency_ms: int) -> Answer:
        """Raises: CallFailed for a stream without its end mark, too."""
        rest = b"".join(self._rest)
        if not self._stream.begun and rest.lstrip().startswith(b"{"):
            data = rest if self._secret is None else self._secret.removed_from(rest)
            return read_completion(data, response.headers, latency_ms)
        self._take([rest])
        if not self._stream.done:
            detail = "the stream ended without its end mark"
            raise CallFailed("provider_error", detail, retryable=True, latency_ms=latency_ms)
        return self._stream.answer(response.headers, latency_ms)


def _since(started_ns: int) -> int:
    """Whole milliseconds, half up: 0.4 ms is 0, 0.5 ms is 1."""
    return (time.monotonic_ns() - started_ns + _NS_PER_MS // 2) // _NS_PER_MS
