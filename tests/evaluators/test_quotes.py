"""SPEC P4.1: where a quote stands in the judged text."""

from __future__ import annotations

import sys
import time
import unicodedata
from functools import partial

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from benchbook.evaluators.evidence_text import (
    MAX_SEGMENT,
    REMOVED,
    NormalisedText,
    fold,
    joins_the_one_before,
    normalised,
    segment_pattern,
)
from benchbook.evaluators.quotes import LengthRule, Located
from benchbook.evaluators.quotes import locate as located_by

locate = partial(located_by, length=LengthRule(4, 2))

PLAN = "# Plan\n\n1. Collect the invoices from March.\n2. Check each total against the ledger.\n"


def spanned(text: str, found: Located) -> list[str]:
    return [text[start:end] for start, end in found.spans]


@pytest.mark.parametrize(
    ("text", "quote", "span"),
    [
        pytest.param("An eﬃcient workﬂow.", "efficient workflow", "eﬃcient workﬂow", id="ligatures"),
        pytest.param("An eﬃcient one", "ficient", "ﬃcient", id="half-a-ligature-is-the-whole"),
        pytest.param("der Po\u00ad\nlitik in", "Politik", "Po\u00ad\nlitik", id="soft-hyphen-and-line-end"),
        pytest.param("这是一个\n测试文本。", "一个测试", "一个\n测试", id="cjk-line-break"),
        pytest.param("使⽤提⽰词约束", "使用提示词", "使⽤提⽰词", id="kangxi-radicals"),
        pytest.param("（ＡＢＣ）１２３", "(abc)123", "（ＡＢＣ）１２３", id="full-width"),
        pytest.param("ｶﾞｲﾄﾞ と", "ガイド", "ｶﾞｲﾄﾞ", id="half-width-kana-with-sound-marks"),
        pytest.param("the cafe\u0301 there", "CAFÉ", "cafe\u0301", id="combining-accent"),
        pytest.param("the caf\u00e9 there", "cafe\u0301 t", "caf\u00e9 t", id="combining-accent-in-the-quote"),
        pytest.param("\u1112\u1161\u11ab글", "한글", "\u1112\u1161\u11ab글", id="hangul-jamo"),
        pytest.param("한\u1100\u1173\u11af", "글", "\u1100\u1173\u11af", id="a-syllable-of-jamo-alone"),
        pytest.param("x 𝐁𝐨𝐥𝐝 𝟙𝟚 y", "bold 12", "𝐁𝐨𝐥𝐝 𝟙𝟚", id="astral-letters"),
        pytest.param("😀😀 smile", "😀smile", "😀 smile", id="astral-before-and-in-it"),
        pytest.param("STRASSE und Straße", "straße UND strasse", "STRASSE und Straße", id="sharp-s"),
        pytest.param("“a” — isn’t", '"A" - isn\'t', "“a” — isn’t", id="quotes-and-dashes"),
        pytest.param("5″ wide", '5"Wide', "5″ wide", id="double-prime"),
        pytest.param("go\u200bod \ufeffday", "Good day", "go\u200bod \ufeffday", id="zero-width"),
        pytest.param("⚠\ufe0f Warning", "⚠ warning", "⚠\ufe0f Warning", id="variation-selector"),
        pytest.param("wait… what", "wait... What", "wait… what", id="an-ellipsis-in-the-text"),
        pytest.param("a  b\u2003c\u00a0d\x85e", "ABCDE", "a  b\u2003c\u00a0d\x85e", id="all-white-space"),
        pytest.param("κόσμος ΐ", "ΚΌΣΜΟΣ Ϊ\u0301", "κόσμος ΐ", id="greek-folds-apart-and-together"),
        pytest.param("e\n\u0301a", "éa", "e\n\u0301a", id="a-mark-torn-off-by-a-line-end"),
    ],
)  # fmt: skip
def test_a_normalised_quote_has_its_span_in_the_stored_text(text: str, quote: str, span: str) -> None:
    found = locate(quote, text)
    assert (found.kind, spanned(text, found)) == ("normalised", [span])


@pytest.mark.parametrize(
    ("quote", "spans"),
    [
        pytest.param("Collect the ... the ledger", ["Collect the", "the ledger"], id="dots"),
        pytest.param("collect … ledger", ["Collect", "ledger"], id="ellipsis-character"),
        pytest.param("Collect [...] ledger", ["Collect", "ledger"], id="square-brackets"),
        pytest.param("Collect (…) ledger", ["Collect", "ledger"], id="round-brackets"),
        pytest.param("Collect [ ... ]ledger", ["Collect", "ledger"], id="brackets-with-spaces"),
        pytest.param("Collect……ledger", ["Collect", "ledger"], id="doubled-as-in-chinese"),
        pytest.param("Collect [...] [...] ledger", ["Collect", "ledger"], id="twice-in-a-row"),
        pytest.param("Plan | Collect | ledger", ["Plan", "Collect", "ledger"], id="bars"),
        pytest.param("Plan | Collect ... ledger", ["Plan", "Collect", "ledger"], id="bar-and-dots"),
        pytest.param("...against the ledger", ["against the ledger"], id="begins-with-an-ellipsis"),
        pytest.param("Collect THE...", ["Collect the"], id="ends-with-an-ellipsis"),
        pytest.param("from ... 2. Ch ... each", ["from", "2. Ch", "each"], id="length-counts-without-white-space"),
    ],
)  # fmt: skip
def test_fragments_are_found_in_their_order(quote: str, spans: list[str]) -> None:
    found = locate(quote, PLAN)
    assert (found.kind, spanned(PLAN, found)) == ("fragments", spans)


