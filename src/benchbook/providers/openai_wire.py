"""The OpenAI chat completions format: bodies out, answers in. No network.

Servers differ: usage may be missing or null in part, times are told in several ways, errors come with status 200.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import msgspec

from benchbook.canonical import canonical_json, decode_json, ready
from benchbook.providers.calls import Answer, CallFailed, Generation
from benchbook.providers.error_body import is_error, read_error, told_detail
from benchbook.providers.faults import error_in_200, failed_without_status
from benchbook.providers.finish_reasons import is_fault, normalised
from benchbook.providers.openai_loose import (
    Choice,
    Message,
    Nanoseconds,
    Timings,
    UnreadableError,
    Usage,
    loose_choices,
    loose_timings,
    loose_usage,
    text_or_none,
    thoughts,
    whole,
)

__all__ = ["LEFT_OUT", "broken_off", "broken_reply", "chat_body", "model_ms", "output_tokens", "read_completion"]

LEFT_OUT = "stream_options"  # the one parameter of our own that may be null: then it is not sent
_COMMENTS = re.compile(rb"\A(?:\s*:[^\n]*\n)+")  # by which a gateway keeps a connection open until its answer comes
_PROCESSING_MS = re.compile("[0-9]{1,12}")


class _Completion(msgspec.Struct):
    choices: list[Choice] = msgspec.field(default_factory=list)
    usage: Usage | None = None
    model: str | None = None
    system_fingerprint: str | None = None
    timings: Timings | None = None
    prompt_eval_duration: Nanoseconds | None = None
    eval_duration: Nanoseconds | None = None
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
        if body.get(LEFT_OUT, ...) is not None:
            body[LEFT_OUT] = {"include_usage": True}
        else:
            del body[LEFT_OUT]
    return canonical_json(body)


def read_completion(data: bytes, headers: Mapping[str, str], latency_e2e_ms: int, request: bytes = b"{}") -> Answer:
    """The answer in the body of a 200. `request` is what was sent.

    Raises: CallFailed for an error in it, beside a choice or in one (it counts as the status that it names), and for
    what is no completion.
    """
    try:
        completion: _Completion = _completion.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        completion = _read_loosely(data, request, latency_e2e_ms)
    if not completion.choices or completion.error:
        _refuse_error(completion, data, request, latency_e2e_ms)
    choice = completion.choices[0]
    message = choice.message
    reason = choice.finish_reason
    if message is None or choice.error or (reason != "stop" and is_fault(reason)):
        message = _message_of(choice, request, latency_e2e_ms)
    usage = completion.usage or _NO_USAGE
    used, reported = output_tokens(usage)
    return Answer(
        text=message.content,
        finish_reason=normalised(reason),
        latency_e2e_ms=latency_e2e_ms,
        latency_model_ms=model_ms(
            completion.timings, headers, completion.prompt_eval_duration, completion.eval_duration
        ),
        input_tokens=usage.prompt_tokens,
        output_tokens=used,
        output_tokens_reported=reported,
        reasoning_characters=thoughts(message),
        model_reported=completion.model,
        fingerprint=completion.system_fingerprint,
    )


_NO_USAGE = Usage()


def output_tokens(usage: Usage) -> tuple[int | None, int | None]:
    """`(used, reported)`: where the total is more than input and output, thoughts are in it alone (R1.5).

    `reported` is None where the provider's own number is what was used.
    """
    given, put, total = usage.prompt_tokens, usage.completion_tokens, usage.total_tokens
    if total is None or given is None or put is None or total <= given + put:
        return put, None
    return total - given, put


def _refuse_error(completion: _Completion, data: bytes, request: bytes, latency_ms: int) -> None:
    """Raises: CallFailed unless there is a choice and no error beside it."""
    if is_error(completion.error):
        raise error_in_200(completion.error, request, latency_ms)
    if not completion.choices:
        raise _without_choices(decode_json(data, _anything), request, latency_ms)


def _without_choices(value: Any, request: bytes, latency_ms: int) -> CallFailed:
    """JSON that holds no choice counts as the status that it names, or as a broken reply; it may hold the reason."""
    if isinstance(value, dict):
        value = {name: entry for name, entry in value.items() if name != "choices"}
        if is_error(value.get("error")):
            return error_in_200(value["error"], request, latency_ms)
        if value.get("object") == "error":
            return error_in_200(value, request, latency_ms)
    told = read_error(value)
    if not told.message:
        return broken_reply("status 200, but the body has no choices", latency_ms)
    detail = f"status 200, but the body has no choices: {told_detail(told)}"
    return failed_without_status(told, detail, request, latency_ms)


def _message_of(choice: Choice, request: bytes, latency_ms: int) -> Message:
    """What a choice of an unusual form says.

    Raises: CallFailed where it carries an error, is broken off, or says nothing at all.
    """
    if is_error(choice.error):
        raise error_in_200(choice.error, request, latency_ms)
    if is_fault(choice.finish_reason):
        raise broken_off(choice.finish_reason, latency_ms)
    if choice.message is not None:
        return choice.message
    if choice.text is None and choice.finish_reason is None:
        raise broken_reply("status 200, but the choice has neither a message nor a finish reason", latency_ms)
    return Message(content=choice.text)


def broken_off(reason: str | None, latency_ms: int) -> CallFailed:
    """The server says that it could not go on: half a text beside that is no answer (R3.6)."""
    return CallFailed(
        "provider_error",
        f"status 200, but the server broke the answer off (finish reason {reason})",
        status=200,
        retryable=True,
        latency_ms=latency_ms,
        cause="server_error",
    )


def broken_reply(detail: str, latency_ms: int) -> CallFailed:
    """A 200 that is no answer."""
    return CallFailed("provider_error", detail, status=200, retryable=True, latency_ms=latency_ms, cause="broken_reply")


def _read_loosely(data: bytes, request: bytes, latency_ms: int) -> _Completion:
    """A body with a field of an unusual type: what can be read is read, the rest is null."""
    try:
        value = decode_json(_COMMENTS.sub(b"", data, count=1), _anything)
    except msgspec.DecodeError as error:
        raise broken_reply(f"status 200, but the body is no JSON ({error})", latency_ms) from None
    if not isinstance(value, dict) or not isinstance(value.get("choices"), list):
        raise _without_choices(value, request, latency_ms)
    try:
        choices = loose_choices(value["choices"])
    except UnreadableError as error:
        for part in (value, value["choices"][0]):
            if isinstance(part, dict) and is_error(part.get("error")):
                raise error_in_200(part["error"], request, latency_ms) from None
        raise broken_reply(f"status 200, but {error}", latency_ms) from None
    if value["choices"] and not choices:
        raise broken_reply("status 200, but the choice is no object", latency_ms)
    return _Completion(
        choices=choices,
        usage=loose_usage(value.get("usage")),
        model=text_or_none(value.get("model")),
        system_fingerprint=text_or_none(value.get("system_fingerprint")),
        timings=loose_timings(value.get("timings")),
        prompt_eval_duration=whole(value.get("prompt_eval_duration")),
        eval_duration=whole(value.get("eval_duration")),
        error=value.get("error"),
    )


def model_ms(
    timings: Timings | None, headers: Mapping[str, str], prompt_ns: int | None = None, answer_ns: int | None = None
) -> int | None:
    """The server's own time: llama.cpp's `timings`, Ollama's durations (nanoseconds), or OpenAI's header."""
    if timings is not None:
        known = [part for part in (timings.prompt_ms, timings.predicted_ms) if part is not None]
        if known:
            return round(sum(known))
    durations = [ns for ns in (prompt_ns, answer_ns) if ns is not None]
    if durations:
        return round(sum(durations) / 1_000_000)
    header = headers.get("openai-processing-ms")
    return int(header) if header is not None and _PROCESSING_MS.fullmatch(header) else None
