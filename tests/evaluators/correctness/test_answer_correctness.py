"""SPEC A1 to A3, A7: whether an answer is right, and why not; row by row and in columns."""

from __future__ import annotations

import sys
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchbook.errors import UsageError
from benchbook.evaluators.correctness import scoring as answer_correctness
from benchbook.evaluators.correctness.columns import WHITE_SPACE, score_columns
from benchbook.evaluators.correctness.scoring import REASONS, compared_text, correctness, normalize, reason
from benchbook.evaluators.exact import same_number
from benchbook.specs import load_spec
from support import cases, examples

Row = tuple[str, str | None, str | None]


def in_columns(rows: list[Row]) -> list[tuple[float, str | None]]:
    names = ["expected", "predicted", "answer_format"]
    frame = pl.DataFrame(rows, schema=dict.fromkeys(names, pl.String), orient="row")
    return score_columns(frame).rows()


@pytest.mark.cases
@pytest.mark.parametrize("case", cases("answer_correctness"))
def test_an_answer_is_scored_as_the_case_says(case: dict[str, Any]) -> None:
    row = (case["expected"], case["predicted"], case.get("answer_format"))
    if case.get("error") is not None:
        assert case["error"] == "expected_answer_missing"
        for score in (correctness, reason):
            with pytest.raises(UsageError, match="expected answer is missing"):
                score(*row)
        with pytest.raises(UsageError, match="row 1: the expected answer is missing"):
            in_columns([row])
        return
    allowed = case.get("reason_one_of", [case.get("reason")])
    assert correctness(*row) == case["correctness"]
    assert reason(*row) in allowed
    assert in_columns([row]) == [(case["correctness"], reason(*row))]


# Texts that meet the edges of the rules: both alike, one inside the other, numbers, prefixes, odd white space and case.
_PIECES = [
    "answer:", "Answer:", "ANSWER: ", "an\u017fwer:", "answer", ":", "4", "2", "42", "42.0", "4.2e1", "-", "+", ".",
    "e1", "\u212a", "k", "K", "\xdf", "ss", "\u1e9e", "\u0130", "i", "\u03c2", "\u03c3", "\ufb01", "fi", "\u0149", "\n",
    "\r\n", "\r", "\x0b", "\x0c", "\x1c", "\x1d", "\x1e", "\x1f", "\x85", "\u2028", "\u2029", "\xa0", "\u3000",
    "\u200b", " ", "\t", "\x00", "paris", "Paris", "\U0001f600", "e\u0301", "\xe9",
]  # fmt: skip
_TEXTS = st.text() | st.lists(st.sampled_from(_PIECES), max_size=6).map("".join)
_ROWS = st.tuples(_TEXTS.filter(str.strip), st.none() | _TEXTS, st.sampled_from([None, "answer_prefix"]))


@examples(200)  # of many rows: what takes time is to make columns at all
@given(st.lists(_ROWS, max_size=24))
def test_the_columns_say_what_the_reference_says(rows: list[Row]) -> None:
    assert in_columns(rows) == [(correctness(*row), reason(*row)) for row in rows]


@examples(300)
@given(_ROWS, st.sampled_from([str.upper, str.lower, str.title, "  {}\n".format, "\u2003{}\x1f".format]))
def test_case_and_white_space_at_the_ends_do_not_matter_in_the_columns_either(row: Row, change: Any) -> None:
    expected, _, answer_format = row
    changed = (expected, change(expected), answer_format)
    assert in_columns([changed]) == [(correctness(*changed), reason(*changed))]


@given(_ROWS)
def test_a_reason_is_given_exactly_where_the_answer_is_not_right(row: Row) -> None:
    assert (reason(*row) is None) == (correctness(*row) == 1.0)
    assert reason(*row) in (None, *REASONS)


@pytest.mark.parametrize(
    ("predicted", "compared"),
    [
        pytest.param(None, None, id="no-prediction"),
        pytest.param("Answer:\n42", "", id="nothing-follows"),
        pytest.param("Answer: Answer: 42", " Answer: 42", id="twice-in-one-line"),
        pytest.param("Answer: 42\u2028So it is.", " 42", id="a-line-separator-ends-a-line"),
        pytest.param("So.\rAnswer: 42\rYes.", " 42", id="cr-ends-a-line"),
        pytest.param("an\u017fwer: 42", " 42", id="case-folded"),
        pytest.param("Answer : 42", "Answer : 42", id="a-space-before-the-colon"),
        pytest.param("\uff21nswer: 42", "\uff21nswer: 42", id="a-full-width-letter"),
        pytest.param("\u3000Answer: 42", " 42", id="after-unicode-white-space"),
        pytest.param("> Answer: 42", "> Answer: 42", id="a-quote-mark-is-no-white-space"),
    ],
)
def test_the_answer_is_what_follows_the_last_prefix(predicted: str | None, compared: str | None) -> None:  # A2
    assert compared_text(predicted, "answer_prefix") == compared
    assert compared_text(predicted) == predicted


