"""Making hostile text fit to be stored and shown."""

from __future__ import annotations

import unicodedata

import pytest

from benchbook.text import sentences, storable, visible

CHARACTERS = "".join(map(chr, range(0x20000)))  # the first two planes; the others have none of either kind
# The classes of characters that reorder text (Unicode TR 9).
REORDERING = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}
# Default_Ignorable_Code_Point of Unicode 16 in those planes, and the marks of notes between lines.
IGNORABLE = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180e\u180f\u200b\u200c\u200d\u200e\u200f"
    "\u202a\u202b\u202c\u202d\u202e\u3164\ufeff\uffa0"
    + "".join(map(chr, (*range(0x2060, 0x2070), *range(0xFE00, 0xFE10), *range(0xFFF0, 0xFFFC))))
    + "".join(map(chr, (*range(0x1BCA0, 0x1BCA4), *range(0x1D173, 0x1D17B))))
)


ENGLAND = "\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f"


def is_unseen(character: str) -> bool:
    """True by Unicode's own tables: a control other than tab and line feed, what reorders text, what has no width."""
    if unicodedata.category(character) == "Cc":
        return character not in "\t\n"
    return character in IGNORABLE or unicodedata.bidirectional(character) in REORDERING


def test_what_is_stored_is_valid_unicode_and_loses_nothing() -> None:
    expected = (f"\\u{ord(one):04x}" if "\ud800" <= one <= "\udfff" else one for one in CHARACTERS)
    assert storable(CHARACTERS) == "".join(expected)


def shown(character: str) -> str:
    code = ord(character)
    return character if not is_unseen(character) else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def test_what_is_shown_has_everything_escaped_that_nobody_sees() -> None:
    stored = storable(CHARACTERS)
    assert visible(" ".join(stored)) == " ".join(map(shown, stored))


def test_what_lies_beyond_both_planes_is_escaped_behind_what_has_no_variants() -> None:
    tags = "".join(map(chr, range(0xE0000, 0xE1000)))
    assert visible(f"x{tags}") == "x" + "".join(f"\\U{ord(one):08x}" for one in tags)


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
        pytest.param("a\u200bb\ufeff\u00ad", "a\\u200bb\\ufeff\\u00ad", id="no-width"),
        pytest.param("a\u200db", "a\\u200db", id="nothing-to-join"),
        pytest.param("می\u200cخواهم", "می\u200cخواهم", id="persian"),
        pytest.param("क्\u200dष", "क्\u200dष", id="hindi"),
        pytest.param("भा\u200c\u200c", "भा\u200c\\u200c", id="the-second-of-a-row"),
        pytest.param("👩🏽\u200d🚀 👁\ufe0f\u200d🗨\ufe0f", "👩🏽\u200d🚀 👁\ufe0f\u200d🗨\ufe0f", id="joined-emoji"),
        pytest.param("👍\ufe0f\ufe0f", "👍\ufe0f\\ufe0f", id="a-variant-twice"),
        pytest.param("1\ufe0f\u20e3 1\ufe0f", "1\ufe0f\u20e3 1\\ufe0f", id="a-key-cap"),
        pytest.param("ខ្មែរ\u200bភាសា", "ខ្មែរ\u200bភាសា", id="khmer-between-words"),
        pytest.param(f"\U0001f3f4{ENGLAND}", f"\U0001f3f4{ENGLAND}", id="a-flag"),
        pytest.param("x\U000e0041\U000e007f", "x\\U000e0041\\U000e007f", id="tags-of-no-flag"),
        pytest.param("葛\U000e0100 a\U000e0100", "葛\U000e0100 a\\U000e0100", id="variants-of-ideographs"),
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
