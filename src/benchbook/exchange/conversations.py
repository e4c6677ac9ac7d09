"""Conversations in other tools' logs: lists of messages, each with a role and its content."""

from __future__ import annotations

from typing import Any

import msgspec

Messages = list[dict[str, Any]]


def messages_in(value: object) -> Messages | None:
    """A conversation, or a text that is one as JSON; None for anything else."""
    if isinstance(value, str):
        if not value.lstrip().startswith("["):
            return None
        try:
            value = msgspec.json.decode(value)
        except (msgspec.DecodeError, UnicodeError, RecursionError):
            return None
    if not isinstance(value, list) or not value:
        return None
    spoken = all(isinstance(one, dict) and isinstance(one.get("role"), str) and "content" in one for one in value)
    return value if spoken else None


def read_aloud(messages: Messages) -> str:
    """A conversation as a person would read it; of one message, its content alone."""
    if len(messages) == 1:
        return _content(messages[0])
    return "\n\n".join(f"{one['role']}: {_content(one)}" for one in messages)


def as_text(value: object) -> str | None:
    """A text as it is, and any other value as JSON."""
    if value is None or isinstance(value, str):
        return value
    return msgspec.json.encode(value).decode()


def _content(message: dict[str, Any]) -> str:
    content = message["content"]
    parts = content if isinstance(content, list) else [content]
    texts = (one.get("text", one) if isinstance(one, dict) else one for one in parts)
    return "\n".join(as_text(one) or "" for one in texts)
