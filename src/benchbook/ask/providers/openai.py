"""The provider for any OpenAI-compatible endpoint: one exchange, one parse. This is the hot path."""

from __future__ import annotations

import ssl
import time
from collections.abc import Mapping

import msgspec

from benchbook.ask.providers.access import chat_url, takes_api_key
from benchbook.ask.providers.calls import Answer, CallFailed, ToolCalls, is_fault
from benchbook.ask.providers.error_body import is_error, read_error, told_detail
from benchbook.ask.providers.faults import broken_off, broken_reply, error_in_200, refusal
from benchbook.ask.providers.http_client import HttpClient
from benchbook.ask.providers.http_connection import (
    BodyTooLargeError,
    EncodingError,
    HttpError,
    Response,
    cause_of_error,
    decoded,
)
from benchbook.ask.providers.keys import Keys, Secret, redact
from benchbook.ask.providers.openai_wire import (
    Completion,
    CompletionChoice,
    Message,
    UnreadableError,
    answer_of,
    json_value,
    loose_completion,
    read_completion,
    thoughts,
)
from benchbook.canonical import decode_json, ready
from benchbook.text import one_line

MAX_REPLY_BYTES = 16 << 20
_NS_PER_MS = 1_000_000
_STREAM_LAST = b',"stream":true}'
_EVENTS = (b"data:", b"event:", b":")  # a stream of events begins with one of these


class OpenAIProvider:
    """One model at one address. Open it inside a running event loop; close it there too."""

    def __init__(
        self, base_url: str, secret: Secret | None, *, timeout_ms: int, max_reply_bytes: int = MAX_REPLY_BYTES
    ) -> None:
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
        key, proxy_key = None if secret is None else secret.reveal(), self._client.proxy_key
        self.keys = Keys(*(one for one in (key, proxy_key) if one is not None))

    async def ask(self, body: bytes) -> Answer:
        started = time.monotonic_ns()
        stream = _Stream(started, self.keys, body) if b',"stream":true,' in body or _STREAM_LAST in body else None
        try:
            response = await self._client.post(body, stream.feed if stream else None)
        except TimeoutError:
            raise CallFailed(
                "timeout", "no whole answer within the time limit", latency_ms=_since(started), cause="time_limit"
            ) from None
        except CallFailed as failed:  # an error inside the stream
            raise self.keys.removed_from_failure(failed) from None
        except (HttpError, OSError, MemoryError, RuntimeError) as error:
            raise self.keys.removed_from_failure(_broken(error, _since(started))) from None
        latency_ms = max(0, _since(started) - round(response.held_back_s * 1000))
        try:
            return self._read(response, stream, body, latency_ms)
        except CallFailed as failed:
            raise self.keys.removed_from_failure(failed) from None
        except (HttpError, MemoryError) as error:
            raise self.keys.removed_from_failure(_broken(error, latency_ms, response.status)) from None

    def _read(self, response: Response, stream: _Stream | None, request: bytes, latency_ms: int) -> Answer:
        """The answer in a response. Raises: CallFailed, HttpError."""
        if "content-encoding" in response.headers:
            response.body = decoded(response.body, response.headers["content-encoding"], self._max_reply_bytes)
            if stream is not None and response.status == 200 and response.body:
                stream.feed_late(response.body)
        if response.status != 200:
            headers, data = self.keys.removed_from_headers(response.headers), self.keys.removed_from(response.body)
            raise refusal(response.status, headers, data, request, latency_ms)
        if stream is not None:
            # Once more when it is whole: a key may have come split over the pieces of a stream.
            return self.keys.removed_from_answer(stream.answer(response, latency_ms))
        return self.keys.reading(response.body, lambda data: self._read_body(data, response, request, latency_ms))

    def _read_body(self, data: bytes, response: Response, request: bytes, latency_ms: int) -> Answer:
        try:
            return read_completion(data, response.headers, latency_ms, request)
        except CallFailed as failed:
            if failed.cause != "broken_reply" or not data.lstrip().startswith(_EVENTS):
                raise
        return self._read_events(data, response, request, latency_ms)

    def _read_events(self, body: bytes, response: Response, request: bytes, latency_ms: int) -> Answer:
        """The answer in a stream that was not asked for; the times of its pieces are unknown."""
        stream = _Stream(0, self.keys, request)
        stream.feed_late(body)
        return stream.answer(response, latency_ms)

    async def close(self) -> None:
        await self._client.close()


def _broken(error: Exception, latency_ms: int, status: int | None = None) -> CallFailed:
    """The failure for an error below the reply's text.

    Raises: `error` if it is a fault of our own.
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
    """A streamed answer, read as its bytes come; a server that answers in one piece instead is read too."""

    def __init__(self, started_ns: int, keys: Keys, request: bytes) -> None:
        self._started_ns = started_ns
        self._keys = keys
        self._request = request
        self._stream = ChatStream(request)
        self._rest: list[bytes] = []  # pieces of a line that has not ended, or of an answer in one piece
        self._in_one_piece = False

    def feed(self, piece: bytes) -> bool:
        """Take one piece, and return True if the stream is whole with it.

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
        """Take all of it at once; the times of its pieces are unknown."""
        self.feed(data)
        self._stream.time_to_first_token_ms = None

    def _take(self, lines: list[bytes]) -> None:
        elapsed_ms = _since(self._started_ns)
        for line in lines:
            self._stream.feed(self._keys.removed_from(line), elapsed_ms)

    def answer(self, response: Response, latency_ms: int) -> Answer:
        """The whole answer. Raises: CallFailed, also for a stream that is not whole."""
        rest = b"".join(self._rest)
        if not self._stream.begun and rest.lstrip().startswith((b"{", b"[")):
            return self._keys.reading(
                rest, lambda data: read_completion(data, response.headers, latency_ms, self._request)
            )
        self._take([rest])
        if not self._stream.begun:
            raise broken_reply("status 200, but the body is empty", latency_ms)
        return self._stream.answer(response.headers, latency_ms)


