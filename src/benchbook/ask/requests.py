"""Renders every request of a plan again, from inputs and frozen templates: while running, and to verify.

And what comes back, without the thoughts that stand before it (SPEC R3.7).
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from benchbook.ask.providers.calls import Generation
from benchbook.ask.providers.local import bounded
from benchbook.ask.providers.openai_wire import chat_body
from benchbook.canonical import StrictJsonError, canonical_json, parse_strict
from benchbook.evalsets.conversations import Message

__all__ = ["RolePlan", "body_of", "generation_of", "plan_sha256", "request_sha256", "split_reasoning"]


class RolePlan(msgspec.Struct, frozen=True, kw_only=True):
    """How one model is asked. `provider` is its wire format; `recorded` was asked elsewhere."""

    model_id: str
    provider: str
    name: str  # as it is sent
    params: dict[str, Any]
    json_schema: bool = False  # JSON of the spec's schema is asked for (R2.3)
    stream: bool = False
    reasoning_tags: tuple[str, ...] = ()  # R3.7


def plan_sha256(plan: msgspec.Struct) -> str:
    return hashlib.sha256(canonical_json(plan)).hexdigest()


def request_sha256(body: bytes) -> str:
    return hashlib.sha256(body).hexdigest()


def generation_of(role: RolePlan, schema: Mapping[str, Any]) -> Generation:
    if not role.json_schema:
        return Generation(role.params)
    asked = {key: value for key, value in schema.items() if key not in ("$schema", "title")}
    return Generation(role.params, bounded(asked) if role.provider == "local" else asked)


def body_of(role: RolePlan, asked: str | Sequence[Message], generation: Generation) -> bytes:
    """The request: a prompt, or the messages of a conversation."""
    return chat_body(role.name, asked, generation, stream=role.stream)


def split_reasoning(reply: str, tags: Sequence[str], *, lone_closing: bool = False) -> tuple[str | None, str]:
    """`(reasoning, rest)`: one leading `<tag>…</tag>` of a declared tag moved away (SPEC R3.7).

    `lone_closing`: so are thoughts whose opening tag stood at the end of the prompt, as some chat templates have it.
    Text that is strict JSON has none: a tag in it is part of a string. Before derivation 3 they stayed where they were.
    """
    body = reply.lstrip(" \t\r\n")
    for tag in tags:
        opening, closing = f"<{tag}>", f"</{tag}>"
        end = body.find(closing)
        if end < 0:
            continue
        if body.startswith(opening):
            return body[len(opening) : end], body[end + len(closing) :]
        if lone_closing and opening not in body[:end] and not _is_json(body):
            return body[:end], body[end + len(closing) :]
    return None, reply


def _is_json(text: str) -> bool:
    try:
        parse_strict(text)
    except StrictJsonError:
        return False
    return True
