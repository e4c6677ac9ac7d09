"""The OpenAI chat completions format: bodies out, answers in. No network.

Servers differ: usage may be missing or null in part, times are told in several ways, errors come with status 200.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from benchbook.providers.calls import Answer, CallFailed, Generation, fault_of_status
from benchbook.providers.secrets import redact
from benchbook.records.canonical import canonical_json, decode_json

__all__ = ["ChatStream", "chat_body", "error_detail", "read_completion"]

_MAX_DETAIL = 500
# Words by which servers name an error that they send with status 200.
_STATUS_OF_WORD = {
    "rate_limit_exceeded": 429,
    "rate_limit_error": 429,
    "overloaded_error": 503,
    "server_error": 500,
    "internal_server_error": 500,
    "service_unavailable": 503,
    "timeout": 408,
    "invalid_api_key": 401,
    "authentication_error": 401,
    "permission_error": 403,
}


class _Message(msgspec.Struct):
    content: str | None = None


class _Choice(msgspec.Struct):
    message: _Message
    finish_reason: str | None = None


class _Usage(msgspec.Struct):
    prompt_tokens: int | None = None
    completion_tokens: int | None = None


class _Completion(msgspec.Struct):
    choices: list[_Choice]
    usage: _Usage | None = None
    model: str | None = None
    system_fingerprint: str | None = None
    timings: dict[str, Any] | None = None
    prompt_eval_duration: int | None = None
    eval_duration: int | None = None
    error: Any = None


_completion = msgspec.json.Decoder(_Completion)
_anything = msgspec.json.Decoder()


def chat_body(model: str, prompt: str, generation: Generation, *, stream: bool = False) -> bytes:
    """One user message (SPEC R2.3), as canonical JSON."""
    body: dict[str, Any] = {"model": model, "messages": [{"role": "user", "content": prompt}], **generation.params}
    if generation.json_schema is not None:
        schema = {"name": "reply", "strict": True, "schema": generation.json_schema}
        body["response_format"] = {"type": "json_schema", "json_schema": schema}
    if stream:
        body["stream"] = True
        body["stream_options"] = {"include_usage": True}
    return canonical_json(body)


def read_completion(data: bytes, headers: Mapping[str, str], latency_e2e_ms: int) -> Answer:
    """The answer in the body of a 200.

    Raises: CallFailed for an error object in a 200 (it counts as the status that it names), and for what is no
    completion.
    """
    try:
        completion: _Completion = _completion.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError):
        completion = _read_loosely(data, latency_e2e_ms)
    if completion.error and not completion.choices:
        raise error_in_200(completion.error, latency_e2e_ms)
    choice = completion.choices[0] if completion.choices else _Choice(_Message())
    usage = completion.usage or _Usage()
    return Answer(
        text=choice.message.content,
        finish_reason=choice.finish_reason,
        latency_e2e_ms=latency_e2e_ms,
        latency_model_ms=_model_ms(completion, headers),
        input_tokens=usage.prompt_tokens,
        output_tokens=usage.completion_tokens,
        model_reported=completion.model,
        fingerprint=completion.system_fingerprint,
    )


def _read_loosely(data: bytes, latency_ms: int) -> _Completion:
    """A body with a field of an unusual type: what can be read is read, the rest is null."""
    try:
        value = decode_json(data, _anything)
    except msgspec.DecodeError as error:
        raise CallFailed(
            "provider_error",
            f"status 200, but the body is no JSON ({error})",
            status=200,
            retryable=True,
            latency_ms=latency_ms,
        ) from None
    if not isinstance(value, dict):
        value = {}
    if not isinstance(value.get("choices"), list):
        if value.get("error"):
            raise error_in_200(value["error"], latency_ms)
        raise CallFailed("provider_error", "status 200, but the body has no choices", status=200, latency_ms=latency_ms)
    choices = [_loose_choice(choice) for choice in value["choices"] if isinstance(choice, dict)]
    usage = value.get("usage")
    return _Completion(
        choices=choices,
        usage=_loose_usage(usage) if isinstance(usage, dict) else None,
        model=_text_or_none(value.get("model")),
        system_fingerprint=_text_or_none(value.get("system_fingerprint")),
        timings=value["timings"] if isinstance(value.get("timings"), dict) else None,
        prompt_eval_duration=_whole(value.get("prompt_eval_duration")),
        eval_duration=_whole(value.get("eval_duration")),
        error=value.get("error"),
    )


def _loose_choice(choice: dict[str, Any]) -> _Choice:
    message = choice.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    if isinstance(content, list):  # parts: [{"type": "text", "text": …}, …]
        parts = [part.get("text") for part in content if isinstance(part, dict)]
        content = "".join(part for part in parts if isinstance(part, str)) or None
    return _Choice(_Message(_text_or_none(content)), _text_or_none(choice.get("finish_reason")))


def _loose_usage(usage: dict[str, Any]) -> _Usage:
    return _Usage(_whole(usage.get("prompt_tokens")), _whole(usage.get("completion_tokens")))


def _text_or_none(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _whole(value: Any) -> int | None:
    """A count, or null: `12` and `12.0` are counts; anything else is not guessed at."""
    if isinstance(value, bool) or not isinstance(value, int | float) or value < 0 or value != int(value):
        return None
    return int(value)


def _model_ms(completion: _Completion, headers: Mapping[str, str]) -> int | None:
    """The server's own time: llama.cpp's `timings`, Ollama's durations (nanoseconds), or OpenAI's header."""
    timings = completion.timings
    if timings is not None:
        parts = [timings.get("prompt_ms"), timings.get("predicted_ms")]
        known = [part for part in parts if isinstance(part, int | float) and part >= 0]
        if known:
            return round(sum(known))
    durations = [ns for ns in (completion.prompt_eval_duration, completion.eval_duration) if ns is not None]
    if durations:
        return round(sum(durations) / 1_000_000)
    header = headers.get("openai-processing-ms")
    return int(header) if header is not None and header.isascii() and header.isdigit() else None


def error_in_200(error: Any, latency_ms: int) -> CallFailed:
    """A 200 whose body is an error counts as the status that it names, else as a plain provider_error (R3.6)."""
    status = _status_named_by(error)
    retryable, stops_run = fault_of_status(status) if status is not None else (False, False)
    return CallFailed(
        "provider_error",
        f"status 200 with an error inside: {_describe(error)}",
        status=200 if status is None else status,
        retryable=retryable,
        stops_run=stops_run,
        latency_ms=latency_ms,
    )


def _status_named_by(error: Any) -> int | None:
    if not isinstance(error, dict):
        return None
    for key in ("code", "status", "type"):
        value = error.get(key)
        if isinstance(value, str):
            value = int(value) if value.isascii() and value.isdigit() else _STATUS_OF_WORD.get(value)
        if isinstance(value, int) and not isinstance(value, bool) and 400 <= value <= 599:
            return value
    return None


def error_detail(data: bytes) -> str:
    """What the body of an error says, shortened, keys removed."""
    try:
        value = decode_json(data, _anything)
    except msgspec.DecodeError:
        return redact(data[:_MAX_DETAIL].decode("utf-8", "replace"))
    return _describe(value.get("error", value) if isinstance(value, dict) else value)


def _describe(error: Any) -> str:
    if isinstance(error, dict):
        words = [str(error[key]) for key in ("code", "type", "message", "detail") if error.get(key)]
        text = ": ".join(words) or canonical_json(error).decode("utf-8", "replace")
    else:
        text = str(error)
    return redact(text)[:_MAX_DETAIL]


class _Delta(msgspec.Struct):
    content: str | None = None


class _ChunkChoice(msgspec.Struct):
    delta: _Delta = msgspec.field(default_factory=_Delta)
    finish_reason: str | None = None


class _Chunk(msgspec.Struct):
    choices: list[_ChunkChoice] = msgspec.field(default_factory=list)
    usage: _Usage | None = None
    model: str | None = None
    system_fingerprint: str | None = None
    timings: dict[str, Any] | None = None
    error: Any = None


_chunk = msgspec.json.Decoder(_Chunk)


class ChatStream:
    """A streamed answer (server-sent events), put together line by line. `done` once its end mark has come."""

    def __init__(self) -> None:
        self.begun = False  # whether any line of it has come
        self.done = False
        self.time_to_first_token_ms: int | None = None
        self._pieces: list[str] = []
        self._last = _Chunk()
        self._finish_reason: str | None = None

    def feed(self, line: bytes, elapsed_ms: int) -> None:
        """Take one line.

        Raises: CallFailed for an error inside the stream, and for a chunk that is no JSON.
        """
        self.begun = self.begun or bool(line.strip())
        if not line.startswith(b"data:"):
            return
        data = line[5:].strip()
        if data == b"[DONE]":
            self.done = True
            return
        try:
            chunk: _Chunk = decode_json(data, _chunk)
        except msgspec.DecodeError as error:
            raise CallFailed(
                "provider_error", f"a chunk of the stream is no JSON ({error})", retryable=True, latency_ms=elapsed_ms
            ) from None
        if chunk.error:
            raise error_in_200(chunk.error, elapsed_ms)
        for choice in chunk.choices[:1]:
            if choice.delta.content:
                if self.time_to_first_token_ms is None:
                    self.time_to_first_token_ms = elapsed_ms
                self._pieces.append(choice.delta.content)
            self._finish_reason = choice.finish_reason or self._finish_reason
        self._last = _Chunk(
            usage=chunk.usage or self._last.usage,
            model=chunk.model or self._last.model,
            system_fingerprint=chunk.system_fingerprint or self._last.system_fingerprint,
            timings=chunk.timings or self._last.timings,
        )

    def answer(self, headers: Mapping[str, str], latency_e2e_ms: int) -> Answer:
        last, usage = self._last, self._last.usage or _Usage()
        return Answer(
            text="".join(self._pieces) if self._pieces else None,
            finish_reason=self._finish_reason,
            latency_e2e_ms=latency_e2e_ms,
            latency_model_ms=_model_ms(_Completion(choices=[], timings=last.timings), headers),
            time_to_first_token_ms=self.time_to_first_token_ms,
            input_tokens=usage.prompt_tokens,
            output_tokens=usage.completion_tokens,
            model_reported=last.model,
            fingerprint=last.system_fingerprint,
        )
