"""A streamed answer in the chat completions format (server-sent events), put together line by line."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from benchbook.ask.providers.calls import Answer, ToolCalls, is_fault, normalised
from benchbook.ask.providers.error_body import is_error, read_error, told_detail
from benchbook.ask.providers.faults import error_in_200
from benchbook.ask.providers.openai_wire import (
    CompletionChoice,
    Message,
    Timings,
    UnreadableError,
    Usage,
    broken_off,
    broken_reply,
    loose_choices,
    loose_timings,
    loose_usage,
    model_ms,
    output_tokens,
    text_or_none,
    thoughts,
)
from benchbook.canonical import decode_json, ready

__all__ = ["ChatStream"]


class _Chunk(msgspec.Struct):
    choices: list[CompletionChoice] = msgspec.field(default_factory=list)
    usage: Usage | None = None
    model: str | None = None
    system_fingerprint: str | None = None
    timings: Timings | None = None
    error: Any = None
    object: Any = None
    message: Any = None
    detail: Any = None


_chunk = msgspec.json.Decoder(ready(_Chunk))
_anything = msgspec.json.Decoder()


def _read_chunk(data: bytes) -> _Chunk:
    """Raises: msgspec.DecodeError for what is no JSON; UnreadableError.

    As with a whole body, a field of an unusual type is null.
    """
    try:
        chunk: _Chunk = decode_json(data, _chunk)
    except msgspec.ValidationError:
        value = decode_json(data, _anything)
        if not isinstance(value, dict):
            return _Chunk()
        chunk = _Chunk(
            choices=loose_choices(value["choices"]) if isinstance(value.get("choices"), list) else [],
            usage=loose_usage(value.get("usage")),
            model=text_or_none(value.get("model")),
            system_fingerprint=text_or_none(value.get("system_fingerprint")),
            timings=loose_timings(value.get("timings")),
            error=value.get("error"),
            object=value.get("object"),
            message=value.get("message"),
            detail=value.get("detail"),
        )
    return chunk


class ChatStream:
    """`done` once its end mark has come. `request` is what was sent."""

    def __init__(self, request: bytes = b"{}") -> None:
        self.begun = False  # whether any line of it has come
        self.done = False
        self.time_to_first_token_ms: int | None = None
        self._request = request
        self._pieces: list[str] = []
        self._last = _Chunk()
        self._finish_reason: str | None = None
        self._has_choice = False
        self._thoughts = 0
        self._calls = ToolCalls(request)
        self._is_error = False  # the next data belong to an event of that name
        self._other = ""  # what chunks without a choice say

    @property
    def is_whole(self) -> bool:
        """Whether nothing is missing where the reply ends here (R3.6): an end mark, or a finish reason."""
        return self.done or self._finish_reason is not None

    def feed(self, line: bytes, elapsed_ms: int) -> None:
        """Take one line.

        Raises: CallFailed for an error inside the stream, and for a chunk that is no JSON or holds no text.
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
            raise broken_reply(f"a chunk of the stream is no JSON ({error})", elapsed_ms) from None
        except UnreadableError as error:
            raise broken_reply(f"in a chunk of the stream {error}", elapsed_ms) from None
        if chunk.error or self._is_error or not chunk.choices:
            self._look_for_error(chunk, data, elapsed_ms)
        for choice in chunk.choices[:1]:
            self._take(choice, elapsed_ms)
        self._last = _Chunk(
            usage=chunk.usage or self._last.usage,
            model=chunk.model or self._last.model,
            system_fingerprint=chunk.system_fingerprint or self._last.system_fingerprint,
            timings=chunk.timings or self._last.timings,
        )

    def _look_for_error(self, chunk: _Chunk, data: bytes, elapsed_ms: int) -> None:
        """Raises: CallFailed where the chunk tells one: as a field, as a whole, or by its event's name."""
        if is_error(chunk.error):
            raise error_in_200(chunk.error, self._request, elapsed_ms)
        if self._is_error or chunk.object == "error":
            raise error_in_200(decode_json(data, _anything), self._request, elapsed_ms)
        if not self._other and (chunk.message or chunk.detail):
            self._other = told_detail(read_error(decode_json(data, _anything)))

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
        """Raises: CallFailed for a stream that the server broke off, and for one without any choice."""
        said = f": {self._other}" if self._other else ""
        if not self.is_whole:
            raise broken_reply(f"the stream ended without its end mark{said}", latency_e2e_ms)
        if not self._has_choice:
            raise broken_reply(f"the stream has no choices{said}", latency_e2e_ms)
        if is_fault(self._finish_reason):
            raise broken_off(self._finish_reason, latency_e2e_ms)
        last, usage = self._last, self._last.usage or Usage()
        used, reported = output_tokens(usage)
        return Answer(
            text=self._calls.after("".join(self._pieces) if self._pieces else None),
            finish_reason=normalised(self._finish_reason),
            latency_e2e_ms=latency_e2e_ms,
            latency_model_ms=model_ms(last.timings, headers),
            time_to_first_token_ms=self.time_to_first_token_ms,
            input_tokens=usage.prompt_tokens,
            output_tokens=used,
            output_tokens_reported=reported,
            reasoning_characters=self._thoughts or None,
            model_reported=last.model,
            fingerprint=last.system_fingerprint,
        )
