"""A text as evidence is looked up in it, and the way back to the text as it is stored (SPEC P4.1)."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from itertools import accumulate

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
    """True if NFKC may reorder or compose this character with what stands before it."""
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
    """True for a plain character: whatever stands around it, it folds to one character, which folds to itself."""
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


_BLOCK = 512  # characters of the stored text
Span = tuple[int, int]  # half-open, in code points of the stored text (not UTF-16 units, not bytes)


@dataclass(frozen=True, slots=True)
class _Segments:
    """Where each segment begins, in the normalised text and in the compact one; `plain` maps one to one."""

    normal: str
    normal_starts: list[int]
    compact_starts: list[int]
    plain: list[bool]


class NormalisedText:
    """A stored text, normalised when it is first needed, once for all quotes.

    Two steps lead from the stored text to the normalised one: what is ignored is taken out (the compact text), then
    each segment is folded. A quote is found by searching `normal`; `stored_span` goes the two steps back.
    """

    def __init__(self, text: str) -> None:
        self.text = text

    @property
    def normal(self) -> str:
        """After NFKC and case folding, with straight quotes and dashes and without white space (P4.1)."""
        return self._segments.normal

    def stored_span(self, start: int, end: int) -> Span:
        """The part of the stored text that `normal[start:end]` comes from, where `start < end`.

        A part of a segment (half of a ligature, a letter without its accent) counts as the whole segment.
        """
        first, _ = self._compact_span(start)
        _, last = self._compact_span(end - 1)
        return self._stored_index(first), self._stored_index(last - 1) + 1

    def _compact_span(self, position: int) -> Span:
        """The part of the compact text that one normalised character comes from."""
        segments = self._segments
        at = bisect_right(segments.normal_starts, position) - 1
        start = segments.compact_starts[at]
        if segments.plain[at]:
            start += position - segments.normal_starts[at]
            return start, start + 1
        return start, segments.compact_starts[at + 1]

    def _stored_index(self, index: int) -> int:
        block = bisect_right(self._block_starts, index) - 1
        left = index - self._block_starts[block]
        for stretch in KEPT.finditer(self.text, block * _BLOCK):
            if left < stretch.end() - stretch.start():
                return stretch.start() + left
            left -= stretch.end() - stretch.start()
        raise IndexError(index)

    @cached_property
    def _compact(self) -> str:
        """The text without what is ignored, with straight quotes and dashes: as long as what is kept of it."""
        return straightened(_kept(self.text))

    @cached_property
    def _segments(self) -> _Segments:
        compact = self._compact
        if compact.isascii():
            return _Segments(compact.casefold(), [0], [0, len(compact)], [True])
        pieces: list[str] = []
        normal_starts: list[int] = []
        compact_starts: list[int] = []
        plain: list[bool] = []
        length = 0
        plain_folded = _with_plain_folded(compact)
        for match in segment_pattern().finditer(compact):
            one_to_one = match.lastgroup == "plain"
            piece = plain_folded[match.start() : match.end()] if one_to_one else _fold_odd_segment(match.group())
            pieces.append(piece)
            normal_starts.append(length)
            compact_starts.append(match.start())
            plain.append(one_to_one)
            length += len(piece)
        compact_starts.append(len(compact))
        return _Segments(straightened("".join(pieces)), normal_starts, compact_starts, plain)

    @cached_property
    def _block_starts(self) -> list[int]:
        """Where each block of the stored text begins in the compact one: to find a place, one block is read again."""
        only_space_goes = len(_without_space(self.text)) == len(self._compact)  # as from most texts: half the cost
        kept = _without_space if only_space_goes else _kept
        blocks = (self.text[start : start + _BLOCK] for start in range(0, len(self.text), _BLOCK))
        return list(accumulate((len(kept(block)) for block in blocks), initial=0))


def _kept(text: str) -> str:
    """A text, or a part of one, without what is ignored."""
    without_space = _without_space(text)  # four times as fast as the pattern, which then has little to do
    return without_space if without_space.isascii() else REMOVED.sub("", without_space)


def _without_space(text: str) -> str:
    return "".join(text.split())


def _with_plain_folded(compact: str) -> str:
    """A text in which each plain character is what it folds to, one for one; the others are left.

    A text has few different characters, and fewer that change: a replacement for each is a third of the cost of
    `str.translate`. What one makes no other changes, for a plain character's fold folds to itself.
    """
    for character in set(compact):
        if (folded := _PLAIN_FOLDS[character]) != character:
            compact = compact.replace(character, folded)
    return compact


class _PlainFolds(dict[str, str]):
    """The fold of each plain character, and each other one as it is; filled as they come."""

    def __missing__(self, character: str) -> str:
        self[character] = fold(character) if folds_to_one(character) else character
        return self[character]


_PLAIN_FOLDS = _PlainFolds()


@lru_cache(maxsize=16_384)
def _fold_odd_segment(segment: str) -> str:
    return fold_segment(segment)  # a text has few different segments that are not plain: accents, ligatures, emoji


def normalised(text: str) -> str:
    """`text` after the normalisation of P4.1."""
    return NormalisedText(text).normal
