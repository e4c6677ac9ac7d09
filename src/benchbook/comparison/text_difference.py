"""The difference between two texts, by word (SPEC A11). No user-perceived character is ever cut in two.

Bounded in time and memory whatever the texts: beyond the bounds a changed stretch is shown as replaced.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal, NamedTuple

Op = Literal["same", "deleted", "inserted"]

MOST_CHARS = 100_000  # of a changed stretch that is split into words
MOST_EDITS = 500  # texts farther apart than that have nothing in common that is worth showing
MOST_STEPS = 2_000_000


class TextSpan(NamedTuple):
    op: Op
    text: str


def text_difference(a: str, b: str) -> list[TextSpan]:
    """Segments in reading order, neighbours of different kinds: `same` and `deleted` ones make up `a`, `same` and
    `inserted` ones make up `b`.

    A word is a run of letters, digits and underscores, a run of white space, an ideograph, or any other grapheme.
    """
    start = _common_start(a, b)
    end = _common_end(a, b, start)
    middle_a, middle_b = a[start : len(a) - end], b[start : len(b) - end]
    return _readable([TextSpan("same", a[:start]), *_changed(middle_a, middle_b), TextSpan("same", a[len(a) - end :])])


def _changed(a: str, b: str) -> Iterator[TextSpan]:
    """Word by word; line by line first where the stretch is long."""
    if max(len(a), len(b)) <= MOST_CHARS:
        yield from _edited(_words(a), _words(b), _replaced)
    else:
        yield from _edited(a.splitlines(keepends=True), b.splitlines(keepends=True), _by_words)


def _by_words(a: str, b: str) -> Iterator[TextSpan]:
    return _replaced(a, b) if max(len(a), len(b)) > MOST_CHARS else _edited(_words(a), _words(b), _replaced)


def _replaced(a: str, b: str) -> Iterator[TextSpan]:
    yield TextSpan("deleted", a)
    yield TextSpan("inserted", b)


def _edited(a: Sequence[str], b: Sequence[str], inner: Callable[[str, str], Iterator[TextSpan]]) -> Iterator[TextSpan]:
    """The shortest edit of tokens; `inner` says what changed in a stretch between two that are the same."""
    at_a = at_b = 0
    for i, j, length in [*_matches(a, b), (len(a), len(b), 0)]:
        yield from inner("".join(a[at_a:i]), "".join(b[at_b:j]))
        yield TextSpan("same", "".join(a[i : i + length]))
        at_a, at_b = i + length, j + length


def _matches(a: Sequence[str], b: Sequence[str]) -> list[tuple[int, int, int]]:
    """Stretches that are the same: (place in a, place in b, length). Myers 1986, An O(ND) Difference Algorithm.

    None at all where the bounds are met first.
    """
    numbers: dict[str, int] = {}
    left, right = ([numbers.setdefault(token, len(numbers)) for token in tokens] for tokens in (a, b))
    n_left, n_right = len(left), len(right)
    left.append(-1)  # no token is like an end, so that none is looked for behind it
    right.append(-2)
    most = min(n_left + n_right, MOST_EDITS)
    front, zero, steps = [0] * (2 * most + 3), most + 1, 0
    fronts: list[list[int]] = []
    for edits in range(most + 1):
        fronts.append(front[zero - edits - 1 : zero + edits + 2])
        # Diagonals that lie outside of both texts lead nowhere.
        first = -edits if edits <= n_right else edits - 2 * n_right
        last = edits if edits <= n_left else 2 * n_left - edits
        for k in range(first, last + 1, 2):
            below, above = front[zero + k - 1], front[zero + k + 1]
            start = x = above if k == -edits or (k != edits and below < above) else below + 1
            y = x - k
            if x <= n_left and y <= n_right:
                while left[x] == right[y]:
                    x += 1
                    y += 1
                steps += 1 + x - start
                if x == n_left and y == n_right:
                    return _traced(fronts, n_left, n_right)
            front[zero + k] = x
        if steps > MOST_STEPS:
            break
    return []


def _traced(fronts: Sequence[Sequence[int]], x: int, y: int) -> list[tuple[int, int, int]]:
    """The matches, found by going back from the ends along the edits that led there. Each front has its diagonals from
    the lowest on."""
    found = []
    for edits in range(len(fronts) - 1, -1, -1):
        front, zero, k = fronts[edits], edits + 1, x - y
        down = k == -edits or (k != edits and front[zero + k - 1] < front[zero + k + 1])
        before = k + 1 if down else k - 1
        start = front[zero + before] if down else front[zero + before] + 1
        if x > start:
            found.append((start, start - k, x - start))
        x = front[zero + before]
        y = x - before
    return found[::-1]


def _words(text: str) -> list[str]:
    return list(_word_pattern().findall(text))


@cache
def _word_pattern() -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EncodingWarning)  # `regex` asks for the locale's encoding; a str needs none
        import regex

        return regex.compile(
            r"(?=[\p{Han}\p{Hiragana}\p{Katakana}])\X|(?:(?=\w)(?![\p{Han}\p{Hiragana}\p{Katakana}])\X)+|(?:(?=\s)\X)+|\X"
        )


def _common_start(a: str, b: str) -> int:
    """How much both begin with, up to a seam: a place between two ASCII characters where a word ends.

    Both characters belong to what is common, so that no grapheme and no word reaches over it, whatever follows.
    """
    low, high = 0, min(len(a), len(b))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if a[:middle] == b[:middle] else (low, middle - 1)
    if low == len(a) == len(b):
        return low
    place = a.rfind(" ", 0, low)
    while place > 0 and not _is_plain(a[place - 1]):
        place = a.rfind(" ", 0, place)
    return max(place, 0)


def _common_end(a: str, b: str, start: int) -> int:
    """How much both end with, as `_common_start`, of what follows `start`."""
    low, high = 0, min(len(a), len(b)) - start
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if a[len(a) - middle :] == b[len(b) - middle :] else (low, middle - 1)
    place = a.find(" ", len(a) - low + 1)
    while place > 0 and not _is_plain(a[place - 1]):
        place = a.find(" ", place + 1)
    return len(a) - place if place > 0 else 0


def _is_plain(character: str) -> bool:
    return "!" <= character <= "~"


@dataclass(slots=True)
class _Change:
    """The text deleted and inserted in one place, and the unchanged text behind it."""

    deleted: str
    inserted: str
    same: str

    @property
    def size(self) -> int:
        return max(len(self.deleted), len(self.inserted))


def _readable(segments: Iterable[TextSpan]) -> list[TextSpan]:
    """The segments without empty ones, and without what is the same only by chance: a stretch that is no longer than
    the changes on both of its sides (a space, an "is") would be read as a riddle, and counts as changed with them.
    """
    changes: list[_Change] = []
    for change in _changes(segments):
        changes.append(change)
        while len(changes) > 1 and len(changes[-2].same) <= min(changes[-2].size, changes[-1].size):
            last, before = changes.pop(), changes.pop()
            deleted = before.deleted + before.same + last.deleted
            changes.append(_Change(deleted, before.inserted + before.same + last.inserted, last.same))
    found = [
        segment
        for change in changes
        for segment in (
            TextSpan("deleted", change.deleted),
            TextSpan("inserted", change.inserted),
            TextSpan("same", change.same),
        )
    ]
    return [segment for segment in found if segment.text]


def _changes(segments: Iterable[TextSpan]) -> Iterator[_Change]:
    """Segments as changes; the first changes nothing where the texts begin alike."""
    change = _Change("", "", "")
    for op, text in segments:
        if op != "same" and text and change.same:
            yield change
            change = _Change("", "", "")
        match op:
            case "same":
                change.same += text
            case "deleted":
                change.deleted += text
            case "inserted":
                change.inserted += text
    yield change
