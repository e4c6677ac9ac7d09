"""Requests that differ in a few texts alone, as bytes: what they share is written once, and each text put in between.

In canonical JSON a text's bytes are those of its parts, one after the other, so that the request is the same as if it
were written anew.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence
from itertools import repeat
from typing import Generic, TypeVar

from benchbook.canonical import canonical_lines, unicode_json

_Of = TypeVar("_Of")
TextPart = str | Callable[[_Of], str]  # of a text: the same in all requests, or made of what the request is about


class RequestPieces(Generic[_Of]):
    """A request with texts that are made of parts. `body` gives its bytes for the texts in their order."""

    def __init__(self, body: Callable[[Sequence[str]], bytes], texts: Sequence[Sequence[TextPart[_Of]]]) -> None:
        mark = "text-"
        while mark.encode() in body([""] * len(texts)):
            mark += "-"
        marks = [f"{mark}{number}." for number in range(len(texts))]
        left = body(marks)
        self._pieces: list[bytes | Callable[[_Of], str]] = []
        places = sorted(range(len(texts)), key=lambda number: left.index(marks[number].encode()))
        for number in places:
            before, left = left.split(marks[number].encode(), 1)
            self._add(before)
            for part in texts[number]:
                self._add(_inside(part) if isinstance(part, str) else part)
        self._add(left)

    def _add(self, piece: bytes | Callable[[_Of], str]) -> None:
        if isinstance(piece, bytes) and self._pieces and isinstance(self._pieces[-1], bytes):
            self._pieces[-1] += piece
        else:
            self._pieces.append(piece)

    def body(self, of: _Of) -> bytes:
        """The request's bytes. Raises: UnicodeEncodeError for a text with a lone surrogate."""
        return b"".join([one if type(one) is bytes else unicode_json(one(of))[1:-1] for one in self._pieces])  # type: ignore[operator]

    def sha256(self, of: _Of) -> str:
        """The hash that names the request. Raises: as `body`."""
        return hashlib.sha256(self.body(of)).hexdigest()

    def sha256s(self, of_all: Sequence[_Of]) -> list[str]:
        """The hashes of several requests. Raises: as `body`."""
        first, *others = self._pieces
        assert isinstance(first, bytes)  # noqa: S101 - a request begins with a brace
        if not others:
            return [hashlib.sha256(first).hexdigest()] * len(of_all)
        columns: list[Iterable[bytes]] = []
        for piece in others:
            if isinstance(piece, bytes):
                columns.append(repeat(piece))
            else:
                texts = canonical_lines(map(piece, of_all)).split(b"\n")
                columns.append([text[1:-1] for text in texts[:-1]])
        begun = hashlib.sha256(first)  # most of a judge's request is its instructions, which come first
        found = []
        for rest in zip(*columns, strict=False):
            one = begun.copy()
            one.update(b"".join(rest))
            found.append(one.hexdigest())
        return found


def _inside(text: str) -> bytes:
    """The bytes of a text within its quotation marks."""
    return unicode_json(text)[1:-1]
