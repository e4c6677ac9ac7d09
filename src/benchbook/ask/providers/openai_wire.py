"""The OpenAI chat completions format: bodies out, answers in. No network.

Servers differ: usage may be missing or null in part, times come in several forms, errors come with status 200.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import msgspec

from benchbook.ask.providers.calls import Answer, CallFailed, ToolCalls, is_fault, normalised
from benchbook.ask.providers.error_body import is_error, read_error, told_detail
from benchbook.ask.providers.faults import broken_off, broken_reply, error_in_200, failed_without_status
from benchbook.canonical import canonical_json, decode_json, ready
from benchbook.evalsets.conversations import as_messages

# A number that no server can mean counts as missing; it would not fit into a table.
_MAX_COUNT = 10**12
_MAX_NS = 10**18
_Count = Annotated[int, msgspec.Meta(ge=0, le=_MAX_COUNT)]
_Milliseconds = Annotated[float, msgspec.Meta(ge=0, le=_MAX_COUNT)]
_Nanoseconds = Annotated[int, msgspec.Meta(ge=0, le=_MAX_NS)]


class Message(msgspec.Struct):
    """A message: its content, thoughts apart from it under any of the names in use, and tool calls."""

    content: str | None = None
    reasoning_content: str | None = None
    reasoning: str | None = None
    thinking: str | None = None
    reasoning_details: Any = None  # OpenRouter's parts
    thinking_blocks: Any = None  # LiteLLM's
    tool_calls: Any = None


class CompletionChoice(msgspec.Struct):
    """One choice. `delta` comes in a stream; `text` is the older completions form."""

    message: Message | None = None
    delta: Message | None = None
    text: str | None = None
    finish_reason: str | None = None
    error: Any = None


class Usage(msgspec.Struct):
    prompt_tokens: _Count | None = None
    completion_tokens: _Count | None = None
    total_tokens: _Count | None = None


class Timings(msgspec.Struct):
    prompt_ms: _Milliseconds | None = None
    predicted_ms: _Milliseconds | None = None


class Completion(msgspec.Struct):
    """A whole body, or a chunk of a stream. The last three fields may hold an error, if there is no choice."""

    choices: list[CompletionChoice] = msgspec.field(default_factory=list)
    usage: Usage | None = None
    model: str | None = None
    system_fingerprint: str | None = None
    timings: Timings | None = None
    prompt_eval_duration: _Nanoseconds | None = None
    eval_duration: _Nanoseconds | None = None
    error: Any = None
    object: Any = None
    message: Any = None
    detail: Any = None


class UnreadableError(Exception):
    """A content is not text; the message says what came instead."""


def thoughts(message: Message) -> int | None:
    """The length of the thoughts that came apart from the answer; None if there are none."""
    told = message.reasoning_content or message.reasoning or message.thinking
    if not told and (message.reasoning_details or message.thinking_blocks):
        return _thoughts_in(message.reasoning_details) or _thoughts_in(message.thinking_blocks) or None
    return len(told or "") or None


def _thoughts_in(parts: Any) -> int:
    """The total length of `[{"type": "reasoning.text", "text": …}, {"type": "thinking", "thinking": …}]`."""
    if not isinstance(parts, list):
        return 0
    texts = (part.get(name) for part in parts if isinstance(part, dict) for name in ("text", "summary", "thinking"))
    return sum(len(text) for text in texts if isinstance(text, str))


def loose_completion(value: dict[str, Any]) -> Completion:
    """Read as much as possible of an object with unusual types; the rest is null. Raises: UnreadableError."""
    choices = value.get("choices")
    return Completion(
        choices=[_loose_choice(one) for one in choices if isinstance(one, dict)] if isinstance(choices, list) else [],
        usage=_loose_usage(value.get("usage")),
        model=_text_or_none(value.get("model")),
        system_fingerprint=_text_or_none(value.get("system_fingerprint")),
        timings=_loose_timings(value.get("timings")),
        prompt_eval_duration=_whole(value.get("prompt_eval_duration")),
        eval_duration=_whole(value.get("eval_duration")),
        error=value.get("error"),
        object=value.get("object"),
        message=value.get("message"),
        detail=value.get("detail"),
    )


def _loose_choice(choice: dict[str, Any]) -> CompletionChoice:
    return CompletionChoice(
        message=_loose_message(choice.get("message")),
        delta=_loose_message(choice.get("delta")),
        text=_text_or_none(choice.get("text")),
        finish_reason=_text_or_none(choice.get("finish_reason")),
        error=choice.get("error"),
    )


def _loose_message(message: Any) -> Message | None:
    if not isinstance(message, dict):
        return None
    content, apart = _loose_content(message.get("content"))
    told = _text_or_none(message.get("reasoning_content")) or apart
    return Message(
        content=content,
        reasoning_content=told,
        reasoning=_text_or_none(message.get("reasoning")),
        thinking=_text_or_none(message.get("thinking")),
        reasoning_details=message.get("reasoning_details"),
        thinking_blocks=message.get("thinking_blocks"),
        tool_calls=message.get("tool_calls"),
    )


def _loose_content(content: Any) -> tuple[str | None, str | None]:
    """Text and thoughts in a content such as `[{"type": "text", "text": …}, {"type": "thinking", "thinking": …}]`."""
    if content is None or isinstance(content, str):
        return content, None
    if not isinstance(content, list):
        found = "an object" if isinstance(content, dict) else "a boolean" if isinstance(content, bool) else "a number"
        raise UnreadableError(f"the content is {found}, not text")
    texts: list[str] = []
    apart: list[str] = []
    for part in content:
        if isinstance(part, dict):
            is_thought = part.get("type") in ("thinking", "reasoning")
            text = part.get("thinking", part.get("text")) if is_thought else part.get("text")
            if isinstance(text, list):
                text = _loose_content(text)[0]
            if isinstance(text, str):
                (apart if is_thought else texts).append(text)
    return "".join(texts) or None, "".join(apart) or None


def _loose_usage(usage: Any) -> Usage | None:
    if not isinstance(usage, dict):
        return None
    names = ("prompt_tokens", "completion_tokens", "total_tokens")
    return Usage(*(_whole(usage.get(name), _MAX_COUNT) for name in names))


def _loose_timings(timings: Any) -> Timings | None:
    if not isinstance(timings, dict):
        return None
    return Timings(_number(timings.get("prompt_ms"), _MAX_COUNT), _number(timings.get("predicted_ms"), _MAX_COUNT))


def _text_or_none(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _number(value: Any, maximum: int) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= maximum:
        return None
    return value


def _whole(value: Any, maximum: int = _MAX_NS) -> int | None:
    """A count, or None: `12` and `12.0` are counts; anything else is not guessed at."""
    number = _number(value, maximum)
    return int(number) if number is not None and number == int(number) else None


LEFT_OUT = "stream_options"  # the one parameter of our own that may be null: then it is not sent
_COMMENTS = re.compile(rb"\A(?:\s*:[^\n]*\n)+")  # with which a gateway keeps a connection open until its answer comes
_PROCESSING_MS = re.compile("[0-9]{1,12}")


_completion = msgspec.json.Decoder(ready(Completion))
_anything = msgspec.json.Decoder()


def chat_body(
    model: str,
    asked: str | Sequence[Mapping[str, Any]],
    params: Mapping[str, Any],
    json_schema: Mapping[str, Any] | None = None,
    *,
    stream: bool = False,
) -> bytes:
    """A request as canonical JSON: a prompt becomes one user message (SPEC R2.3), messages are sent unchanged.

    So are `params`; `json_schema` asks for JSON of that schema.
    """
    body: dict[str, Any] = {"model": model, "messages": as_messages(asked), **params}
    if json_schema is not None:
        schema = {"name": "reply", "strict": True, "schema": json_schema}
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

    Raises: CallFailed for an error in it, beside a choice or in one (by the status that it names), and for a body
    that is not a completion.
    """
    try:
        completion: Completion = _completion.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        completion = _read_loosely(data, request, latency_e2e_ms)
    if not completion.choices or completion.error:
        _refuse_error(completion, data, request, latency_e2e_ms)
    choice = completion.choices[0]
    message = choice.message
    reason = choice.finish_reason
    if message is None or choice.error or (reason != "stop" and is_fault(reason)):
        message = _message_of(choice, request, latency_e2e_ms)
    text = message.content if message.tool_calls is None else _with_calls(message, request)
    return answer_of(completion, text, reason, thoughts(message), headers, latency_e2e_ms)


