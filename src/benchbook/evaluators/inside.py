"""Where an expected answer stands in a text, and whether it is a part of something longer there (SPEC A7).

The diagnosis counts every place, as the frozen metric says: 12 is contained in 12.25. Whoever shows it says what it is.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

Within = Literal["number", "word"]
MOST_PLACES = 200  # of one text; more of them mark nothing that is worth reading

_JOINTS = ".,"  # 12.25, 12,000
_SIGNS = "-\u2212"
_BEFORE_SIGN = "([{=<>*/+:,;|\"'"


@dataclass(frozen=True, slots=True)
class PlaceInText:
    """A part of a text, half-open, in code points. `within` says what longer thing it is a part of; None for none."""

    start: int
    end: int
    within: Within | None


def places_of(expected: str, text: str) -> list[PlaceInText]:
    """The places at which `expected` stands in `text`, white space around it and case apart; `MOST_PLACES` at most.

    >>> places_of("12", "It is 12.25, or 12.")
    [PlaceInText(start=6, end=8, within='number'), PlaceInText(start=16, end=18, within=None)]
    """
    wanted = expected.strip().casefold()
    if not wanted:
        return []
    folded, origin = _folded(text)
    found = []
    for start in _starts(wanted, folded):
        first, end = start, start + len(wanted)
        if origin is not None:
            first, end = origin[first], origin[end - 1] + 1
        found.append(PlaceInText(first, end, _within(text, first, end)))
        if len(found) == MOST_PLACES:
            break
    return found


def _folded(text: str) -> tuple[str, list[int] | None]:
    """The case-folded text, and of each of its characters the place that it comes from; None where these are alike."""
    folded = text.casefold()
    if text.isascii():
        return folded, None
    origin = [place for place, character in enumerate(text) for _ in character.casefold()]
    return folded, origin


def _starts(wanted: str, text: str) -> Iterator[int]:
    start = text.find(wanted)
    while start >= 0:
        yield start
        start = text.find(wanted, start + len(wanted))


def _within(text: str, start: int, end: int) -> Within | None:
    before, first, last, after = text[:start][-2:], text[start], text[end - 1], text[end : end + 2]
    if _goes_on(last, after) or _goes_on(first, before[::-1]) or _has_sign(first, before):
        return "number"
    return "word" if _is_joined(last, after[:1]) or _is_joined(first, before[-1:]) else None


def _goes_on(edge: str, beyond: str) -> bool:
    """True if a digit at the edge belongs to a longer number: another follows, or a point or comma and another."""
    if not edge.isdigit():
        return False
    return beyond[:1].isdigit() or (len(beyond) == 2 and beyond[0] in _JOINTS and beyond[1].isdigit())


def _has_sign(first: str, before: str) -> bool:
    """True if a number without a sign has one in the text: a dash that takes nothing away from what is before."""
    if not first.isdigit() or before[-1:] not in tuple(_SIGNS):
        return False
    return len(before) == 1 or before[0].isspace() or before[0] in _BEFORE_SIGN


def _is_joined(edge: str, beyond: str) -> bool:
    """True if letters or digits go on over the edge. Scripts without spaces between words tell nothing by that."""
    return all(one.isalnum() and unicodedata.category(one) != "Lo" for one in (edge, beyond or " "))
