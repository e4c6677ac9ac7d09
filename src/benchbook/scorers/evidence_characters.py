"""Which characters evidence ignores, changes and keeps together (SPEC P4.1).

The classes are read off this Python's Unicode database at first use (about 50 ms), not listed by hand. They rest on
one fact, which the tests check for every character there is: NFKC never composes a character with the one before it
unless its decomposition begins with a mark or with a vowel or final jamo. A text may so be cut before every other
character, and its parts normalised on their own.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import cache, lru_cache

__all__ = [
    "KEPT",
    "MAX_SEGMENT",
    "REMOVED",
    "fold",
    "fold_segment",
    "folds_to_one",
    "joins_the_one_before",
    "segment_pattern",
    "straightened",
]

# What a text loses: white space as `str.isspace` has it, soft hyphens, and what has no width (joiners, marks of
# direction, byte-order marks, variation selectors). Not the tags of U+E0020: they alone tell two flags apart.
_REMOVED = (
    "\\s\u00ad\u034f\u061c\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f"
    "\ufe00-\ufe0f\ufeff\U000e0100-\U000e01ef"
)
REMOVED = re.compile(f"[{_REMOVED}]+")
KEPT = re.compile(f"[^{_REMOVED}]+")

# Marks that may follow one character in a segment. Python's NFKC takes the square of their number, so a text of a
# million accents is cut where Unicode's own stream-safe format (UAX 15, section 13) would cut it.
MAX_SEGMENT = 31

_SINGLE_QUOTES = "‘’‚‛‹›′"
_DOUBLE_QUOTES = "“”„‟«»″〝〞〟"
_DASHES = "‐‑‒–—―−⸺⸻"
_STRAIGHT = tuple(
    [(mark, "'") for mark in _SINGLE_QUOTES]
    + [(mark, '"') for mark in _DOUBLE_QUOTES]
    + [(mark, "-") for mark in _DASHES]
)
_FIRST_ASTRAL = 0x10000
_LAST_WITH_MARKS = 0x1FFFF  # the marks above are variation selectors, which REMOVED takes away


def fold(text: str) -> str:
    """`text` after P4.1's normalisation. Right for a whole segment; for more, see `NormalisedText`."""
    return straightened(fold_segment(straightened(text)))


def fold_segment(text: str) -> str:
    """NFKC and case folding, and nothing left of what is ignored. Quotes and dashes are made straight around it.

    NFKC goes last as well: folding takes some letters apart ("ΐ"), and both ways to write them must end the same.
    """
    folded = text if text.isascii() else unicodedata.normalize("NFKC", text)
    folded = folded.casefold()
    return REMOVED.sub("", folded if folded.isascii() else unicodedata.normalize("NFKC", folded))


def straightened(text: str) -> str:
    """Straight quotes and dashes, one for one. To be called before NFKC, which would turn one double prime into two
    single ones, and after it, for what it makes of full-width and small forms."""
    # On a page of text, 26 searches that find nothing are a tenth of the cost of one `str.translate`.
    for mark, straight in () if text.isascii() else _STRAIGHT:
        text = text.replace(mark, straight)
    return text


@lru_cache(maxsize=4096)
def joins_the_one_before(character: str) -> bool:
    """NFKC may reorder or compose this character with what stands before it."""
    first = unicodedata.normalize("NFKD", character)[0]
    return unicodedata.category(first)[0] == "M" or "\u1161" <= first <= "\u1175" or "\u11a8" <= first <= "\u11c2"


@cache
def segment_pattern() -> re.Pattern[str]:
    """Cuts a text without white space into segments that normalise on their own.

    `plain` is a run of characters that each fold to exactly one, so positions in it map one to one. Any other match
    is one character with the marks that follow it.
    """
    joining = _character_class(code for code in range(_LAST_WITH_MARKS + 1) if joins_the_one_before(chr(code)))
    plain = _character_class(code for code in range(_FIRST_ASTRAL) if folds_to_one(chr(code)))
    return re.compile(f"(?P<plain>[{plain}]+)(?![{joining}])|[\\s\\S][{joining}]{{0,{MAX_SEGMENT}}}")


def folds_to_one(character: str) -> bool:
    """The character is plain: whatever stands around it, it folds to one character, which folds to itself."""
    if character >= "\U00010000":
        return False
    folded = fold(character)
    return len(folded) == 1 and not joins_the_one_before(character) and not joins_the_one_before(folded)


def _character_class(codes: Iterable[int]) -> str:
    """The inside of a regular expression's `[...]` for ascending `codes`."""
    ranges: list[list[int]] = []
    for code in codes:
        if ranges and code == ranges[-1][1] + 1:
            ranges[-1][1] = code
        else:
            ranges.append([code, code])
    return "".join(f"\\U{first:08x}-\\U{last:08x}" for first, last in ranges)
