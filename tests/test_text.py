"""Making hostile text fit to be stored and shown."""

from __future__ import annotations

import unicodedata

import pytest

from benchbook.text import sentences, storable, visible

CHARACTERS = "".join(map(chr, range(0x20000)))  # the first two planes; the others have none of either kind
# The classes of characters that reorder text (Unicode TR 9), and the marks that have a letter's class.
REORDERING = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}
MARKS = {"\u061c", "\u200e", "\u200f"}


def is_unseen(character: str) -> bool:
    """True by Unicode's own tables: a control other than tab and line feed, or a mark that reorders text."""
    if unicodedata.category(character) == "Cc":
        return character not in "\t\n"
    return character in MARKS or unicodedata.bidirectional(character) in REORDERING


def test_what_is_stored_is_valid_unicode_and_loses_nothing() -> None:
    expected = (f"\\u{ord(one):04x}" if "\ud800" <= one <= "\udfff" else one for one in CHARACTERS)
    assert storable(CHARACTERS) == "".join(expected)


def test_what_is_shown_has_every_control_and_every_mark_of_direction_escaped() -> None:
    stored = storable(CHARACTERS)
    expected = (f"\\u{ord(one):04x}" if is_unseen(one) else one for one in stored)
    assert visible(stored) == "".join(expected)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        pytest.param("", "", id="empty"),
        pytest.param("a\tb\nc", "a\tb\nc", id="tab-and-line-feed-stay"),
        pytest.param("\x1b[31m\x1b", "\\u001b[31m\\u001b", id="the-same-twice"),
        pytest.param("\u202e\x00\u202e", "\\u202e\\u0000\\u202e", id="kinds-in-turn"),
        pytest.param("\\u202e", "\\u202e", id="an-escape-stays"),
        pytest.param("\ud83d\ude00", "\\ud83d\\ude00", id="two-halves-stay-halves"),
        pytest.param("😀\ud83d", "😀\\ud83d", id="a-half-beside-a-whole"),
    ],
)
def test_a_text_is_shown_so(text: str, shown: str) -> None:
    assert visible(text) == shown


@pytest.mark.parametrize(
    ("parts", "joined"),
    [
        (["It is down", "Start it"], "It is down. Start it."),
        (["It is down.", "Is it running?"], "It is down. Is it running?"),
        (["It says: no…", ""], "It says: no…"),
        (["", "Wait!"], "Wait!"),
        ([], ""),
    ],
)
def test_sentences_end_in_one_mark_each(parts: list[str], joined: str) -> None:
    assert sentences(*parts) == joined
