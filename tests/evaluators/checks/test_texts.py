"""Kinds that compare texts: equals, contains, contains_all, max_words, regex, token_f1."""

from __future__ import annotations

import collections
import re
import string
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchbook.errors import ItemError
from benchbook.evaluators.checks import score_item
from benchbook.evaluators.checks.kinds.texts import first_match, token_f1
from checking import judged, one_check

LACKING = "; expected text, a number, or a list of these"
PARIS = 'expected = "Paris"'


@pytest.mark.parametrize(
    ("kind", "settings", "answer", "reason"),
    [
        pytest.param("equals", PARIS, " paris\n", None, id="equals-but-for-case-and-ends"),
        pytest.param("equals", PARIS, "Paris.", "not_equal", id="equals-with-punctuation"),
        pytest.param("equals", PARIS + "\nignore_punctuation = true", "“Paris”.", None, id="punctuation-ignored"),
        pytest.param(
            "equals", 'expected = "a b"\nignore_punctuation = true', "a - b", None, id="and-spaces-run-together"
        ),
        pytest.param("equals", PARIS + "\nignore_case = false", "paris", "not_equal", id="case-counts"),
        pytest.param("equals", PARIS + "\nstrip = false", "Paris ", "not_equal", id="ends-count"),
        pytest.param("equals", 'expected = "ﬁn 4"\nunicode = "NFKC"', "fin ４", None, id="nfkc"),
        pytest.param("equals", 'expected = "café"', "cafe\u0301", "not_equal", id="no-unicode-form-by-default"),
        pytest.param("equals", 'expected = "café"\nunicode = "NFC"', "cafe\u0301", None, id="nfc"),
        pytest.param("equals", 'expected = "STRASSE"', "straße", None, id="casefold"),
        pytest.param("equals", 'expected = ["Paris", "Lutetia"]', "lutetia", None, id="one-of-several"),
        pytest.param("equals", "expected = 42", "42", None, id="a-number-as-it-is-written"),
        pytest.param("equals", "expected = 4.20", "4.2", "not_equal", id="a-number-is-compared-as-text"),
        pytest.param("equals", "expected = true", "True", None, id="a-truth-value"),
        pytest.param("contains", PARIS, "It is PARIS, I think.", None, id="contains"),
        pytest.param("contains", PARIS, "It is Rome.", "not_inside", id="contains-not"),
        pytest.param("contains", 'expected = "4"', "42", None, id="a-substring"),
        pytest.param("contains", 'expected = "4"\nwhole_words = true', "42 and x4", "not_inside", id="no-whole-word"),
        pytest.param("contains", 'expected = "4"\nwhole_words = true', "44 4,", None, id="a-whole-word"),
        pytest.param("contains", 'expected = "-4"\nwhole_words = true', "x-4", None, id="a-sign-joins-nothing"),
        pytest.param(
            "contains", 'expected = "cafe"\nwhole_words = true', "cafe\u0301", "not_inside", id="an-accent-joins"
        ),
        pytest.param("contains", 'expected = ["Rome", "Paris"]', "paris", None, id="contains-one-of-several"),
        pytest.param("contains_all", 'expected = ["a", "b"]', "b and A", None, id="all"),
        pytest.param("contains_all", 'expected = ["a", "b", "c"]', "b", "not_inside", id="not-all"),
        pytest.param("max_words", "limit = 2", "one two", None, id="at-the-limit"),
        pytest.param("max_words", "limit = 2", "one two\u2003three", "too_long", id="over-the-limit"),
        pytest.param("regex", r"pattern = '\d+ apples'", "I have 12 apples", None, id="regex"),
        pytest.param("regex", "pattern = 'APPLES'", "apples", "no_match", id="case-counts-in-a-pattern"),
        pytest.param("regex", "pattern = '(?i)APPLES'", "apples", None, id="but-where-it-says-so"),
        pytest.param("regex", "pattern = '^b$'", "a\nb", "no_match", id="anchors-are-those-of-the-text"),
        pytest.param("regex", "pattern = '(?m)^b$'", "a\nb", None, id="or-of-lines"),
        pytest.param("regex", "pattern = '^$'", "", "no_prediction", id="silence-matches-nothing"),
        pytest.param("regex", "pattern = 'a'", "\ud800a", None, id="a-lone-surrogate-beside-it"),
    ],
)
def test_a_check_of_a_text(kind: str, settings: str, answer: str, reason: str | None) -> None:
    result = judged(kind, answer, settings)
    assert (result.reason, result.score) == (reason, 0 if reason else 1)


