"""A text as evidence is looked up in it, and the way back to the text as it is stored (SPEC P4.1)."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import accumulate

from benchbook.scorers.evidence_characters import (
    REMOVED,
    REMOVED_BETWEEN,
    fold_segment,
    segment_pattern,
    straightened,
)

__all__ = ["NormalisedText", "Span", "normalised"]

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
        compact_starts, stored_starts = self._kept
        at = bisect_right(compact_starts, index) - 1
        return stored_starts[at] + index - compact_starts[at]

    @cached_property
    def _compact(self) -> str:
        """What is not ignored, with straight quotes and dashes: as long as what is kept of the stored text."""
        without_space = "".join(self.text.split())  # four times as fast as the pattern, which then has little to do
        return without_space if without_space.isascii() else straightened(REMOVED.sub("", without_space))

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
        for match in segment_pattern().finditer(compact):
            one_to_one = match.lastgroup == "plain"
            piece = match.group().translate(_PLAIN_FOLDS) if one_to_one else _fold_odd_segment(match.group())
            pieces.append(piece)
            normal_starts.append(length)
            compact_starts.append(match.start())
            plain.append(one_to_one)
            length += len(piece)
        compact_starts.append(len(compact))
        return _Segments(straightened("".join(pieces)), normal_starts, compact_starts, plain)

    @cached_property
    def _kept(self) -> tuple[list[int], list[int]]:
        """Where each stretch between removed characters begins, in the compact text and in the stored one."""
        parts = REMOVED_BETWEEN.split(self.text)  # kept, removed, kept, removed, ... kept
        stored_starts = list(accumulate(map(len, parts), initial=0))[:-1:2]
        compact_starts = list(accumulate(map(len, parts[::2]), initial=0))[:-1]
        return compact_starts, stored_starts


class _PlainFolds(dict[int, str]):
    """What each plain character folds to, filled as they come. On a Han text it halves the cost of NFKC."""

    def __missing__(self, code: int) -> str:
        self[code] = fold_segment(chr(code))
        return self[code]


_PLAIN_FOLDS = _PlainFolds()


@lru_cache(maxsize=16_384)
def _fold_odd_segment(segment: str) -> str:
    return fold_segment(segment)  # a text has few different segments that are not plain: accents, ligatures, emoji


def normalised(text: str) -> str:
    """`text` after the normalisation of P4.1."""
    return NormalisedText(text).normal
