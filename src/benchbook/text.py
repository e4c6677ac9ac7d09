"""Hostile text made fit to be stored and shown.

Model text may hold lone surrogates, terminal escapes and characters that turn lines around. The journal keeps
it as it came; whatever shows it goes through here first.
"""

from __future__ import annotations

import re

__all__ = ["one_line", "shorten", "storable", "visible"]

# C0 and C1 controls but for tab and line feed, and the marks that reorder text (Unicode TR 9).
_UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def storable(text: str) -> str:
    """`text` as valid Unicode: a lone surrogate becomes the six characters of its escape, `\\ud835`."""
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode()


def visible(text: str) -> str:
    """`text` with nothing in it that a terminal or a bidi-aware view would act upon."""
    shown = storable(text)
    for character in set(_UNSEEN.findall(shown)):  # a few kinds at most; a call a character would be slow where all are
        shown = shown.replace(character, f"\\u{ord(character):04x}")
    return shown


def one_line(text: str) -> str:
    """`visible` on a single line: white space runs become one space."""
    return " ".join(visible(text).split())


def shorten(text: str, width: int) -> str:
    """`one_line`, cut to `width` characters with an ellipsis where it was cut."""
    line = one_line(text)
    return line if len(line) <= width else line[: max(width - 1, 0)] + "…"
