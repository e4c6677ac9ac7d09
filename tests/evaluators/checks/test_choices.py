"""The kind choice: which option an answer names."""

from __future__ import annotations

import pytest

from benchbook.errors import ItemError
from benchbook.evaluators.checks.kinds.choices import choices_in
from checking import judged

CITIES = 'expected = "B"\noptions = ["Rome", "Paris", "Paris, Texas", "New York"]'
TOXIC = 'expected = "not toxic"\noptions = ["toxic", "not toxic"]\nletters = ""'


@pytest.mark.parametrize(
    ("answer", "named"),
    [
        ("B", "B"),
        ("b", "B"),
        ("(B)", "B"),
        ("[b]", "B"),
        ("B.", "B"),
        ("B)", "B"),
        ("B: Paris", "B"),
        ("**B**", "B"),
        ("**B.** Paris", "B"),
        ("__B__", "B"),
        ("`B`", "B"),
        ('"B"', "B"),
        ("$B$", "B"),
        (" \nB\n", "B"),
        ("Option B", "B"),
        (r"\boxed{B}", "B"),
        (r"So it is $\boxed{\text{B}}$.", "B"),
        ("Answer: B", "B"),
        ("answer:b", "B"),
        ("Answer: (B)", "B"),
        ("**Answer:** B", "B"),
        ("Answer: **B**", "B"),
        ("The answer is B", "B"),
        ("the answer is: B", "B"),
        ("The correct answer is option (B).", "B"),
        ("The answer is **B**, since A is wrong.", "B"),
        ("I choose B", "B"),
        ("I'd go with C.", "C"),
        ("Final answer = D", "D"),
        ("The answer is A. No: the answer is B.", "B"),
        ("A) Rome\nB) Paris\nThe answer is B", "B"),
        ("B. Because A is wrong", "B"),
        ("I think B fits", "B"),
        ("A is correct", "A"),
        ("(a) is wrong, (b) is right", "B"),
        ("A is not it. C", "C"),
        ("It must be (C), I think.", "C"),
        ("The answer is not A but B", "B"),
        ("It isn't A. B", "B"),
        ("Answer: A or C", "A, C"),
        ("The answer is A, B and D.", "A, B, D"),
        ("Answer: A/B", "A, B"),
        ("A. Rome\nB. Paris", "A, B"),
        ("B or C", "B, C"),
        ("(A) and (C)", "A, C"),
        ("A dog barks", ""),
        ("I don't know", ""),
        ("Answer: a dog", ""),
        ("Answer: I don't know", ""),
        ("Berlin", ""),
        ("Answer: Berlin", ""),
        ("not B", ""),
        ("an A-frame, B's", ""),
        ("Z", ""),
        ("none", ""),
        ("abcd", ""),
    ],
)
def test_the_letter_that_an_answer_names(answer: str, named: str) -> None:
    assert ", ".join("ABCDEFGHIJ"[place] for place in choices_in(answer, "ABCDEFGHIJ", ())) == named


@pytest.mark.parametrize(
    ("settings", "answer", "reason", "found"),
    [
        pytest.param('expected = "B"', "Answer: B", None, "B", id="letter"),
        pytest.param('expected = "(b)"', "Answer: B", None, "B", id="the-expected-letter-in-brackets"),
        pytest.param('expected = "B"', "Answer: C", "other_choice", "C", id="another"),
        pytest.param('expected = "B"', "B or C", "several_choices", "B, C", id="ambiguous"),
        pytest.param('expected = "B"', "who knows", "no_choice", "who knows", id="none"),
        pytest.param('expected = ["A", "B"]', "B", None, "B", id="either-is-right"),
        pytest.param('expected = "2"\nletters = "1234"', "The answer is (2).", None, "2", id="numbered"),
        pytest.param(CITIES, "It is paris.", None, "B", id="the-option-s-text"),
        pytest.param(CITIES, "Paris,  Texas", "other_choice", "C", id="the-longest-text-counts"),
        pytest.param(CITIES, "Rome or Paris", "several_choices", "A, B", id="two-texts"),
        pytest.param(CITIES, "Parisian", "no_choice", "Parisian", id="within-a-word"),
        pytest.param(CITIES, "Answer: E", "no_choice", "Answer: E", id="a-letter-beyond-the-options"),
        pytest.param(CITIES, "Answer: A. Paris", "other_choice", "A", id="a-letter-before-a-text"),
        pytest.param(CITIES.replace('"B"', '"paris"'), "B", None, "B", id="expected-by-its-text"),
        pytest.param(TOXIC, "This is not toxic.", None, "not toxic", id="one-text-within-another"),
        pytest.param(TOXIC, "A toxic text", "other_choice", "toxic", id="no-letters-are-read"),
        pytest.param(TOXIC, "Toxic? Not toxic!", "several_choices", "toxic, not toxic", id="both-texts"),
    ],
)
def test_when_a_choice_is_the_expected_one(settings: str, answer: str, reason: str | None, found: str) -> None:
    result = judged("choice", answer, settings)
    assert (result.reason, result.found) == (reason, found)


def test_options_can_be_the_item_s() -> None:
    item = {"options": ["3", "4", "5"], "expected_answer": "4"}
    settings = 'options = "{{item.options}}"'
    assert judged("choice", "B", settings, item).reason is None
    assert judged("choice", "It is 4.", settings, item).reason is None
    assert judged("choice", "It is 5.", settings, item).reason == "other_choice"


@pytest.mark.parametrize(
    ("item", "message"),
    [
        (
            {"options": ["3", "4"], "expected_answer": "C"},
            "expected_answer: found 'C'; expected one of A, B, or an option's text",
        ),
        ({"options": ["3", "4"]}, "expected_answer: found nothing; expected text, a number, or a list of these"),
        ({"options": ["3"], "expected_answer": "A"}, "options: found a list of 1; expected a list of 2 to 26 options"),
        (
            {"options": ["a", "A"], "expected_answer": "A"},
            "options: found a list of 2; expected options that are not blank, and differ by more than case",
        ),
        ({"expected_answer": "A"}, "options: found nothing; expected text, a number, or a list of these"),
    ],
)
def test_an_item_whose_options_do_not_do(item: dict[str, object], message: str) -> None:
    with pytest.raises(ItemError) as caught:
        judged("choice", "A", 'options = "{{item.options}}"', item)
    assert str(caught.value) == message


@pytest.mark.slow
@pytest.mark.parametrize(
    "answer",
    [
        "answer" * 150_000,
        "answer " * 150_000,
        "answer:" + " " * 1_000_000,
        "Answer: A" + ", A" * 100_000,
        "(A),\n" * 50_000,
        "(" * 1_000_000,
        "A " * 100_000,
        "*" * 1_000_000,
        "\n" * 1_000_000,
        "option " * 150_000,
        "not " * 250_000 + "A",
        "A" + " " * 1_000_000,
    ],
    ids=lambda answer: repr(answer[:10]),
)
def test_no_answer_makes_reading_slow(answer: str) -> None:
    assert judged("choice", answer, CITIES).score == 0
