"""Texts that stand in several places of a site, each written once; whatever shows one refers to it.

A reference is a text that begins with `SIGN`: the number of a text, and for a part of it where that starts and ends,
in UTF-16 code units, as ui/src/site/texts.ts reads it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from benchbook.server.samples import CUT
from benchbook.server.site.packing import in_parts

SIGN = "\x01"
_LEAST = 40  # characters of a text that is referred to: a reference to less is not shorter
_MOST = 4 * CUT  # of one whose start is referred to: a list that shows it loads no more than this for it


class SharedTexts:
    """The texts of a site, by number."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._starts: dict[str, int] = {}  # of each start of a text, as lists show it, a text that has it

    def shared(self, value: Any) -> Any:
        """JSON with references in place of its long texts."""
        match value:
            case str():
                return self._reference(value)
            case list():
                return [self.shared(one) for one in value]
            case dict():
                return {name: self.shared(one) for name, one in value.items()}
            case _:
                return value

    def shared_item(self, item: Mapping[str, Any]) -> dict[str, Any]:
        """The same of an item with its answers: what they differ in refers to their texts."""
        first = item["answers"][0]["text"]
        answers = [
            self.shared({name: value for name, value in one.items() if name != "segments"})
            | {"segments": self._segments(one["segments"], first, one["text"])}
            for one in item["answers"]
        ]
        found: dict[str, Any] = self.shared({name: value for name, value in item.items() if name != "answers"})
        return found | {"answers": answers}

    def parts(self) -> Iterator[tuple[int, list[str]]]:
        """The texts in parts, each with the number of its first."""
        first = 0
        for part in in_parts((text, len(text)) for text in self._numbers):
            yield first, part
            first += len(part)

    def _reference(self, text: str) -> str:
        if len(text) < _LEAST and not text.startswith(SIGN):
            return text
        if len(text) == CUT and text not in self._numbers and (whole := self._starts.get(text)) is not None:
            return f"{SIGN}{whole}:0:{_units(text)}"
        number = self._numbers.setdefault(text, len(self._numbers))
        if CUT < len(text) <= _MOST:
            self._starts.setdefault(text[:CUT], number)
        return f"{SIGN}{number}"

    def _segments(self, segments: Sequence[Mapping[str, str]] | None, first: str, own: str) -> list[Any] | None:
        if segments is None:
            return None
        found, at, at_own = [], 0, 0
        for one in segments:
            op, text = one["op"], one["text"]
            whole, start = (own, at_own) if op == "inserted" else (first, at)
            found.append({"op": op, "text": self._piece(whole, start, text)})
            at += 0 if op == "inserted" else len(text)
            at_own += 0 if op == "deleted" else len(text)
        return found

    def _piece(self, whole: str, start: int, text: str) -> str:
        if len(text) < _LEAST or text == whole:
            return self._reference(text)
        number, _, _ = self._reference(whole).partition(":")  # of a text that is the start of another, that one's
        begins = _units(whole[:start])
        return f"{number}:{begins}:{begins + _units(text)}"


def _units(text: str) -> int:
    """The length in UTF-16 code units, which is what a browser counts."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2