@pytest.mark.parametrize(
    ("kind", "settings", "answer", "found"),
    [
        pytest.param("equals", PARIS, " Rome\x1b[2J\n", "Rome\\u001b[2J", id="what-a-terminal-acts-upon-is-shown"),
        pytest.param("contains", PARIS, "It is Paris.", "paris", id="what-was-inside"),
        pytest.param("contains_all", 'expected = ["a", "b", "c"]', "b", "lacks 'a', 'c'", id="what-is-lacking"),
        pytest.param("max_words", "limit = 1", "a b c", "3 words", id="how-many-words"),
        pytest.param("max_words", "limit = 1", "a", "1 word", id="one-word"),
        pytest.param("regex", r"pattern = '\d+'", "I have 12", "12", id="what-matched"),
        pytest.param("equals", PARIS, "x" * 10_000, "x" * 199 + "…", id="cut"),
        pytest.param("equals", PARIS, None, None, id="nothing"),
    ],
)
def test_what_was_found_is_told(kind: str, settings: str, answer: str | None, found: str | None) -> None:
    assert judged(kind, answer, settings).found == found


@pytest.mark.parametrize("answer", [None, "", " \n\u2003"], ids=["none", "empty", "blank"])
@pytest.mark.parametrize(
    ("kind", "settings"),
    [("equals", PARIS), ("contains", PARIS), ("max_words", "limit = 3"), ("token_f1", PARIS + "\nat_least = 0"),
     ("json", ""), ("number", "expected = 4"), ("choice", 'expected = "A"'), ("regex", "pattern = '.*'")],
)  # fmt: skip
def test_silence_passes_no_check(kind: str, settings: str, answer: str | None) -> None:
    scored = score_item(one_check(kind, settings), {}, answer)
    assert (scored.results["it"].reason, scored.score_nano, scored.passed) == ("no_prediction", 0, False)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({}, "nothing" + LACKING),
        ({"expected_answer": None}, "nothing" + LACKING),
        ({"expected_answer": []}, "an empty list" + LACKING),
        ({"expected_answer": ["a", {}]}, "a list of other things" + LACKING),
        ({"expected_answer": {}}, "a value of type dict" + LACKING),
        ({"expected_answer": " "}, "' '; expected text of which something is left to compare"),
        ({"expected_answer": 10**5000}, "a value of type int" + LACKING),
    ],
)  # fmt: skip
@pytest.mark.parametrize("answer", ["4", None])
def test_an_item_without_what_is_expected_is_an_error(
    fields: dict[str, object], message: str, answer: str | None
) -> None:
    """Not a score, whether it was answered or not (SPEC A3)."""
    with pytest.raises(ItemError) as caught:
        score_item(one_check("contains"), fields, answer)
    assert str(caught.value) == f"expected_answer: found {message}"


