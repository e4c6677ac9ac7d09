"""Where a judged text is marked, and how much of it fits (issue 5, item 9). Pure: text and spans in, pieces out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate, pairwise

from benchbook.derivations.evaluation_rows import SpanRow
from benchbook.reports.markup import text

__all__ = ["Excerpt", "Piece", "excerpt", "fitting", "marked_pieces", "size_of"]

_WORST = 6  # bytes that a character takes at most for each of its own: &quot;, \u202e
_CONTEXTS = (2_000, 1_000, 500, 250, 100, 40)  # characters on either side of a mark, while they fit
_MARK_COST = 400  # bytes of markup that a marked piece takes at most


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of the judged text; `quotes` are the numbers of those that stand in it, from 1."""

    start: int
    end: int
    quotes: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Excerpt:
    """What is shown of a text: pieces in order, with gaps where something is left out; `left_out` characters in all."""

    pieces: tuple[Piece, ...]
    left_out: int


def marked_pieces(length: int, spans: Sequence[tuple[int, Sequence[SpanRow]]]) -> tuple[Piece, ...]:
    """A text of `length` characters cut where a quote begins or ends. `spans` has a quote's number and its spans."""
    inside = [
        (max(span.start, 0), min(span.end, length), number)
        for number, of_quote in spans
        for span in of_quote
        if span.start < min(span.end, length)
    ]
    edges = sorted({0, length, *(start for start, _, _ in inside), *(end for _, end, _ in inside)})
    starts: dict[int, list[int]] = {edge: [] for edge in edges}
    ends: dict[int, list[int]] = {edge: [] for edge in edges}
    for start, end, number in inside:
        starts[start].append(number)
        ends[end].append(number)
    pieces: list[Piece] = []
    here: list[int] = []
    for start, end in pairwise(edges):
        for number in ends[start]:
            here.remove(number)
        here += starts[start]
        pieces.append(Piece(start, end, tuple(sorted(set(here)))))
    return tuple(pieces)


def excerpt(words: str, pieces: Sequence[Piece], n_bytes: int) -> Excerpt:
    """As much of the text as fits into `n_bytes` of a page: all of it, or what stands around the marks, or its start.

    Where not even the marked pieces fit, none are shown: the quotes stand beside the text anyway.
    """
    marks = [piece for piece in pieces if piece.quotes]
    if size_of(words, n_bytes) + _MARK_COST * len(marks) <= n_bytes:
        return Excerpt(tuple(pieces), 0)
    if not marks:
        end = len(fitting(words, n_bytes))
        return Excerpt((Piece(0, end, ()),) if end else (), len(words) - end)
    for context in _CONTEXTS:
        around = _around(pieces, context)
        size = sum(size_of(words[piece.start : piece.end], n_bytes) for piece in around) + _MARK_COST * len(marks)
        if size <= n_bytes:
            return Excerpt(around, len(words) - sum(piece.end - piece.start for piece in around))
    return Excerpt((), len(words))


def _around(pieces: Sequence[Piece], context: int) -> tuple[Piece, ...]:
    """The marked pieces, with `context` characters of what is not marked on either side."""
    kept: list[Piece] = []
    for at, piece in enumerate(pieces):
        if piece.quotes:
            kept.append(piece)
            continue
        after_mark, before_mark = at > 0, at + 1 < len(pieces)
        room = context * (after_mark + before_mark)
        if piece.end - piece.start <= room:
            kept.append(piece)
            continue
        if after_mark:
            kept.append(Piece(piece.start, piece.start + context, ()))
        if before_mark:
            kept.append(Piece(piece.end - context, piece.end, ()))
    return tuple(kept)


def size_of(words: str, limit: int) -> int:
    """Bytes that `words` take as text of a page; something above `limit` where it is certain to be above."""
    if len(words) > limit:
        return len(words)
    return len(text(words).encode())


def fitting(words: str, n_bytes: int) -> str:
    """The longest beginning of `words` that takes at most `n_bytes` as text of a page."""
    words = words[: max(n_bytes, 0)]
    if _WORST * len(words) <= n_bytes or size_of(words, n_bytes) <= n_bytes:
        return words
    sizes = accumulate(_size_of_character(character) for character in words)
    return words[: sum(1 for size in sizes if size <= n_bytes)]


@lru_cache(maxsize=16_384)
def _size_of_character(character: str) -> int:
    return len(text(character).encode())
