"""Fields of a reply whose types are unusual: what can be read is read, the rest is null."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec

__all__ = [
    "MAX_COUNT", "Choice", "Count", "Message", "Milliseconds", "Nanoseconds", "Timings", "UnreadableError", "Usage",
    "json_type", "loose_choices", "loose_timings", "loose_usage", "text_or_none", "thoughts", "whole",
]  # fmt: skip

# A number that no server can mean is taken as not told; it would not fit into a table.
MAX_COUNT = 10**12
MAX_NS = 10**18
Count = Annotated[int, msgspec.Meta(ge=0, le=MAX_COUNT)]
Milliseconds = Annotated[float, msgspec.Meta(ge=0, le=MAX_COUNT)]
Nanoseconds = Annotated[int, msgspec.Meta(ge=0, le=MAX_NS)]


class Message(msgspec.Struct):
    """What is not `content`: thoughts that came apart from the text, by any of the names in use."""

    content: str | None = None
    reasoning_content: str | None = None
    reasoning: str | None = None
    thinking: str | None = None
    reasoning_details: Any = None  # OpenRouter's parts
    thinking_blocks: Any = None  # LiteLLM's


class Choice(msgspec.Struct):
    """`delta` in a stream. `text`: the older completions form."""

    message: Message | None = None
    delta: Message | None = None
    text: str | None = None
    finish_reason: str | None = None
    error: Any = None


class Usage(msgspec.Struct):
    prompt_tokens: Count | None = None
    completion_tokens: Count | None = None
    total_tokens: Count | None = None


class Timings(msgspec.Struct):
    prompt_ms: Milliseconds | None = None
    predicted_ms: Milliseconds | None = None


class UnreadableError(Exception):
    """A content that is no text; the message says what came instead."""


def thoughts(message: Message) -> int | None:
    """How long the thoughts are that came apart; None where none did."""
    told = message.reasoning_content or message.reasoning or message.thinking
    if not told and (message.reasoning_details or message.thinking_blocks):
        return _thoughts_in(message.reasoning_details) or _thoughts_in(message.thinking_blocks) or None
    return len(told or "") or None


def _thoughts_in(parts: Any) -> int:
    """`[{"type": "reasoning.text", "text": …}, {"type": "thinking", "thinking": …}]`: how long they are together."""
    if not isinstance(parts, list):
        return 0
    texts = (part.get(name) for part in parts if isinstance(part, dict) for name in ("text", "summary", "thinking"))
    return sum(len(text) for text in texts if isinstance(text, str))


def loose_choices(choices: list[Any]) -> list[Choice]:
    """Raises: UnreadableError."""
    found = []
    for choice in choices:
        if isinstance(choice, dict):
            found.append(
                Choice(
                    message=_loose_message(choice.get("message")),
                    delta=_loose_message(choice.get("delta")),
                    text=text_or_none(choice.get("text")),
                    finish_reason=text_or_none(choice.get("finish_reason")),
                    error=choice.get("error"),
                )
            )
    return found


def _loose_message(message: Any) -> Message | None:
    if not isinstance(message, dict):
        return None
    content, apart = _loose_content(message.get("content"))
    told = text_or_none(message.get("reasoning_content")) or apart
    return Message(
        content=content,
        reasoning_content=told,
        reasoning=text_or_none(message.get("reasoning")),
        thinking=text_or_none(message.get("thinking")),
        reasoning_details=message.get("reasoning_details"),
        thinking_blocks=message.get("thinking_blocks"),
    )


def _loose_content(content: Any) -> tuple[str | None, str | None]:
    """Text, and thoughts among its parts: `[{"type": "text", "text": …}, {"type": "thinking", "thinking": …}]`."""
    if content is None or isinstance(content, str):
        return content, None
    if not isinstance(content, list):
        raise UnreadableError(f"the content is {json_type(content)}, not text")
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


def json_type(value: Any) -> str:
    match value:
        case bool():
            return "a boolean"
        case int() | float():
            return "a number"
        case list():
            return "a list"
        case dict():
            return "an object"
        case None:
            return "null"
        case _:
            return "text"


def loose_usage(usage: Any) -> Usage | None:
    if not isinstance(usage, dict):
        return None
    names = ("prompt_tokens", "completion_tokens", "total_tokens")
    return Usage(*(whole(usage.get(name), MAX_COUNT) for name in names))


def loose_timings(timings: Any) -> Timings | None:
    if not isinstance(timings, dict):
        return None
    return Timings(_number(timings.get("prompt_ms"), MAX_COUNT), _number(timings.get("predicted_ms"), MAX_COUNT))


def text_or_none(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _number(value: Any, maximum: int) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= maximum:
        return None
    return value


def whole(value: Any, maximum: int = MAX_NS) -> int | None:
    """A count, or null: `12` and `12.0` are counts; anything else is not guessed at."""
    number = _number(value, maximum)
    return int(number) if number is not None and number == int(number) else None
