"""Answers changed by rule: what each rule adds and drops, and what it leaves alone."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchbook.evalsets import Item
from benchbook.judge_audit.variants import VARIANTS, Judgeable, Names, variants_of

NAMES = Names("their-judge", "other-model")
PLAIN = "The shop opens at nine. It closes at six."


def changed(name: str, *answers: str, expected: tuple[str | None, ...] = (), seed: int = 0) -> dict[int, Judgeable]:
    expected = expected or (None,) * len(answers)
    items = [Item(id=f"i{n}", prompt=f"What is {n}?", expected_answer=one) for n, one in enumerate(expected)]
    judgeable = [Judgeable(item, answer) for item, answer in zip(items, answers, strict=True)]
    return variants_of(name, judgeable, NAMES, seed=seed)


@pytest.mark.parametrize(
    ("name", "answer", "becomes"),
    [
        ("again", PLAIN, PLAIN),
        ("shorter", "Sure! " + PLAIN, PLAIN),
        ("shorter", "Certainly, here you are: " + PLAIN + " I hope this helps!", PLAIN),
        ("shorter", "Great question. Here is the answer: " + PLAIN, PLAIN),
        ("shorter", PLAIN + "\n\nLet me know if you need anything else.", PLAIN),
        ("shorter", PLAIN + "\n" + PLAIN + "\n", PLAIN),
        ("shorter", PLAIN, None),
        ("shorter", "Sure!", None),  # nothing would be left to judge, or nothing changes
        ("shorter", "```\nx\n\nx\n```", None),  # in code a line that is there twice is no mistake
        ("markdown", PLAIN, "## Answer\n\n- " + PLAIN),
        ("markdown", "One.\n\nTwo.", "## Answer\n\n- One.\n- Two."),
        ("markdown", "- One.", None),
        ("markdown", '{"a": 1}', None),
        ("plain", "# Hours\n\n- **Nine** to six.\n  * Closed on Sunday.", "Hours\n\nNine to six.\n  Closed on Sunday."),
        ("plain", "2 * 3 * 4 and snake__case__name", None),
        ("plain", "```\n# a comment\n```", None),
        ("confident", PLAIN, "I am completely certain of the following.\n\n" + PLAIN),
        ("hedged", PLAIN, "I am not sure about the following.\n\n" + PLAIN),
        ("named_other", PLAIN, "Answer by other-model:\n\n" + PLAIN),
        ("named_self", PLAIN, "Answer by their-judge:\n\n" + PLAIN),
    ],
)
def test_what_a_rule_makes_of_an_answer(name: str, answer: str, becomes: str | None) -> None:
    found = changed(name, answer)
    assert [one.answer for one in found.values()] == ([] if becomes is None else [becomes])


@given(st.text(min_size=1, max_size=400))
def test_a_longer_answer_is_the_answer_and_more(answer: str) -> None:
    found = changed("longer", answer)[0].answer
    assert found.startswith(answer + "\n\n")
    assert 2 * len(answer) <= len(found) + 2 <= 2 * len(answer) + 400 or len(answer) < 200 <= len(found) - len(answer)


@given(st.text(max_size=300))
def test_shorter_and_plain_answers_add_no_word(answer: str) -> None:
    for name in ("shorter", "plain"):
        for one in changed(name, answer).values():
            words = iter(answer.split())
            assert all(any(word in other for other in words) for word in one.answer.split())


def test_another_items_answer_and_reference() -> None:
    answers, expected = ("one", "two", "three", "four"), ("1", "2", "3", "4")
    for seed in range(5):
        moved = changed("other_answer", *answers, expected=expected, seed=seed)
        assert all(moved[place].answer in answers and moved[place].answer != answers[place] for place in range(4))
        assert [moved[place].item.expected_answer for place in range(4)] == list(expected)
        praised = changed("other_answer_praised", *answers, expected=expected, seed=seed)
        assert all(praised[place].answer.startswith(moved[place].answer + "\n\nNote") for place in range(4))
        other = changed("other_reference", *answers, expected=expected, seed=seed)
        assert all(other[place].item.expected_answer != expected[place] for place in range(4))
        assert [other[place].answer for place in range(4)] == list(answers)


@pytest.mark.parametrize(
    ("name", "answers", "expected"),
    [
        ("other_answer", ("yes", "Yes", " YES "), (None, None, None)),  # all say the same
        ("other_answer", ("yes", "no"), ("right", "Right")),  # the other's answer would be as right
        ("other_reference", ("a", "b"), (None, None)),
        ("other_reference", ("a", "b"), ("x", None)),
        ("other_answer", ("alone",), ("x",)),
    ],
)
def test_where_no_other_is_another(name: str, answers: tuple[str, ...], expected: tuple[str | None, ...]) -> None:
    assert changed(name, *answers, expected=expected) == {}


def test_a_question_that_is_asked_twice_has_no_other_answer() -> None:
    items = [Item(id=one, prompt="The same?", expected_answer=one) for one in ("a", "b")]
    answers = [Judgeable(item, f"answer {item.id}") for item in items]
    assert variants_of("other_answer", answers, NAMES, seed=0) == {}


@given(st.permutations(range(12)), st.integers(0, 9))
def test_another_items_answer_is_that_of_the_ids_and_the_seed_whatever_the_order(order: list[int], seed: int) -> None:
    items = [Item(id=f"i{n}", prompt=f"{n}?", expected_answer=str(n)) for n in range(12)]
    answers = [Judgeable(item, f"answer {item.id}") for item in items]
    whole = variants_of("other_answer", answers, NAMES, seed=seed)
    shuffled = variants_of("other_answer", [answers[n] for n in order], NAMES, seed=seed)
    assert {answers[n].item.id: one.answer for n, one in whole.items()} == {
        answers[order[n]].item.id: one.answer for n, one in shuffled.items()
    }


def test_every_variant_is_held_against_one_that_there_is() -> None:
    assert {one.against for one in VARIANTS.values()} <= {"original", *VARIANTS}
    assert all(name == one.name for name, one in VARIANTS.items())


def test_no_rule_is_not_known() -> None:
    with pytest.raises(KeyError):
        changed("unknown", PLAIN)