@pytest.mark.parametrize(
    "quote",
    [
        pytest.param("ledger ... Collect", id="wrong-order"),
        pytest.param("Collect ... Collect", id="one-place-is-not-two"),
        pytest.param("Collect ... the ... ledger", id="three-characters"),
        pytest.param("Collect the ... of April", id="one-fragment-is-not-there"),
        pytest.param("Collect .. ledger", id="two-dots"),
        pytest.param("Collect|ledger", id="a-bar-without-spaces"),
        pytest.param("Collect [... ledger", id="half-a-bracket"),
        pytest.param("...", id="an-ellipsis-alone"),
        pytest.param(" | ", id="a-bar-alone"),
        pytest.param("Collect the invoces", id="a-letter-less"),
        pytest.param("Collect the invoices, from March", id="a-comma-more"),
        pytest.param("Collect the invoices\u0301", id="an-accent-more"),
    ],
)
def test_nothing_fuzzier_counts(quote: str) -> None:
    assert locate(quote, PLAN) == Located("not_found")


@pytest.mark.parametrize(
    ("quote", "kind"),
    [
        pytest.param("提示...约束", "fragments", id="two-han-characters"),
        pytest.param("提...约束", "not_found", id="one-han-character"),
        pytest.param("提示…a词", "not_found", id="one-han-and-one-latin"),
        pytest.param("提示…ab词", "fragments", id="one-han-and-two-latin"),
    ],
)
def test_two_cjk_characters_make_a_fragment(quote: str, kind: str) -> None:
    assert locate(quote, "提示词的约束,ab词").kind == kind


@pytest.mark.parametrize("quote", ["", " \n", "\u200b", "\u00ad \ufeff", "\u3000"])
def test_a_quote_with_nothing_to_see_is_empty(quote: str) -> None:
    assert locate(quote, f"a{quote}b") == Located("empty")


def test_exact_goes_before_normalised_and_fragments() -> None:
    text = "ABCDE fghij abcde ... fghij"
    assert locate("abcde", text) == Located("exact", ((12, 17),))
    assert locate("abcde ... fghij", text) == Located("exact", ((12, 27),))


def test_an_empty_text_holds_no_quote() -> None:
    assert [locate(quote, "").kind for quote in ("a", "a ... b", "")] == ["not_found", "not_found", "empty"]


# What is hard about text, and plain letters around it.
CHARACTERS = st.one_of(
    st.sampled_from("ab cd.\n|"),
    st.sampled_from("éÅßİıﬁﬃ½…—’“\u00ad\u200b\u0301\u0308\u0345\u3000⽤用測ｶﾞ\u1100\u1161\u11a8각힣𝐁😀¨ΐΣςÅẛ̣ﷺ"),
    st.characters(),
)
TEXTS = st.text(CHARACTERS, max_size=40)


@given(TEXTS, st.data())
def test_every_exact_part_is_found_exactly(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    quote = text[start:end]
    assume(normalised(quote))
    found = locate(quote, text)
    assert found.kind == "exact"
    assert spanned(text, found) == [quote]
    assert found.spans[0][0] <= start


@given(TEXTS, st.data())
def test_a_span_holds_what_was_found(text: str, data: st.DataObject) -> None:
    whole = NormalisedText(text)
    assume(whole.normal)
    start = data.draw(st.integers(0, len(whole.normal) - 1))
    end = data.draw(st.integers(start + 1, len(whole.normal)))
    first, last = whole.stored_span(start, end)
    assert whole.normal[start:end] in normalised(text[first:last])
    assert not REMOVED.match(text[first])
    assert not REMOVED.match(text[last - 1])
    # A span is no larger than it must be: with its first or last segment gone it would not hold what was found.
    assert whole.stored_span(start, start + 1)[0] == first
    assert whole.stored_span(end - 1, end)[1] == last


@given(st.text(st.sampled_from("ab c\n“”É用⽤測，\u00ad😀"), min_size=1, max_size=40), st.data())
def test_what_is_spanned_normalises_to_the_quote(text: str, data: st.DataObject) -> None:
    """Where each character folds to one, so that no span can be wider than its quote."""
    start = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(start + 1, len(text)))
    quote = f" {text[start:end].upper()}\u00ad "
    assume(normalised(quote))
    found = locate(quote, text)
    assert found.kind in ("exact", "normalised")
    assert [normalised(part) for part in spanned(text, found)] == [normalised(quote)]


