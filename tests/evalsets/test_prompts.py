"""SPEC A10: near prompts, and answers that occur in their prompt."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchbook.evalsets.set_contents import near_form, stands_in


@pytest.mark.parametrize(
    ("one", "other", "near"),
    [
        pytest.param("What is 5 + 3?", "what is  5 + 3", True, id="case-space-mark"),
        pytest.param("What is 5 + 3?", "What is 5 - 3?", False, id="another-operator"),
        pytest.param("What is 5!?", "What is 5?", False, id="factorial"),
        pytest.param("Stop!", "Stop", True, id="exclamation"),
        pytest.param("(2 + 3) * 4", "2 + (3 * 4)", False, id="brackets"),
        pytest.param("What is 1.5?", "What is 15?", False, id="a-point-inside-a-number"),
        pytest.param("The dog's name?", "The dog\u2019s name?", True, id="apostrophes"),
        pytest.param("caf\u00e9?", "cafe\u0301?", True, id="unicode-forms"),
        pytest.param("\u4f60\u597d\u3002", "\u4f60\u597d", True, id="ideographic-full-stop"),
    ],
)
def test_prompts_that_differ_in_form_alone_are_near(one: str, other: str, near: bool) -> None:
    assert (near_form(one) == near_form(other)) is near


@pytest.mark.parametrize(
    ("answer", "prompt", "stands"),
    [
        pytest.param("4", "Is it 4 or 5?", True, id="a-number"),
        pytest.param("4", "Is it 14, 45 or 4a?", False, id="part-of-another"),
        pytest.param("4", "Is it 4.5 or 1,400?", False, id="a-decimal"),
        pytest.param("4", "What is -4 + 8?", False, id="the-negative"),
        pytest.param("4", "What is 10-4?", True, id="a-difference"),
        pytest.param("-4", "Is it -4?", True, id="a-negative"),
        pytest.param("4", "Say 4.", True, id="a-full-stop"),
        pytest.param("Art", "A party about ART!", True, id="case"),
        pytest.param("art", "The party starts", False, id="inside-a-word"),
        pytest.param(" yes ", "Answer yes or no.", True, id="white-space"),
        pytest.param("\u732b", "\u8fd9\u662f\u732b\u5417", True, id="scripts-without-spaces"),
        pytest.param("stra\xdfe", "STRASSE", True, id="case-folding"),
        pytest.param("", "anything", False, id="nothing"),
    ],
)
def test_an_answer_stands_in_its_prompt_as_words_of_its_own(answer: str, prompt: str, stands: bool) -> None:
    assert stands_in(answer, prompt) is stands


@given(st.text(), st.text())
def test_only_what_is_inside_stands_in(answer: str, prompt: str) -> None:
    if stands_in(answer, prompt):
        assert answer.strip().casefold() in prompt.casefold()
