"""The OpenAI chat completions format: bodies out, answers in. No network.

Servers differ: usage may be missing or null in part, times are told in several ways, errors come with status 200.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Any

import msgspec

from benchbook.canonical import canonical_json, decode_json, ready
from benchbook.providers.calls import Answer, CallFailed, Generation, fault_of_status
from benchbook.providers.secrets import redact

__all__ = ["ChatStream", "chat_body", "error_detail", "read_completion"]

_MAX_DETAIL = 500
_PROCESSING_MS = re.compile("[0-9]{1,12}")
_STATUS = re.compile("[45][0-9][0-9]")
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


# A number that no server can mean is taken as not told; it would not fit into a table.
_MAX = 10**12
_MAX_NS = 10**18
_Count = Annotated[int, msgspec.Meta(ge=0, le=_MAX)]
_Milliseconds = Annotated[float, msgspec.Meta(ge=0, le=_MAX)]
_Nanoseconds = Annotated[int, msgspec.Meta(ge=0, le=_MAX_NS)]


class _Usage(msgspec.Struct):
    prompt_tokens: _Count | None = None
    completion_tokens: _Count | None = None


class _Timings(msgspec.Struct):
    prompt_ms: _Milliseconds | None = None
    predicted_ms: _Milliseconds | None = None


class _Completion(msgspec.Struct):
    choices: list[_Choice]
    usage: _Usage | None = None
    model: str | None = None
    system_fingerprint: str | None = None
    timings: _Timings | None = None
    prompt_eval_duration: _Nanoseconds | None = None
    eval_duration: _Nanoseconds | None = None
    error: Any = None


_completion = msgspec.json.Decoder(ready(_Completion))
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
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
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
        if told := value.get("error") or _error_object(value):
            raise error_in_200(told, latency_ms)
        raise CallFailed("provider_error", "status 200, but the body has no choices", status=200, latency_ms=latency_ms)
    return _Completion(
        choices=[
            _Choice(_Message(_loose_content(choice, "message")), _text_or_none(choice.get("finish_reason")))
            for choice in value["choices"]
            if isinstance(choice, dict)
        ],
        usage=_loose_usage(value.get("usage")),
        model=_text_or_none(value.get("model")),
        system_fingerprint=_text_or_none(value.get("system_fingerprint")),
        timings=_loose_timings(value.get("timings")),
        prompt_eval_duration=_whole(value.get("prompt_eval_duration"), _MAX_NS),
        eval_duration=_whole(value.get("eval_duration"), _MAX_NS),
        error=value.get("error"),
    )


def _error_object(value: dict[str, Any]) -> dict[str, Any] | None:
    """vLLM's form of an error, which is the body itself."""
    return value if value.get("object") == "error" else None


def _loose_content(choice: dict[str, Any], part_of: str) -> str | None:
    message = choice.get(part_of)
    content = message.get("content") if isinstance(message, dict) else None
    if isinstance(content, list):  # parts: [{"type": "text", "text": …}, …]
        parts = [part.get("text") for part in content if isinstance(part, dict)]
        content = "".join(part for part in parts if isinstance(part, str)) or None
    return _text_or_none(content)


def _loose_usage(usage: Any) -> _Usage | None:
    if not isinstance(usage, dict):
        return None
    return _Usage(_whole(usage.get("prompt_tokens"), _MAX), _whole(usage.get("completion_tokens"), _MAX))


def _loose_timings(timings: Any) -> _Timings | None:
    if not isinstance(timings, dict):
        return None
    return _Timings(_number(timings.get("prompt_ms"), _MAX), _number(timings.get("predicted_ms"), _MAX))


def _text_or_none(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _number(value: Any, maximum: int) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= maximum:
        return None
    return value


def _whole(value: Any, maximum: int) -> int | None:
    """A count, or null: `12` and `12.0` are counts; anything else is not guessed at."""
    number = _number(value, maximum)
    return int(number) if number is not None and number == int(number) else None


def _model_ms(completion: _Completion, headers: Mapping[str, str]) -> int | None:
    """The server's own time: llama.cpp's `timings`, Ollama's durations (nanoseconds), or OpenAI's header."""
    timings = completion.timings
    if timings is not None:
        known = [part for part in (timings.prompt_ms, timings.predicted_ms) if part is not None]
        if known:
            return round(sum(known))
    durations = [ns for ns in (completion.prompt_eval_duration, completion.eval_duration) if ns is not None]
    if durations:
        return round(sum(durations) / 1_000_000)
    header = headers.get("openai-processing-ms")
    return int(header) if header is not None and _PROCESSING_MS.fullmatch(header) else None


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
            value = int(value) if _STATUS.fullmatch(value) else _STATUS_OF_WORD.get(value)
        if isinstance(value, int) and not isinstance(value, bool) and 400 <= value <= 599:
            return value
    return None


def error_detail(data: bytes) -> str:
    """What the body of an error says, shortened, keys removed."""
    try:
        value = decode_json(data, _anything)
    except msgspec.DecodeError:
        return redact(data[: 4 * _MAX_DETAIL].decode("utf-8", "replace"))[:_MAX_DETAIL]
    return _describe(value.get("error", value) if isinstance(value, dict) else value)


def _describe(error: Any) -> str:
    if isinstance(error, dict):
        words = [str(error[key]) for key in ("code", "type", "message", "detail") if error.get(key)]
        text = ": ".join(words) or canonical_json(error).decode("utf-8", "replace")
    else:
        text = str(error)
    return redact(text)[:_MAX_DETAIL]


class _ChunkChoice(msgspec.Struct):
    delta: _Message = msgspec.field(default_factory=_Message)
    finish_reason: str | None = None


class _Chunk(msgspec.Struct):
    choices: list[_ChunkChoice] = msgspec.field(default_factory=list)
    usage: _Usage | None = None
    model: str | None = None
    system_fingerprint: str | None = None
    timings: _Timings | None = None
    error: Any = None
    object: Any = None


_chunk = msgspec.json.Decoder(ready(_Chunk))


def _read_chunk(data: bytes) -> _Chunk:
    """Raises: msgspec.DecodeError for what is no JSON. As with a whole body, a field of an unusual type is null."""
    try:
        chunk: _Chunk = decode_json(data, _chunk)
    except msgspec.ValidationError:
        value = decode_json(data, _anything)
        if not isinstance(value, dict):
            return _Chunk()
        choices = value["choices"] if isinstance(value.get("choices"), list) else []
        chunk = _Chunk(
            choices=[
                _ChunkChoice(_Message(_loose_content(choice, "delta")), _text_or_none(choice.get("finish_reason")))
                for choice in choices
                if isinstance(choice, dict)
            ],
            usage=_loose_usage(value.get("usage")),
            model=_text_or_none(value.get("model")),
            system_fingerprint=_text_or_none(value.get("system_fingerprint")),
            timings=_loose_timings(value.get("timings")),
            error=value.get("error"),
            object=value.get("object"),
        )
    if chunk.object == "error" and not chunk.error:
        chunk.error = decode_json(data, _anything)
    return chunk


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
            chunk = _read_chunk(data)
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
