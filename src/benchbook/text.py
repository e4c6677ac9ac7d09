"""Makes hostile text fit to be stored and shown.

Model text may hold lone surrogates, terminal escapes and characters that reverse lines. The journal keeps answers as
they came; whatever names or describes (`storable`), is derived (`all_storable`) or is shown (`visible`) goes through
here first.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from typing import Any

from benchbook.unseen import escaped_unseen

# Invisible, although Unicode counts them among letters, marks and symbols: joiners, fillers, variation selectors.
_BLANK = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0") | frozenset(map(chr, range(0xFE00, 0xFE10)))
_BLANK_KINDS = frozenset(("Cc", "Cf", "Zs", "Zl", "Zp", "Co", "Cs", "Cn"))


def storable(text: str) -> str:
    """`text` as valid Unicode: a lone surrogate becomes the six characters of its escape, `\\ud835`."""
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode()


def all_storable(value: Any) -> Any:
    """A JSON value with each of its texts, the names in it too, as `storable` makes it."""
    if isinstance(value, str):
        return storable(value)
    if isinstance(value, list | tuple):
        return [all_storable(one) for one in value]
    if isinstance(value, dict):
        return {all_storable(name): all_storable(one) for name, one in value.items()}
    return value


def visible(text: str) -> str:
    """`text` with nothing in it that a terminal or a bidi-aware view would act upon, or that nobody sees."""
    return storable(escaped_unseen(text))


def one_line(text: str) -> str:
    """`visible` text on a single line: each run of white space becomes one space."""
    return " ".join(visible(text).split())


def shorten(text: str, width: int) -> str:
    """`one_line` text, cut to `width` characters; an ellipsis marks the cut."""
    line = one_line(text)
    return line if len(line) <= width else line[: max(width - 1, 0)] + "…"


def first_words_of(error: BaseException | None) -> str:
    """The first line of what an error says; the name of its type where it says nothing."""
    return (str(error).strip() or type(error).__name__).splitlines()[0]


def sentences(*parts: str) -> str:
    """Join sentences on one line, with a full stop where one has no end mark; empty ones are left out."""
    return " ".join(part if part.endswith((".", "?", "!", "…")) else f"{part}." for part in parts if part)


def sentence(text: str) -> str:
    """A text as a sentence: with a capital at first, and a full stop where it has no end mark."""
    return sentences(text[:1].upper() + text[1:])


def plural(n: int, one: str, many: str | None = None) -> str:
    """A count and its noun: `1 sample`, `1,234 samples`."""
    return f"{n:,} {one if n == 1 else many or one + 's'}"


def nearest(word: str, known: Iterable[str]) -> str | None:
    """The known word that a word was most likely meant to be; None where none is near."""
    from difflib import get_close_matches

    close = get_close_matches(word, list(known), n=1) if len(word) < 64 else []  # its time grows with the length
    return close[0] if close else None


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """`; did you mean 'run'?`, for the end of a message; empty where no known word is near."""
    near = nearest(word, known)
    return "" if near is None else f"; did you mean {quoted(near)}?"


def _is_unseen(character: str) -> bool:
    """True if the character is invisible, or looks like a plain space without being one."""
    return character != " " and (character in _BLANK or unicodedata.category(character) in _BLANK_KINDS)


def quoted(text: str, width: int = 60) -> str:
    """`text` in quotes, cut to `width`, its invisible characters as escapes: `'a\\u200b'`."""
    cut = text if len(text) <= width else text[: max(width - 1, 0)] + "…"
    if not (cut.isascii() and cut.isprintable()):
        cut = "".join(map(_escaped, cut))
    return f"'{cut}'"


def _escaped(character: str) -> str:
    if not _is_unseen(character):
        return character
    return f"\\u{ord(character):04x}" if ord(character) < 0x10000 else f"\\U{ord(character):08x}"


def looks_like(text: str) -> str:
    """One form for all texts that look the same: composed, nothing invisible, runs of white space as one space."""
    if text.isascii() and text.isprintable() and "  " not in text:
        return text.strip()
    shown = "".join(" " if one.isspace() else one for one in text if one.isspace() or not _is_unseen(one))
    return " ".join(unicodedata.normalize("NFC", shown).split())