def test_any_field_of_an_item_can_be_what_is_expected() -> None:
    item = {"names": ["Ada", "Grace"], "year": 1843}
    settings = 'expected = "{{item.names}}"'
    assert judged("contains_all", "Grace and Ada", settings, item).reason is None
    assert judged("contains", "in 1843", 'expected = "{{ item.year }}"', item).reason is None


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "settings", "answer"),
    [
        ("regex", "pattern = '(a+)+$'", "a" * 1_000_000 + "!"),
        ("regex", "pattern = '^(.*)*x$'", "a" * 1_000_000),
        ("regex", "pattern = '([a-zA-Z]+)*$'", "a" * 1_000_000 + "!"),
        ("contains", f'expected = "{"a" * 1000}b"', "a" * 1_000_000),
        ("contains", f'expected = "{"a" * 1000}"\nwhole_words = true', "a" * 1_000_000),
        ("contains", PARIS + "\nignore_punctuation = true", "¡" * 1_000_000),
        ("max_words", "limit = 3", "a " * 500_000),
        ("token_f1", PARIS + "\nat_least = 0.5", "the Paris, " * 100_000),
    ],
)
def test_no_answer_makes_a_check_slow(kind: str, settings: str, answer: str) -> None:
    """Each ends at once; with backtracking the first would outlive us all."""
    assert judged(kind, answer, settings).score <= 1


def test_a_pattern_sees_unicode() -> None:
    assert first_match(r"\w+", "« été »") == "été"
    assert first_match(r"\d", "٤") == "٤"
    assert first_match(r"\p{Greek}+", "aβγ") == "βγ"


# ── token_f1 ─────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("one", "other", "score"),
    [
        pytest.param("the cat sat", "A cat sat!", Fraction(1), id="articles-and-punctuation"),
        pytest.param("cat sat down", "cat", Fraction(1, 2), id="one-of-three-and-one"),
        pytest.param("a a b", "b b c", Fraction(2, 4), id="a-is-an-article"),
        pytest.param("x x y", "x z", Fraction(2, 5), id="counted-as-often-as-in-both"),
        pytest.param("dog", "cat", Fraction(0), id="nothing"),
        pytest.param("the", "an", Fraction(1), id="no-tokens-on-either-side"),
        pytest.param("the", "cat", Fraction(0), id="no-tokens-on-one-side"),
        pytest.param("co-op", "coop", Fraction(1), id="a-hyphen-goes-without-a-space"),
    ],
)
def test_token_f1(one: str, other: str, score: Fraction) -> None:
    assert token_f1(one, other) == score


def _squad_f1(one: str, other: str) -> float:
    """Precision and recall, in floats, as the paper defines them."""

    def words(text: str) -> list[str]:
        kept = "".join(letter for letter in text.lower() if letter not in string.punctuation)
        return re.sub(r"\b(a|an|the)\b", " ", kept).split()

    first, second = words(one), words(other)
    if not first or not second:
        return float(first == second)
    shared = sum(min(first.count(word), second.count(word)) for word in collections.OrderedDict.fromkeys(first))
    if not shared:
        return 0.0
    precision, recall = shared / len(first), shared / len(second)
    return 2 * precision * recall / (precision + recall)


_WORDS = st.lists(st.sampled_from(["the", "A", "cat", "Cat,", "sat", "it's", "9", "été", "-", "\n"]), max_size=9).map(
    " ".join
)


@given(_WORDS | st.text(max_size=30), _WORDS | st.text(max_size=30))
def test_token_f1_is_symmetric_within_0_and_1_and_squads(one: str, other: str) -> None:
    score = token_f1(one, other)
    assert score == token_f1(other, one)
    assert 0 <= score <= 1
    assert float(score) == pytest.approx(_squad_f1(one, other), abs=1e-12)


@pytest.mark.parametrize(
    ("answer", "nano", "reason", "passed"),
    [
        ("cat sat", 1_000_000_000, None, True),
        ("cat sat down", 800_000_000, "some_words_shared", True),
        ("cat ran", 500_000_000, "some_words_shared", False),
        ("dog", 0, "no_words_shared", False),
    ],
)
def test_token_f1_passes_from_its_limit_on(answer: str, nano: int, reason: str | None, passed: bool) -> None:
    scored = score_item(one_check("token_f1", 'expected = ["a bird", "the cat sat"]\nat_least = 0.8'), {}, answer)
    result = scored.results["it"]
    assert (result.score_nano, scored.score_nano, result.reason, scored.passed) == (nano, nano, reason, passed)
