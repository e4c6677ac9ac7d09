"""How two texts are made alike before they are compared."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

from benchbook.specs.fields import of_these

__all__ = ["TextRules", "UnicodeForm", "holds_words", "is_word", "read_unicode"]

UnicodeForm = Literal["none", "NFC", "NFKC"]


def read_unicode(value: Any) -> UnicodeForm:
    forms: tuple[UnicodeForm, ...] = ("none", "NFC", "NFKC")
    return of_these(value, forms)


@dataclass(frozen=True, slots=True, kw_only=True)
class TextRules:
    """By default SPEC A7's rule: `str.strip().casefold()` on both sides, and nothing else."""

    ignore_case: bool = True
    strip: bool = True
    ignore_punctuation: bool = False
    unicode: UnicodeForm = "none"

    def normal(self, text: str) -> str:
        """`text` as it is compared: Unicode form, case, punctuation, white space at the ends, in this order."""
        if self.unicode != "none":
            text = unicodedata.normalize(self.unicode, text)
        if self.ignore_case:
            text = text.casefold()
        if self.ignore_punctuation:
            text = _without_punctuation(text)
        return text.strip() if self.strip else text


def _without_punctuation(text: str) -> str:
    """Without the characters of Unicode's categories P; runs of white space are one space then."""
    kept = "".join(one for one in text if not _is_punctuation(one))
    words = " ".join(kept.split())
    before, after = kept[:1].isspace(), kept[-1:].isspace()
    return f"{' ' if before else ''}{words}{' ' if after and words else ''}"


@lru_cache(maxsize=4096)
def _is_punctuation(character: str) -> bool:
    return unicodedata.category(character).startswith("P")


def is_word(character: str) -> bool:
    """Whether a character is part of a word: a letter, digit, mark (an accent) or `_`."""
    return character == "_" or unicodedata.category(character)[:1] in ("L", "N", "M")


def holds_words(text: str, wanted: str) -> bool:
    """Whether `wanted` stands in `text` with no letter, digit or mark of another word right beside it."""
    start = text.find(wanted)
    while start >= 0:
        end = start + len(wanted)
        if start and is_word(wanted[0]) and is_word(text[start - 1]):
            start = text.find(wanted, _word_end(text, start))  # nowhere else in this word could it begin
            continue
        if end == len(text) or not (is_word(wanted[-1]) and is_word(text[end])):
            return True
        start = text.find(wanted, start + 1)
    return False


def _word_end(text: str, start: int) -> int:
    while start < len(text) and is_word(text[start]):
        start += 1
    return start
