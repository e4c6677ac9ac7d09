"""A text as evidence is looked up in it, and the way back to the text as it is stored (SPEC P4.1)."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import accumulate

from benchbook.scorers.evidence_characters import (
    KEPT,
    REMOVED,
    fold,
    fold_segment,
    folds_to_one,
    segment_pattern,
    straightened,
)

__all__ = ["NormalisedText", "Span", "normalised"]

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
        """What one normalised character comes from, in the compact text."""
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
        """What is not ignored, with straight quotes and dashes: as long as what is kept of the stored text."""
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
    """What is not ignored of a text, or of a part of one."""
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
    """What each plain character folds to, and each other one itself; filled as they come."""

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