@given(st.text("abcdef \n", min_size=4, max_size=60), st.data())
def test_a_changed_character_is_not_found(text: str, data: st.DataObject) -> None:
    assume(len(normalised(text)) >= 4)
    letters = [at for at, letter in enumerate(text) if not letter.isspace()]
    at = data.draw(st.sampled_from(letters))
    quote = text[:at] + data.draw(st.sampled_from("xyz9é用")) + text[at + 1 :]
    assert locate(quote, text) == Located("not_found")


@given(st.text(CHARACTERS, max_size=60))
def test_cut_into_segments_a_text_normalises_as_a_whole(text: str) -> None:
    assert normalised(text) == fold(REMOVED.sub("", text))


@given(st.lists(st.text("abc用", min_size=4, max_size=6), min_size=2, max_size=5), st.data())
def test_greedy_search_finds_every_order_that_there_is(pieces: list[str], data: st.DataObject) -> None:
    gaps = [data.draw(st.text("abc用 ", max_size=6)) for _ in pieces]
    text = "".join(gap + piece for gap, piece in zip(gaps, pieces, strict=True))
    assert locate(" ... ".join(pieces), text).kind == "fragments"


@pytest.mark.slow
def test_the_unicode_facts_that_segments_rest_on() -> None:
    """For every character of this Python's Unicode: what composes with the one before it is known to join."""
    characters = list(map(chr, range(sys.maxunicode + 1)))
    seconds = {
        chr(int(pair[1], 16))
        for character in characters
        if len(pair := unicodedata.decomposition(character).split()) == 2 and not pair[0].startswith("<")
    }
    assert [hex(ord(second)) for second in seconds if not joins_the_one_before(second)] == []
    assert [hex(ord(c)) for c in characters if unicodedata.combining(c) and not joins_the_one_before(c)] == []
    astral = [c for c in characters[0x20000:] if joins_the_one_before(c) and not REMOVED.match(c)]
    assert astral == []  # the segment pattern looks no further


@pytest.mark.slow
def test_a_plain_run_maps_one_to_one() -> None:
    pattern = segment_pattern()
    plain = "".join(c for c in map(chr, range(0x10000)) if (m := pattern.match(c)) and m.lastgroup == "plain")
    assert len(plain) > 50_000  # Han, Hangul, kana, the alphabets
    assert len(fold(plain)) == len(plain)
    assert all(fold(c) == c for c in fold(plain))  # so a replacement for one changes no other


@pytest.mark.parametrize("gap", ["", " ", " \n" * 400, "\u200b" * 1_500, "\u00ad"], ids=repr)
def test_a_place_far_into_a_text_is_found_again(gap: str) -> None:
    """However much of what is ignored stands between, or in how many blocks the text is read."""
    words = [f"Word{number}ﬁ" for number in range(400)]
    text = gap.join(words)
    for number in (0, 1, 7, 199, 398, 399):
        (span,) = locate(f"wOrD{number}fI", text).spans
        assert text[slice(*span)] == words[number]


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    [
        pytest.param("a" + "\u0301\u0323" * 200_000, id="accents"),
        pytest.param("\ufdfa" * 50_000, id="one-becomes-eighteen"),
        pytest.param("😀 " * 200_000, id="astral"),
        pytest.param("ﬃ\u00ad" * 200_000, id="ligatures"),
        pytest.param("a\n" * 300_000, id="a-letter-a-line"),
    ],
)
def test_a_hostile_text_costs_little(text: str) -> None:
    start = time.process_time()
    whole = NormalisedText(text)
    assert whole.stored_span(0, len(whole.normal)) == (0, len(text.rstrip().rstrip("\u00ad")))
    assert time.process_time() - start < 60  # half a second; where it grows with the square, hours


@pytest.mark.slow
@pytest.mark.parametrize(
    "quote",
    [
        pytest.param("[" + " " * 500_000 + "x", id="spaces"),
        pytest.param("." * 500_000, id="dots"),
        pytest.param("..a" * 200_000, id="nearly-dots"),
        pytest.param("...aaaa" * 100_000, id="fragments"),
        pytest.param("[...]" * 100_000, id="brackets"),
        pytest.param("[" * 250_000 + "..." + "]" * 250_000, id="nested-brackets"),
        pytest.param(" | " * 200_000, id="bars"),
        pytest.param("aaaa" * 150_000, id="long"),
    ],
)
def test_a_hostile_quote_costs_little(quote: str) -> None:
    text = NormalisedText("a" * 20_000 + "用")
    start = time.process_time()
    assert locate(quote, text).kind == "not_found"
    assert time.process_time() - start < 60


def test_a_segment_is_cut_where_its_marks_grow_too_many() -> None:
    text = "a" + "\u0301" * (2 * MAX_SEGMENT)
    whole = NormalisedText(text)
    assert whole.stored_span(0, 1) == (0, MAX_SEGMENT + 1)
    assert whole.stored_span(len(whole.normal) - 1, len(whole.normal))[1] == len(text)
