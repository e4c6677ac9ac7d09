"""What a scorer returned or raised, and what of it is a score: a table by hand."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import msgspec
import numpy as np
import pytest

import benchbook as bb
from benchbook.evalsets import Item
from benchbook.evaluators.exact import in_nano
from benchbook.evaluators.scorers.metric import ScorerMetric
from benchbook.evaluators.scorers.outcome import EXPECTED, outcome_of, raised_outcome
from benchbook.evaluators.scorers.scorer import ScoredItem
from benchbook.evaluators.scorers.scoring import outcome_by
from benchbook.record.facts import Outcome

ITEM = Item(id="a", prompt="?")


class AwkwardError(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no words")


class Mapping(dict[str, Any]):
    def get(self, *_: Any) -> Any:
        raise ValueError("not today")


@pytest.mark.parametrize(
    ("returned", "outcome"),
    [
        (True, Outcome(sample=7, score=True)),
        (0, Outcome(sample=7, score=0)),
        (0.25, Outcome(sample=7, score=0.25)),
        (-0.0, Outcome(sample=7, score=-0.0)),
        (np.float32(0.5), Outcome(sample=7, score=0.5)),
        (np.bool_(False), Outcome(sample=7, score=False)),
        (np.array(1), Outcome(sample=7, score=1)),
        ({"passed": False}, Outcome(sample=7, score=False, passed=False)),
        ({"score": 0.9, "passed": False}, Outcome(sample=7, score=0.9, passed=False)),
        ({"score": 1, "passed": None, "note": None}, Outcome(sample=7, score=1)),
        (
            {"score": 0.5, "distance": -3, "near": True, "why": "off by 3"},
            Outcome(sample=7, score=0.5, values={"distance": -3, "near": True, "why": "off by 3"}),
        ),
        ({"score": 1, "why": "x" * 2_001}, Outcome(sample=7, score=1, values={"why": "x" * 1_999 + "…"})),
        ({"score": 1, "why": "half \ud835"}, Outcome(sample=7, score=1, values={"why": "half \\ud835"})),
    ],
)
def test_what_is_a_score(returned: Any, outcome: Outcome) -> None:
    found = outcome_of(7, returned)
    assert found == outcome
    assert [type(one) for one in found.values.values()] == [type(one) for one in outcome.values.values()]
    assert type(found.score) is type(outcome.score)
    assert msgspec.json.decode(msgspec.json.encode(found), type=Outcome) == outcome


@pytest.mark.parametrize(
    ("returned", "said"),
    [
        (None, f"returned None; expected {EXPECTED}"),
        ("0.5", f"returned the text '0.5'; expected {EXPECTED}"),
        ("sk-abcdef0123456789abcdef", f"returned the text '[key removed]'; expected {EXPECTED}"),
        (float("nan"), f"returned nan; expected {EXPECTED}"),
        (float("inf"), f"returned inf; expected {EXPECTED}"),
        (1.5, f"returned 1.5; expected {EXPECTED}"),
        (-1, f"returned -1; expected {EXPECTED}"),
        pytest.param(10**5_000, f"returned a whole number of more than 15 digits; expected {EXPECTED}", id="huge"),
        ([1], f"returned list; expected {EXPECTED}"),
        (Fraction(1, 2), f"returned Fraction; expected {EXPECTED}"),
        (np.array([1.0, 0.0]), f"returned ndarray; expected {EXPECTED}"),
        ({}, f"returned a dict with nothing, and neither score nor passed; expected {EXPECTED}"),
        ({"right": 1}, f"returned a dict with right, and neither score nor passed; expected {EXPECTED}"),
        ({"score": 2}, "returned score = 2; expected score = true or false, or a number from 0 to 1"),
        ({"score": 1, "passed": 1}, "returned passed = 1; expected passed = true or false"),
        ({"score": 1, "of": [1]}, "returned of = list; expected a finite number of at most 15 digits before the point"),
        ({"score": 1, "of": float("nan")}, "returned of = nan; expected a finite number"),
        ({"score": 1, "a b": 1}, "returned a dict with the name 'a b'; expected names of letters, digits and _"),
        ({"score": 1, 3: 1}, "returned a dict with the name 'int'; expected names of letters, digits and _"),
        ({f"v{n}": 1 for n in range(33)}, "returned a dict of 33 values; expected at most 32"),
        (Mapping(score=1), "ValueError: not today"),
    ],
)
def test_what_is_none_and_what_would_be_right(returned: Any, said: str) -> None:
    found = outcome_of(7, returned)
    assert (found.score, found.passed, found.values) == (None, None, {})
    assert found.fault is not None
    assert found.fault.startswith(said)


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (KeyError("level"), "KeyError: 'level'"),
        (ValueError(), "ValueError"),
        (ValueError("two\nlines \x1b[31m"), "ValueError: two lines \\u001b[31m"),
        (AwkwardError(), "AwkwardError: its message can't be read"),
        (RuntimeError("key sk-abcdef0123456789abcdef"), "RuntimeError: key [key removed]"),
    ],
)
def test_what_it_raised_is_on_one_line(error: Exception, said: str) -> None:
    assert raised_outcome(3, error) == Outcome(sample=3, fault=said)


def test_one_that_should_have_been_awaited() -> None:
    async def later(item: Any, answer: str) -> bool:
        return bool(item and answer)

    @bb.scorer(name="forgets")
    def forgets(item: Any, answer: str) -> Any:
        return later(item, answer)

    assert outcome_by(forgets, 3, ScoredItem(ITEM, {}), "x").fault == f"returned coroutine; expected {EXPECTED}"


@pytest.mark.parametrize(
    ("value", "nano"),
    [(True, 10**9), (1, 10**9), (0.1, 100_000_000), (1 / 3, 333_333_333), (0.5, 500_000_000), (-2.5, -2_500_000_000)],
)
def test_scores_are_rounded_once_from_what_was_told(value: float, nano: int) -> None:
    assert in_nano(value) == nano


@bb.scorer(name="half", passes_at=0.5)
def half(item: Any, answer: str) -> Any:
    del item
    return {"low": 0.499999999, "near": 0.4999999999, "even": 0.5, "no": {"score": 0.9, "passed": False}}[answer]


@pytest.mark.parametrize(
    ("answer", "passed"), [("low", False), ("near", True), ("even", True), ("no", False), (" ", False), (None, False)]
)
def test_what_passes_by_its_rounded_score(answer: str | None, passed: bool) -> None:
    found = ScorerMetric(half.spec, half).score(ITEM, {}, answer)
    assert found.passed is passed
    assert (found.reason == "no_prediction") is (answer is None or not answer.strip())