@pytest.mark.parametrize(
    ("row", "expected_reason"),
    [
        pytest.param(("42", "Answer:\n42", "answer_prefix"), "no_prediction", id="an-empty-answer-line"),
        pytest.param(("42", " \u2003\n", None), "no_prediction", id="white-space"),
        pytest.param(("42", "Answer: 42\nAnswer: 43", "answer_prefix"), "different", id="judged-on-the-compared-text"),
        pytest.param(("4e2", "400", None), "numerically_equal", id="exponent"),
        pytest.param(("0.5", ".5", None), "numerically_equal", id="no-digit-before-the-point"),
        pytest.param(("0.5", "+0.50e0", None), "expected_inside_longer_text", id="inside-goes-first"),
        pytest.param(("1000", "1_000", None), "different", id="no-separators"),
        pytest.param(("42", "\uff14\uff12", None), "different", id="no-full-width-digits"),
        pytest.param(("inf", "infinity", None), "expected_inside_longer_text", id="inf-is-a-word"),
        pytest.param(("infinity", "inf", None), "different", id="inf-is-no-number"),
        pytest.param(("0x10", "16", None), "different", id="no-hexadecimal"),
    ],
)
def test_a_miss_has_the_first_reason_that_fits(row: Row, expected_reason: str) -> None:  # A7
    assert correctness(*row) == 0.0
    assert reason(*row) == expected_reason


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        pytest.param("42", "42.000", True, id="zeros"),
        pytest.param("-0.0", "0e7", True, id="zero-has-no-sign"),
        pytest.param("-5", "5", False, id="sign"),
        pytest.param("5.", "5", True, id="a-bare-point"),
        pytest.param(".", ".", False, id="no-digits"),
        pytest.param("1e999999999999", "10e999999999998", True, id="huge-exponents"),
        pytest.param("0.1", "0.1000000000000000055", False, id="not-as-doubles"),
        pytest.param("9" * 5000, "9" * 5000 + ".0", True, id="5000-digits"),
        pytest.param("1 ", "1", False, id="white-space"),
        pytest.param("\u0661", "1", False, id="other-digits"),
    ],
)
def test_numbers_are_compared_exactly(one: str, other: str, same: bool) -> None:
    assert same_number(one, other) is same
    assert same_number(other, one) is same


@pytest.mark.parametrize("expected", [None, "", " \u3000"])
def test_a_missing_expected_answer_is_no_score(expected: str | None) -> None:  # A3
    with pytest.raises(UsageError):
        correctness(expected, "")
    with pytest.raises(UsageError, match="row 2"):
        score_columns(pl.DataFrame({"expected": ["x", expected], "predicted": ["x", ""]}))


def test_an_unknown_answer_format_is_refused_in_columns() -> None:
    frame = pl.DataFrame({"expected": ["x"], "predicted": ["x"], "answer_format": ["json"]})
    with pytest.raises(UsageError, match="row 1: answer_format 'json'"):
        score_columns(frame)


def test_columns_without_rows_and_without_predictions() -> None:
    empty = pl.DataFrame(schema={"expected": pl.String, "predicted": pl.String})
    assert score_columns(empty).schema == {"correctness": pl.Float64, "reason": pl.String}
    assert in_columns([("x", None, None)]) == [(0.0, "no_prediction")]


def test_white_space_is_what_str_strip_takes() -> None:
    assert set(WHITE_SPACE) == {chr(code) for code in range(sys.maxunicode + 1) if chr(code).isspace()}


@pytest.mark.slow
def test_every_character_is_folded_as_the_reference_folds_it() -> None:
    characters = [chr(code) for code in range(sys.maxunicode + 1) if not 0xD800 <= code <= 0xDFFF]
    rows: list[Row] = [(other, char, None) for char in characters for other in {char.lower(), char.upper()}
                       if other != char and normalize(other)]  # fmt: skip
    assert len(rows) > 2500
    assert in_columns(rows) == [(correctness(*row), reason(*row)) for row in rows]


def test_the_code_is_that_of_the_frozen_spec() -> None:
    settings = load_spec(answer_correctness.SPEC_ID).settings
    assert tuple(settings["reasons"]) == REASONS
    assert settings["answer_format"]["answer_prefix"]["prefix"] == answer_correctness._PREFIX
