"""Conversations that a model is to continue: checked messages, tools' calls and results, and all of it as a text.

An item's `messages` have the form of the chat interface: `role`, `content`, `name`, `tool_calls`, `tool_call_id`. Every
word of them is sent unchanged, so unknown fields are refused.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeAlias, TypeVar, get_args

from benchbook.text import quoted, shorten

Role = Literal["system", "developer", "user", "assistant", "tool"]
Message: TypeAlias = dict[str, Any]
_Message = TypeVar("_Message", bound=Mapping[str, Any])

_ROLES: tuple[str, ...] = get_args(Role)
_FIELDS = frozenset({"role", "content", "name", "tool_calls", "tool_call_id"})


class MessageError(ValueError):
    """A conversation has a fault: `field` is its place (`messages[2].role`), `found` and `expected` are texts."""

    def __init__(self, field: str, found: str, expected: str) -> None:
        super().__init__(f"{field}: found {found}; expected {expected}")
        self.field, self.found, self.expected = field, found, expected


def check_messages(value: Any) -> list[Message]:
    """The messages of a conversation, checked; the next turn is the model's.

    Raises: MessageError at the first fault.
    """
    if not isinstance(value, list) or not value:
        found = "none" if value == [] else _type(value)
        raise MessageError("messages", found, 'a list of messages, such as [{"role": "user", "content": "…"}]')
    for number, message in enumerate(value):
        _check_message(message, f"messages[{number}]")
    last = value[-1]["role"]
    if last not in ("user", "tool"):
        raise MessageError(
            f"messages[{len(value) - 1}].role", quoted(last), "user or tool, whom the model then answers"
        )
    return list(value)


def _check_message(message: Any, field: str) -> None:
    if not isinstance(message, dict):
        raise MessageError(field, _type(message), "an object with role and content")
    for name in message:
        if name not in _FIELDS:
            raise MessageError(f"{field}.{shorten(name, 40)}", "a field that is not known", ", ".join(sorted(_FIELDS)))
    role = message.get("role")
    if role not in _ROLES:
        raise MessageError(f"{field}.role", quoted(role) if isinstance(role, str) else _type(role), ", ".join(_ROLES))
    calls = message.get("tool_calls")
    if calls is not None:
        _check_calls(calls, f"{field}.tool_calls", role)
    _check_content(message.get("content"), f"{field}.content", may_lack=bool(calls))
    for name in ("name", "tool_call_id"):
        if message.get(name) is not None and not isinstance(message[name], str):
            raise MessageError(f"{field}.{name}", _type(message[name]), "a string")
    if role == "tool" and message.get("tool_call_id") is None:
        raise MessageError(f"{field}.tool_call_id", "nothing", "the id of the call that this is the result of")


def _check_content(content: Any, field: str, *, may_lack: bool) -> None:
    if content is None and may_lack:
        return
    if isinstance(content, list):
        for number, part in enumerate(content):
            is_text = isinstance(part, dict) and part.get("type") == "text" and isinstance(part.get("text"), str)
            if not is_text or len(part) != 2:
                found = quoted(str(part.get("type"))) if isinstance(part, dict) else _type(part)
                raise MessageError(f"{field}[{number}]", found, 'a part of text: {"type": "text", "text": "…"}')
    elif not isinstance(content, str):
        raise MessageError(field, _type(content), "a string")


def _check_calls(calls: Any, field: str, role: str) -> None:
    if role != "assistant":
        raise MessageError(field, f"calls of {role}", "calls of the assistant alone")
    if not isinstance(calls, list) or not calls:
        raise MessageError(field, _type(calls) if calls != [] else "none", "a list of calls")
    for number, call in enumerate(calls):
        function = call.get("function") if isinstance(call, dict) else None
        if not isinstance(function, dict) or not isinstance(call.get("id"), str) or call.get("type") != "function":
            expected = '{"id": "…", "type": "function", "function": {"name": "…", "arguments": "{…}"}}'
            raise MessageError(f"{field}[{number}]", _type(call), expected)
        for name in ("name", "arguments"):
            if not isinstance(function.get(name), str):
                raise MessageError(f"{field}[{number}].function.{name}", _type(function.get(name)), "a string")


def _type(value: Any) -> str:
    names = {type(None): "nothing", bool: "a truth value", int: "a number", float: "a number", str: "a string",
             list: "a list", dict: "an object"}  # fmt: skip
    return names.get(type(value), type(value).__name__)


# ── as a text ────────────────────────────────────────────────────────────────────────────────────────────────


def transcript(messages: Sequence[Mapping[str, Any]]) -> str:
    """A conversation for people and judges: each turn under its number and role, tools' calls and results in words."""
    return "\n\n".join(_turn(number, message) for number, message in enumerate(messages, start=1))


def _turn(number: int, message: Mapping[str, Any]) -> str:
    return "\n".join(filter(None, [f"[{number}] {turn_head(message)}:", turn_text(message)]))


def turn_head(message: Mapping[str, Any]) -> str:
    """The heading of a turn: `user`, `tool, result of call_1`."""
    name = f" {message['name']}" if message.get("name") else ""
    result = f", result of {message['tool_call_id']}" if message.get("tool_call_id") else ""
    return f"{message['role']}{name}{result}"


def turn_text(message: Mapping[str, Any]) -> str:
    """The text of a turn below its heading: its content, then each call of a tool."""
    return "\n".join(filter(None, [said(message.get("content")), *map(_call, message.get("tool_calls") or ())]))


def as_messages(asked: str | Sequence[_Message]) -> Sequence[_Message | Message]:
    """The messages of a request: a prompt is one user message (SPEC R2.3), messages are themselves."""
    return [{"role": "user", "content": asked}] if isinstance(asked, str) else asked


def with_answer(messages: Sequence[Message] | None, prompt: str, answer: str) -> list[Message]:
    """A conversation with the model's answer as its last turn; for an item without messages, its prompt and answer."""
    return [*as_messages(prompt if messages is None else messages), {"role": "assistant", "content": answer}]


def said(content: str | list[dict[str, Any]] | None) -> str:
    """A message's content as a text."""
    if isinstance(content, list):
        return "\n".join(part["text"] for part in content)
    return content or ""


def _call(call: Mapping[str, Any]) -> str:
    function = call["function"]
    return f"{called(function['name'], function['arguments'])}, as {call['id']}"


def called(name: str, arguments: str) -> str:
    """A call of a tool in words."""
    return f"calls {name}({arguments})"
