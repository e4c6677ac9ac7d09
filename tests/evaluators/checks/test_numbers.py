"""The kind number: which numbers are read in a text, exactly, and when one is the expected one."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchbook.errors import ItemError
from benchbook.evaluators.checks.kinds.numbers import numbers_in
from checking import judged

F = Fraction


@pytest.mark.parametrize(
    ("text", "values"),
    [
        pytest.param("42", [42], id="digits"),
        pytest.param("I have 3 of 4.50 left.", [3, F(9, 2)], id="within-a-sentence"),
        pytest.param("It is 42.", [42], id="a-full-stop-is-no-decimal-mark"),
        pytest.param("007", [7], id="zeros-before"),
        pytest.param("-5 +5 −5 --5", [-5, 5, -5, 5], id="signs"),
        pytest.param(
            "x = -5; (-5) 3-5 10-20 2+-3", [-5, -5, 3, 5, 10, 20, 2, -3], id="a-hyphen-between-terms-is-no-sign"
        ),
        pytest.param(".5 -.25 Rs.500 ...7", [F(1, 2), F(-1, 4), 500, 7], id="a-leading-mark"),
        pytest.param("1,234 1,234,567.89", [1234, F(123456789, 100)], id="thousands"),
        pytest.param("1'234 1’234 1\u202f234 1\u00a0234", [1234] * 4, id="other-separators"),
        pytest.param("1 234", [1, 234], id="a-plain-space-separates-numbers"),
        pytest.param("3,14 1,2,3 12,34,567 0,123", [3, 14, 1, 2, 3, 12, 34, 567, 0, 123], id="no-thousands"),
        pytest.param("1234,567", [1234, 567], id="four-digits-before-a-comma"),
        pytest.param("1,222,33", [1, 222, 33], id="two-digits-at-the-end"),
        pytest.param("$42 € 5 US$7 -$3 $-3 - $3 30€ ₹1,000", [42, 5, 7, -3, -3, 3, 30, 1000], id="currency"),
        pytest.param("50% 50 % 5km 2nd 20°C", [50, 50, 5, 2, 20], id="per-cent-and-units"),
        pytest.param("x2 H2O GPT-4 v_3 A4", [], id="digits-that-go-on-a-word"),
        pytest.param("答案是42。คือ7", [42, 7], id="scripts-without-case-put-no-space"),
        pytest.param("1.2.3 192.168.0.1 01.02.2024", [], id="versions-and-addresses"),
        pytest.param("1e3 1.5E-2 2e+1 1e 1ex", [1000, F(3, 200), 20, 1, 1], id="exponents"),
        pytest.param(
            "1.5 × 10^3, 2x10^{-2}, 3·10⁴, 2 \\times 10^2", [1500, F(1, 50), 30000, 200], id="times-ten-to-the"
        ),
        pytest.param("2^10 = 1024, 10² 3**2", [1024], id="powers-are-not-read"),
        pytest.param("3/4 -3 / 4 6/8", [F(3, 4), F(-3, 4), F(3, 4)], id="fractions"),
        pytest.param("1 3/4 2½ ¾ -½ ⅓", [F(7, 4), F(5, 2), F(3, 4), F(-1, 2), F(1, 3)], id="mixed-numbers"),
        pytest.param(
            r"\frac{3}{4} -\dfrac{1}{2} 1\frac{1}{2} \frac{-1}{4}", [F(3, 4), F(-1, 2), F(3, 2), F(-1, 4)], id="latex"
        ),
        pytest.param("3/4/2024 5/0 2024-05-01", [3, 4, 2024, 5, 0, 2024, 5, 1], id="dates-and-nothing-below"),
        pytest.param("٤٢ ４２ 𝟒𝟐 ४२", [42] * 4, id="digits-of-every-script"),
        pytest.param("\u200f42\u200f -\u200e5 1\u200b000", [42, -5, 1000], id="marks-that-nobody-sees"),
        pytest.param("1e999999999999 1e-1001 0e99999999999", [None, None, 0], id="beyond-reading"),
        pytest.param("9" * 1001, [None], id="too-many-digits"),
        pytest.param("1" + "0" * 1000, [10**1000], id="zeros-at-the-end-are-no-digits"),
        pytest.param("five ² ⅟ Ⅳ ①", [], id="no-numbers"),
    ],
)
def test_the_numbers_in_a_text(text: str, values: list[Fraction | None]) -> None:
    assert [read.value for read in numbers_in(text)] == values


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("3,14", [F(157, 50)]),
        ("1.234,5", [F(2469, 2)]),
        ("1.234.567", [1234567]),
        ("1,2,3", [1, F(23, 10)]),
        ("-,5", [F(-1, 2)]),
        ("1.2.3", []),
    ],
)  # fmt: skip
def test_a_decimal_comma(text: str, values: list[Fraction]) -> None:
    assert [read.value for read in numbers_in(text, ",")] == values


@given(st.decimals(allow_nan=False, allow_infinity=False, places=6, min_value=-(10**12), max_value=10**12))
def test_a_decimal_is_read_as_itself(number: object) -> None:
    assert [read.value for read in numbers_in(f"it is {number:,} km")] == [Fraction(str(number))]


@pytest.mark.parametrize(
    ("settings", "answer", "reason", "found"),
    [
        ("expected = 42", "6 × 7 is 42.", None, "42"),
        ("expected = 42", "42 is 6 × 7", "other_number", "7"),
        ('expected = 42\nwhich = "first"', "42 is 6 × 7", None, "42"),
        ('expected = 42\nwhich = "only"', "42, so 42.0", None, "42.0"),
        ('expected = 42\nwhich = "only"', "6, so 42", "several_numbers", "6, 42"),
        ("expected = 42", "none", "no_number", "none"),
        ("expected = 42", "42.0000000000000000000000000000001", "other_number", "42.0000000000000000000000000000001"),
        ("expected = 0.1", "1e-1", None, "1e-1"),
        ('expected = "$1,234"', "1234 dollars", None, "1234"),
        ('expected = "1/3"', "2/6", None, "2/6"),
        ("expected = [1, 2]", "2", None, "2"),
        ("expected = 100\ntolerance = 0.5", "100.5", None, "100.5"),
        ("expected = 100\ntolerance = 0.5", "100.51", "other_number", "100.51"),
        ("expected = -100\nrelative_tolerance = 0.01", "-101", None, "-101"),
        ("expected = 100\nrelative_tolerance = 0.01", "98.99", "other_number", "98.99"),
        ("expected = 100\nrelative_tolerance = 0.01\ntolerance = 2", "98", None, "98"),
        ('expected = "1.234,5"\ndecimal_mark = ","', "1234,5 €", None, "1234,5"),
        ('expected = 1.234\ndecimal_mark = ","', "1,234", None, "1,234"),
        ("expected = 1", "1e999999", "other_number", "1e999999"),
        ("expected = 0\ntolerance = 5", "-1e-999999999999", "other_number", "-1e-999999999999"),
    ],
)
def test_when_a_number_is_the_expected_one(settings: str, answer: str, reason: str | None, found: str) -> None:
    result = judged("number", answer, settings)
    assert (result.reason, result.found) == (reason, found)


@pytest.mark.parametrize("expected", ["Friday", "4 or 5", "1e9999", "", True])
def test_an_item_must_have_one_number(expected: object) -> None:
    with pytest.raises(ItemError, match=r"^expected_answer: found '.*'; expected text with one number in it"):
        judged("number", "4", item={"expected_answer": expected})


@pytest.mark.parametrize("expected", [0.1, 1e-7, 10**30])
def test_an_item_s_number_is_taken_as_it_is_written(expected: object) -> None:
    assert judged("number", str(expected), item={"expected_answer": expected}).reason is None


@pytest.mark.slow
@pytest.mark.parametrize(
    "answer",
    ["9" * 1_000_000, "1," * 50_000, "1,000" * 50_000, "1." * 50_000, "1/" * 50_000, "1 " * 50_000, "1e" * 50_000,
     "+" * 1_000_000, "$ " * 50_000, "½" * 50_000, "1,222" + ",222" * 50_000 + ",2", "9" * 50_000 + "e" + "9" * 50_000,
     "\\frac{" * 50_000, "٤" * 50_000, "0" * 1_000_000],
    ids=lambda answer: answer[:8],
)  # fmt: skip
def test_no_answer_makes_reading_slow(answer: str) -> None:
    assert judged("number", answer, 'expected = 42\nwhich = "only"').score == 0
