"""Any OpenAI-compatible endpoint: one exchange, one parse. This is the hot path."""

from __future__ import annotations

import ssl
import time
import zlib

from benchbook.ask.providers.access import Secret, chat_url, redact, takes_api_key
from benchbook.ask.providers.calls import Answer, CallFailed
from benchbook.ask.providers.faults import refusal
from benchbook.ask.providers.http_client import HttpClient
from benchbook.ask.providers.http_connection import BodyTooLargeError, HttpError, Response, cause_of_error
from benchbook.ask.providers.openai_stream import ChatStream
from benchbook.ask.providers.openai_wire import broken_reply, read_completion
from benchbook.text import one_line

__all__ = ["DEFAULT_BASE_URL", "EncodingError", "OpenAIProvider", "decoded"]


_GZIP, _ZLIB, _RAW = 31, 15, -15  # zlib's window bits for each


class EncodingError(HttpError):
    """A `Content-Encoding` that can't be read. Asking again would bring it again."""


def decoded(body: bytes, encoding: str, limit: int) -> bytes:
    """`body` as it was before it was compressed, at most `limit` bytes.

    Raises: EncodingError; BodyTooLargeError; HttpError for what is not what its header says, or is cut.
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


DEFAULT_BASE_URL = "https://api.openai.com/v1"
MAX_REPLY_BYTES = 16 << 20
_NS_PER_MS = 1_000_000
_STREAM_LAST = b',"stream":true}'
_EVENTS = (b"data:", b"event:", b":")  # how a stream of events begins


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
            if takes_api_key(base_url):
                headers["api-key"] = secret.reveal()
        self._max_reply_bytes = max_reply_bytes
        self._client = HttpClient(chat_url(base_url), headers, timeout_s=timeout_ms / 1000, max_body=max_reply_bytes)

    async def ask(self, body: bytes) -> Answer:
        started = time.monotonic_ns()
        stream = _Stream(started, self._secret, body) if b',"stream":true,' in body or _STREAM_LAST in body else None
        try:
            response = await self._client.post(body, stream.feed if stream else None)
        except TimeoutError:
            raise CallFailed(
                "timeout", "no whole answer within the time limit", latency_ms=_since(started), cause="time_limit"
            ) from None
        except CallFailed as failed:  # an error inside the stream
            raise self._without_key(failed) from None
        except (HttpError, OSError, MemoryError, RuntimeError) as error:
            raise _broken(error, _since(started)) from None
        latency_ms = _since(started)
        try:
            return self._read(response, stream, body, latency_ms)
        except CallFailed as failed:
            raise self._without_key(failed) from None
        except (HttpError, MemoryError) as error:
            raise _broken(error, latency_ms, response.status) from None

    def _read(self, response: Response, stream: _Stream | None, request: bytes, latency_ms: int) -> Answer:
        """Raises: CallFailed, HttpError."""
        if "content-encoding" in response.headers:
            response.body = decoded(response.body, response.headers["content-encoding"], self._max_reply_bytes)
            if stream is not None and response.status == 200 and response.body:
                stream.feed_late(response.body)
        if response.status != 200:
            raise refusal(response.status, response.headers, self._clean(response.body), request, latency_ms)
        if stream is not None:
            answer = stream.answer(response, latency_ms)
        else:
            body = self._clean(response.body)
            try:
                answer = read_completion(body, response.headers, latency_ms, request)
            except CallFailed as failed:
                if failed.cause != "broken_reply" or not body.lstrip().startswith(_EVENTS):
                    raise
                answer = self._read_events(body, response, request, latency_ms)
        # Once more on what was decoded: a key may have come as escapes, or split over the pieces of a stream.
        return answer if self._secret is None else self._secret.removed_from_answer(answer)

    def _read_events(self, body: bytes, response: Response, request: bytes, latency_ms: int) -> Answer:
        """A stream that nobody asked for: its moments were not seen."""
        stream = _Stream(0, self._secret, request)
        stream.feed_late(body)
        return stream.answer(response, latency_ms)

    async def close(self) -> None:
        await self._client.close()

    def _clean(self, data: bytes) -> bytes:
        return data if self._secret is None else self._secret.removed_from(data)

    def _without_key(self, failed: CallFailed) -> CallFailed:
        if self._secret is not None:
            failed.detail = self._secret.removed_from_text(failed.detail)
        return failed


def _broken(error: Exception, latency_ms: int, status: int | None = None) -> CallFailed:
    """What went wrong below the reply's text.

    Raises: `error` where it is a fault of ours.
    """
    local = cause_of_error(error)
    if isinstance(error, RuntimeError) and local != "local":
        raise error
    stops_run = isinstance(error, ssl.SSLCertVerificationError)
    is_final = stops_run or isinstance(error, BodyTooLargeError | EncodingError)
    return CallFailed(
        "provider_error",
        str(error) if is_final and not stops_run else one_line(redact(f"{type(error).__name__}: {error}"))[:300],
        status=200 if isinstance(error, BodyTooLargeError | EncodingError) else status,
        retryable=not is_final,
        stops_run=stops_run,
        latency_ms=latency_ms,
        cause=error.cause if isinstance(error, HttpError) else local,
    )


class _Stream:
    """A streamed answer as its bytes come; a server that answers in one piece all the same is read so."""

    def __init__(self, started_ns: int, secret: Secret | None, request: bytes) -> None:
        self._started_ns = started_ns
        self._secret = secret
        self._request = request
        self._stream = ChatStream(request)
        self._rest: list[bytes] = []  # pieces of a line that has not ended, or of an answer in one piece
        self._in_one_piece = False

    def feed(self, piece: bytes) -> bool:
        """Whether the stream is whole with this piece.

        Raises: CallFailed for an error inside the stream; it ends the exchange.
        """
        self._rest.append(piece)
        if self._in_one_piece or b"\n" not in piece:
            return False
        data = b"".join(self._rest)
        if not self._stream.begun and data.lstrip().startswith((b"{", b"[")):
            self._in_one_piece = True
            return False
        *lines, rest = data.split(b"\n")
        self._rest = [rest]
        self._take(lines)
        return self._stream.done

    def feed_late(self, data: bytes) -> None:
        """All of it at once: when its pieces came is not known."""
        self.feed(data)
        self._stream.time_to_first_token_ms = None

    def _take(self, lines: list[bytes]) -> None:
        elapsed_ms = _since(self._started_ns)
        for line in lines:
            self._stream.feed(line if self._secret is None else self._secret.removed_from(line), elapsed_ms)

    def answer(self, response: Response, latency_ms: int) -> Answer:
        """Raises: CallFailed, also for a stream that is not whole."""
        rest = b"".join(self._rest)
        if not self._stream.begun and rest.lstrip().startswith((b"{", b"[")):
            data = rest if self._secret is None else self._secret.removed_from(rest)
            return read_completion(data, response.headers, latency_ms, self._request)
        self._take([rest])
        if not self._stream.begun:
            raise broken_reply("status 200, but the body is empty", latency_ms)
        return self._stream.answer(response.headers, latency_ms)


def _since(started_ns: int) -> int:
    """Whole milliseconds, half up: 0.4 ms is 0, 0.5 ms is 1."""
    return (time.monotonic_ns() - started_ns + _NS_PER_MS // 2) // _NS_PER_MS
