"""HTML and SVG that can't be got wrong: text becomes markup by being escaped, and in no other way.

`Html` is a type of its own, so that mypy refuses a str where markup is meant; elements close themselves.
"""

from __future__ import annotations

from html import escape
from typing import NewType

from benchbook.text import visible

__all__ = ["Html", "el", "join", "text"]


Html = NewType("Html", str)

_VOID = frozenset({"br", "hr", "link", "meta"})


def text(value: object) -> Html:
    """`value` as text: escaped, with nothing in it that a bidi-aware view would act upon."""
    return Html(escape(visible(str(value))))


def join(*pieces: Html) -> Html:
    return Html("".join(pieces))


def el(name: str, /, *children: Html, **attributes: object) -> Html:
    """`<name …>children</name>`. `class_` and `aria_label` become `class` and `aria-label`; a None is left out."""
    written = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{text(value)}"'
        for key, value in attributes.items()
        if value is not None
    )
    if name in _VOID:
        return Html(f"<{name}{written}>")
    return Html(f"<{name}{written}>{''.join(children)}</{name}>")
