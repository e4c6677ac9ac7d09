"""Reads a judge's reply under `rubric@v1` (SPEC R3): two scores, or the reason for none."""

from __future__ import annotations

from collections.abc import Sequence

from benchbook.canonical import StrictJsonError, parse_strict

__all__ = ["split_reasoning"]


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
