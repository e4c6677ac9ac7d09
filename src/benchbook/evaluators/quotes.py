"""Locates a judge's quote in the judged text (SPEC P4.1). Nothing fuzzier than these three ways counts as found."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from benchbook.evaluators.evidence_text import NormalisedText, Span, normalised

LocatedKind = Literal["exact", "normalised", "fragments", "not_found", "empty"]

# What joins fragments: an ellipsis of any length, or ` | `. Brackets around an ellipsis are taken off afterwards, since
# a pattern that looked for them would read a run of spaces again from each of its places.
_JOINT = re.compile(r"((?:\.{3,}|…)+)| \| ")
_BRACKETS = frozenset({"[]", "()", "［］", "（）"})
# Letters of the scripts that write a word in one or two characters: Han, kana, bopomofo, Hangul.
_CJK = re.compile(
    "[\u2e80-\u2fdf\u3005-\u3007\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u3105-\u312f\u31a0-\u31bf"
    "\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff]"
)


@dataclass(frozen=True, slots=True)
class Located:
    """How a quote was found and where: one span, or one a fragment; none where it was not found or is empty.

    Spans are half-open and count code points of the stored text. Of several places the first is given.
    """

    kind: LocatedKind
    spans: tuple[Span, ...] = ()

    @property
    def found(self) -> bool:
        return bool(self.spans)


@dataclass(frozen=True, slots=True)
class LengthRule:
    """How long a fragment of a quote must be, so that finding it says something."""

    min_length: int
    cjk_character_length: int

    def holds(self, fragment: str) -> bool:
        """True for at least 4 characters, or 2 where it is CJK: such a one counts as two, which settles mixed ones."""
        if len(fragment) >= self.min_length:
            return True
        more = (self.cjk_character_length - 1) * len(_CJK.findall(fragment))
        return len(fragment) + more >= self.min_length


def locate(quote: str, text: NormalisedText | str, length: LengthRule) -> Located:
    """Where `quote` stands in `text`, in the order exact, normalised, fragments (SPEC P4.1).

    For several quotes make one `NormalisedText` and pass that: it is normalised once. A quote of which nothing is left
    after normalisation (white space, zero-width characters) is evidence of nothing: it is `empty`, even where those
    characters stand in the text.
    """
    where = text if isinstance(text, NormalisedText) else NormalisedText(text)
    wanted = normalised(quote)
    if not wanted:
        return Located("empty")
    start = where.text.find(quote)
    if start >= 0:
        return Located("exact", ((start, start + len(quote)),))
    start = where.normal.find(wanted)
    if start >= 0:
        return Located("normalised", (where.stored_span(start, start + len(wanted)),))
    spans = _locate_fragments(quote, where, length)
    return Located("fragments", spans) if spans else Located("not_found")


def _locate_fragments(quote: str, where: NormalisedText, length: LengthRule) -> tuple[Span, ...]:
    """A span for each fragment; none where the quote has no joint, or a fragment is too short or not found.

    Each fragment is taken at its first place after the one before. That finds an order where there is one: an earlier
    end leaves at least as much room for the rest.
    """
    spans: list[Span] = []
    position = 0
    for fragment in _fragments(quote):
        if not length.holds(fragment):
            return ()
        start = where.normal.find(fragment, position)
        if start < 0:
            return ()
        position = start + len(fragment)
        spans.append(where.stored_span(start, position))
    return tuple(spans)


def _fragments(quote: str) -> list[str]:
    """The normalised fragments of a quote that has a joint, in order; no fragment at all where it has none.

    What is empty is no fragment: a quote may begin or end with an ellipsis, which says that it goes on, and one
    fragment is then enough.
    """
    pieces = _JOINT.split(quote)  # text, joint, text, joint, ... text; the joint is None for a bar
    texts, joints = pieces[0::2], pieces[1::2]
    if not joints:
        return []
    for at, ellipsis in enumerate(joints):
        if ellipsis:
            _take_brackets_off(texts, at)
    return [fragment for fragment in map(normalised, texts) if fragment]


def _take_brackets_off(texts: list[str], at: int) -> None:
    before, after = texts[at].rstrip(), texts[at + 1].lstrip()
    if before[-1:] + after[:1] in _BRACKETS:
        texts[at], texts[at + 1] = before[:-1], after[1:]


CHARACTERS_PER_WORD = 2  # 60 words stand for 120 characters

# Scripts that put no spaces between words: Han, kana, bopomofo, Thai, Lao, Tibetan, Burmese, Khmer. Korean has them.
_UNSPACED = re.compile(
    "[\u0e00-\u0fff\u1000-\u109f\u1780-\u17ff\u2e80-\u2fdf\u3005-\u3007\u3041-\u30ff\u3105-\u312f\u31a0-\u31bf"
    "\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff]"
)


def excess_of(quote: str, most: int, *, counts_characters: bool) -> str | None:
    """By how much a quote is longer than `most` words; None where it is not.

    Words are what white space parts. A text without any is measured in characters, and so is what is written without
    spaces inside one that has some: a line end in a page of Chinese does not make two words of it.
    """
    pieces = quote.split()
    if len(pieces) > most:
        return f"{len(pieces)} words, over {most}"
    if not counts_characters:
        return None
    characters, allowed = sum(map(len, pieces)), CHARACTERS_PER_WORD * most
    if len(pieces) == 1 and characters > allowed:
        return f"{characters} characters without a space, over {allowed}"
    lengths = [len(piece) if _UNSPACED.search(piece) else CHARACTERS_PER_WORD for piece in pieces]
    if sum(lengths) > allowed:
        return f"{characters} characters of text without spaces, as long as {sum(lengths) // 2} words; over {most}"
    return None
