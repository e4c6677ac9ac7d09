"""Text differences by word, no grapheme cut (SPEC A11)."""

from __future__ import annotations

import warnings
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchbook.comparison.text_difference import TextSpan, text_difference

with warnings.catch_warnings():
    warnings.simplefilter("ignore", EncodingWarning)  # as in text_difference
    import regex

    GRAPHEME = regex.compile(r"\X")


def shown(a: str, b: str) -> str:
    marks = {"same": "{}", "deleted": "[-{}-]", "inserted": "{{+{}+}}"}
    return "".join(marks[op].format(text) for op, text in text_difference(a, b))


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        ("", "", ""),
        ("a", "", "[-a-]"),
        ("", "a", "{+a+}"),
        ("the cat sat", "the cat sat", "the cat sat"),
        ("the cat sat", "the dog sat", "the [-cat-]{+dog+} sat"),
        ("the answer is 41", "the answer is 42.", "the answer is [-41-]{+42.+}"),
        ("one two three", "two three four", "[-one -]two three{+ four+}"),
        ("a b c d", "a c b d", "a [-b c -]{+c b +}d"),
        ("a bb c dd", "a x c y", "a [-bb-]{+x+} c [-dd-]{+y+}"),
        ("the cat sat on it", "the dog ran on it", "the [-cat sat-]{+dog ran+} on it"),
        ("naïve", "naive", "[-naïve-]{+naive+}"),
        ("cafe\u0301 au lait", "cafe au lait", "[-cafe\u0301-]{+cafe+} au lait"),
        ("go 👩‍👩‍👧 now", "go 👩‍👩‍👦 now", "go [-👩‍👩‍👧-]{+👩‍👩‍👦+} now"),
        ("🇩🇪🇫🇷", "🇩🇪🇮🇹", "🇩🇪[-🇫🇷-]{+🇮🇹+}"),
        ("答案是四", "答案是五", "答案是[-四-]{+五+}"),
        ("a\r\nb", "a\nb", "a[-\r\n-]{+\n+}b"),
        ("x = 1", "x  = 1", "x[- -]{+  +}= 1"),
    ],
)
def test_texts_by_hand(a: str, b: str, expected: str) -> None:
    assert shown(a, b) == expected


letters = st.sampled_from(
    ["a", "b", " ", "\n", "\r", "\u0301", "👩", "\u200d", "🇩", "🇪", "é", "漢", ".", "\ud800", "\u0600"]
)
texts = st.lists(letters, max_size=30).map("".join)
words = st.lists(st.sampled_from(["the ", "cat ", "sat ", "on ", "a ", "mat.\n", "é ", "e\u0301 "]), max_size=60).map(
    "".join
)


def check(a: str, b: str) -> list[TextSpan]:
    found = text_difference(a, b)
    assert "".join(text for op, text in found if op != "inserted") == a
    assert "".join(text for op, text in found if op != "deleted") == b
    assert all(text for _, text in found)
    assert all(before.op != after.op for before, after in pairwise(found))
    for whole, left_out in ((a, "inserted"), (b, "deleted")):
        pieces = [one for op, text in found if op != left_out for one in GRAPHEME.findall(text)]
        assert pieces == GRAPHEME.findall(whole)
    return found


@given(texts, texts)
def test_segments_make_up_both_texts_and_cut_no_grapheme(a: str, b: str) -> None:
    check(a, b)


@given(words, words)
def test_what_stays_the_same_is_longer_than_a_change_beside_it(a: str, b: str) -> None:
    found = check(a, b)
    for place, (op, text) in enumerate(found):
        if op == "same" and 0 < place < len(found) - 1:
            before = max(len(one.text) for one in found[max(place - 2, 0) : place] if one.op != "same")
            after = max(len(one.text) for one in found[place + 1 : place + 3] if one.op != "same")
            assert len(text) > min(before, after)


@given(texts)
def test_a_text_does_not_differ_from_itself(text: str) -> None:
    assert text_difference(text, text) == ([TextSpan("same", text)] if text else [])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("a", "b"),
    [
        pytest.param("word " * 1_000_000, "word " * 499_999 + "other " + "word " * 500_000, id="one-word"),
        pytest.param("ab " * 1_700_000, "ba " * 1_700_000, id="nothing-in-common"),
        pytest.param("x" * 5_000_000, "x" * 2_500_000 + "y" + "x" * 2_500_000, id="one-long-word"),
        pytest.param("\n".join(map(str, range(700_000))), "\n".join(map(str, range(1, 700_001))), id="lines"),
        pytest.param("a b " * 20_000, "b c " * 20_000, id="alike-all-over"),
        pytest.param("e\u0301" * 50_000, "e\u0301" * 49_000, id="one-run-of-marks"),
    ],
)
def test_long_texts_are_bounded_in_time(a: str, b: str) -> None:
    """Each takes well below a second; in quadratic time this test would not end today."""
    found = text_difference(a, b)
    assert "".join(text for op, text in found if op != "inserted") == a
    assert "".join(text for op, text in found if op != "deleted") == b