def _since(started_ns: int) -> int:
    """Whole milliseconds since `started_ns`, rounded half up: 0.4 ms is 0, 0.5 ms is 1."""
    return (time.monotonic_ns() - started_ns + _NS_PER_MS // 2) // _NS_PER_MS


# ── a stream of events ───────────────────────────────────────────────────────────────────────────────────────


_chunk = msgspec.json.Decoder(ready(Completion))
_anything = msgspec.json.Decoder()
_CHUNK = "a chunk of the stream"


def _read_chunk(data: bytes) -> Completion:
    """One chunk of a stream. As in a whole body, a field of an unusual type is null.

    Raises: msgspec.DecodeError if it is not JSON; UnreadableError.
    """
    try:
        chunk: Completion = decode_json(data, _chunk)
    except msgspec.ValidationError:
        value = decode_json(data, _anything)
        return loose_completion(value) if isinstance(value, dict) else Completion()
    return chunk


class ChatStream:
    """The answer to `request` in a stream of events, read line by line. `done` is set by its end mark."""

    def __init__(self, request: bytes = b"{}") -> None:
        self.begun = False  # a line of it has come
        self.done = False
        self.time_to_first_token_ms: int | None = None
        self._request = request
        self._pieces: list[str] = []
        self._last = Completion()
        self._finish_reason: str | None = None
        self._has_choice = False
        self._thoughts = 0
        self._calls = ToolCalls(request)
        self._is_error = False  # the next data belongs to an event named `error`
        self._other = ""  # the words of chunks without a choice

    @property
    def is_whole(self) -> bool:
        """True if the reply may end here (R3.6): it has an end mark or a finish reason."""
        return self.done or self._finish_reason is not None

    def feed(self, line: bytes, elapsed_ms: int) -> None:
        """Take one line.

        Raises: CallFailed for an error inside the stream, and for a chunk that is not JSON or whose content is no text.
        """
        if self.done:
            return
        self.begun = self.begun or bool(line.strip())
        if not line.startswith(b"data:"):
            if line.startswith(b"event:"):
                self._is_error = line[6:].strip().lower() == b"error"
            return
        data = line[5:].strip()
        if data == b"[DONE]":
            self.done = True
            return
        try:
            chunk = _read_chunk(data)
        except msgspec.DecodeError as error:
            raise broken_reply(f"{_CHUNK} is no JSON ({error})", elapsed_ms) from None
        except UnreadableError as error:
            raise broken_reply(f"in a chunk of the stream {error}", elapsed_ms) from None
        if chunk.error or self._is_error or not chunk.choices:
            self._look_for_error(chunk, data, elapsed_ms)
        for choice in chunk.choices[:1]:
            self._take(choice, elapsed_ms)
        self._last = Completion(
            usage=chunk.usage or self._last.usage,
            model=chunk.model or self._last.model,
            system_fingerprint=chunk.system_fingerprint or self._last.system_fingerprint,
            timings=chunk.timings or self._last.timings,
        )

    def _look_for_error(self, chunk: Completion, data: bytes, elapsed_ms: int) -> None:
        """Raises: CallFailed if the chunk is an error, by a field, as a whole, or by its event's name."""
        if is_error(chunk.error):
            raise error_in_200(chunk.error, self._request, elapsed_ms)
        if self._is_error or chunk.object == "error":
            raise error_in_200(json_value(data, _CHUNK, elapsed_ms), self._request, elapsed_ms)
        if not self._other and (chunk.message or chunk.detail):
            self._other = told_detail(read_error(json_value(data, _CHUNK, elapsed_ms)))

    def _take(self, choice: CompletionChoice, elapsed_ms: int) -> None:
        if is_error(choice.error):
            raise error_in_200(choice.error, self._request, elapsed_ms)
        self._has_choice = True
        delta = choice.delta or choice.message or Message()
        content = delta.content or choice.text
        if content:
            if self.time_to_first_token_ms is None:
                self.time_to_first_token_ms = elapsed_ms
            self._pieces.append(content)
        self._calls.add(delta.tool_calls)
        self._thoughts += thoughts(delta) or 0
        self._finish_reason = choice.finish_reason or self._finish_reason

    def answer(self, headers: Mapping[str, str], latency_e2e_ms: int) -> Answer:
        """The whole answer. Raises: CallFailed for a stream that the server broke off, or one without any choice."""
        said = f": {self._other}" if self._other else ""
        if not self.is_whole:
            raise broken_reply(f"the stream ended without its end mark{said}", latency_e2e_ms)
        if not self._has_choice:
            raise broken_reply(f"the stream has no choices{said}", latency_e2e_ms)
        if is_fault(self._finish_reason):
            raise broken_off(self._finish_reason, latency_e2e_ms)
        text = self._calls.after("".join(self._pieces) if self._pieces else None)
        n_thoughts, first_ms = self._thoughts or None, self.time_to_first_token_ms
        return answer_of(self._last, text, self._finish_reason, n_thoughts, headers, latency_e2e_ms, first_ms)