_NO_USAGE = Usage()


def answer_of(
    completion: Completion,
    text: str | None,
    reason: str | None,
    n_thoughts: int | None,
    headers: Mapping[str, str],
    latency_e2e_ms: int,
    time_to_first_token_ms: int | None = None,
) -> Answer:
    """The answer with this text, and with the usage, times and names that the completion reports."""
    usage = completion.usage or _NO_USAGE
    used, reported = _output_tokens(usage)
    return Answer(
        text=text,
        finish_reason=normalised(reason),
        latency_e2e_ms=latency_e2e_ms,
        latency_model_ms=_model_ms(completion, headers),
        time_to_first_token_ms=time_to_first_token_ms,
        input_tokens=usage.prompt_tokens,
        output_tokens=used,
        output_tokens_reported=reported,
        reasoning_characters=n_thoughts,
        model_reported=completion.model,
        fingerprint=completion.system_fingerprint,
    )


def _with_calls(message: Message, request: bytes) -> str | None:
    calls = ToolCalls(request)
    calls.add(message.tool_calls)
    return calls.after(message.content)


def _output_tokens(usage: Usage) -> tuple[int | None, int | None]:
    """`(used, reported)`: if the total is more than input and output, the difference is thoughts (R1.5).

    `reported` is None if the provider's own number of output tokens is what was used.
    """
    given, put, total = usage.prompt_tokens, usage.completion_tokens, usage.total_tokens
    if total is None or given is None or put is None or total <= given + put:
        return put, None
    return total - given, put


