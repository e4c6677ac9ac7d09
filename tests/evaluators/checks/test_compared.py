"""Which part of an answer is compared."""

from __future__ import annotations

import pytest

from benchbook.evaluators.checks.compared import AnswerPart, part_of
from benchbook.evaluators.correctness.scoring import compared_text

AFTER = AnswerPart("after", "Answer:")
TAG = AnswerPart("tag", "answer", "nothing")
BOXED = AnswerPart("boxed", otherwise="nothing")


@pytest.mark.parametrize(
    ("answer", "part", "compared"),
    [
        pytest.param(" a\nb ", AnswerPart(), " a\nb ", id="whole"),
        pytest.param("a\nb\n \n", AnswerPart("last_line"), "b", id="last-line-that-is-not-blank"),
        pytest.param("a\u2028b", AnswerPart("last_line"), "b", id="lines-end-where-splitlines-ends-them"),
        pytest.param(" \n", AnswerPart("last_line"), "", id="no-line"),
        pytest.param("x\nAnswer: 4\nso", AFTER, " 4", id="after-to-the-line-s-end"),
        pytest.param("Answer: 3\n  aNSWER:4", AFTER, "4", id="the-last-mark-in-any-case"),
        pytest.param("My Answer: 4", AFTER, "My Answer: 4", id="a-mark-within-a-line-is-none"),
        pytest.param("Answer:", AFTER, "", id="nothing-after-it"),
        pytest.param("4", AFTER, "4", id="without-the-mark-the-whole"),
        pytest.param("4", AnswerPart("after", "Answer:", "nothing"), None, id="without-the-mark-nothing"),
        pytest.param("STRASSE: 4", AnswerPart("after", "Straße:"), " 4", id="a-mark-that-folds-longer"),
        pytest.param("Straße: 4", AnswerPart("after", "STRASSE:"), " 4", id="a-line-that-folds-longer"),
        pytest.param("####4", AnswerPart("after", "####"), "4", id="a-mark-of-signs"),
        pytest.param("<answer>a</answer> <ANSWER>b</Answer> c", TAG, "b", id="the-last-tag-in-any-case"),
        pytest.param("<answer>a</answer> <answer>b\nc", TAG, "b\nc", id="unclosed-to-the-end"),
        pytest.param("a</answer>", TAG, None, id="closed-but-never-opened"),
        pytest.param("<answers>a</answers>", TAG, None, id="another-tag"),
        pytest.param("a", AnswerPart("tag", "answer", "whole"), "a", id="no-tag-the-whole"),
        pytest.param(r"\boxed{1} so $\boxed{\frac{1}{2}}$.", BOXED, r"\frac{1}{2}", id="the-last-box-balanced"),
        pytest.param(r"\fbox{4}", BOXED, "4", id="fbox"),
        pytest.param(r"\boxed {4}", BOXED, "4", id="a-space-before-the-brace"),
        pytest.param(r"\boxed{a \} b}", BOXED, r"a \} b", id="an-escaped-brace-is-none"),
        pytest.param(r"\boxed{1} \boxed{2", BOXED, "1", id="one-that-is-not-closed-is-no-box"),
        pytest.param(r"\boxed{\boxed{4}}", BOXED, "4", id="of-nested-ones-the-inner"),
        pytest.param(r"} \boxed{4}", BOXED, "4", id="a-brace-that-closes-nothing"),
        pytest.param("4", BOXED, None, id="no-box-nothing"),
        pytest.param(r"\boxed 4", BOXED, None, id="no-braces-no-box"),
    ],
)
def test_the_part_that_is_compared(answer: str, part: AnswerPart, compared: str | None) -> None:
    assert part_of(answer, part) == compared


@pytest.mark.parametrize(
    "answer", ["Answer: 4", "a\n ANSWER:4\nb", "Answer:\nAnswer:5\x0bc", "no mark", "", "xAnswer: 4", "Answer :4"]
)
def test_after_answer_is_the_rule_of_a2(answer: str) -> None:  # SPEC A2
    assert part_of(answer, AFTER) == compared_text(answer, "answer_prefix")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("answer", "part"),
    [
        ("\\boxed{" * 200_000, BOXED),
        ("{" * 500_000 + "}" * 500_000, BOXED),
        ("\\boxed" + " " * 1_000_000, BOXED),
        ("\\" * 1_000_001, BOXED),
        ("<answer>" * 200_000, TAG),
        ("\n" * 1_000_000, AnswerPart("last_line")),
        ("Answer" * 200_000, AFTER),
    ],
    ids=["boxes", "braces", "spaces", "backslashes", "tags", "lines", "marks"],
)
def test_no_answer_makes_it_slow(answer: str, part: AnswerPart) -> None:
    """Each ends at once; in quadratic time it would take an hour."""
    part_of(answer, part)