def _refuse_error(completion: Completion, data: bytes, request: bytes, latency_ms: int) -> None:
    """Raises: CallFailed unless there is a choice and no error beside it."""
    if is_error(completion.error):
        raise error_in_200(completion.error, request, latency_ms)
    if not completion.choices:
        raise _without_choices(json_value(data, _BODY, latency_ms), request, latency_ms)


_BODY = "status 200, but the body"


def json_value(data: bytes, what: str, latency_ms: int) -> Any:
    """All that `data` says: a decoder of known fields leaves the others unread. Raises: CallFailed if it is no JSON."""
    try:
        return decode_json(data, _anything)
    except msgspec.DecodeError as error:
        raise broken_reply(f"{what} is no JSON ({error})", latency_ms) from None


def _without_choices(value: Any, request: bytes, latency_ms: int) -> CallFailed:
    """The failure for JSON without a choice: by the status or the words in it, else a broken reply."""
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


def _message_of(choice: CompletionChoice, request: bytes, latency_ms: int) -> Message:
    """The message of a choice of an unusual form.

    Raises: CallFailed if it carries an error, is broken off, or says nothing at all.
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


def _read_loosely(data: bytes, request: bytes, latency_ms: int) -> Completion:
    """Read as much as possible of a body with unusual types; the rest is null. Raises: CallFailed."""
    value = json_value(_COMMENTS.sub(b"", data, count=1), _BODY, latency_ms)
    if not isinstance(value, dict) or not isinstance(value.get("choices"), list):
        raise _without_choices(value, request, latency_ms)
    try:
        completion = loose_completion(value)
    except UnreadableError as error:
        for part in (value, value["choices"][0]):
            if isinstance(part, dict) and is_error(part.get("error")):
                raise error_in_200(part["error"], request, latency_ms) from None
        raise broken_reply(f"status 200, but {error}", latency_ms) from None
    if value["choices"] and not completion.choices:
        raise broken_reply("status 200, but the choice is no object", latency_ms)
    return completion


def _model_ms(completion: Completion, headers: Mapping[str, str]) -> int | None:
    """The server's own time: llama.cpp's `timings`, Ollama's durations (nanoseconds), or OpenAI's header."""
    if (timings := completion.timings) is not None:
        known = [part for part in (timings.prompt_ms, timings.predicted_ms) if part is not None]
        if known:
            return round(sum(known))
    durations = [ns for ns in (completion.prompt_eval_duration, completion.eval_duration) if ns is not None]
    if durations:
        return round(sum(durations) / 1_000_000)
    header = headers.get("openai-processing-ms")
    return int(header) if header is not None and _PROCESSING_MS.fullmatch(header) else None
