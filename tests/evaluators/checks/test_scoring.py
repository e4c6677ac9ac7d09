"""One item under a spec of checks; the shipped specs; seven real checkpoints."""

from __future__ import annotations

import json
import re
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchbook.errors import ItemError
from benchbook.evaluators.checks import ChecksSpec, item_faults, read_checks, score_item
from benchbook.evaluators.checks.kinds import KINDS
from benchbook.specs import load_spec
from checking import HEAD
from support import shared_data

CHECKS = [
    '[[checks]]\nname = "words"\nkind = "token_f1"\nexpected = "one two three"\nmust_pass = false\nweight = 0.7\n',
    '[[checks]]\nname = "short"\nkind = "max_words"\nlimit = 3\nweight = 0.2\n',
    '[[checks]]\nname = "number"\nkind = "number"\nexpected = 3\nweight = 1.3\n',
    '[[checks]]\nname = "first"\nkind = "contains"\nexpected = "one"\ncompare = "last_line"\nmust_pass = false\n',
]


def shipped(name: str) -> ChecksSpec:
    return read_checks(load_spec(f"{name}@v1").text("spec.toml"))


def test_the_score_is_the_weighted_mean_rounded_once() -> None:
    scored = score_item(read_checks(HEAD + "".join(CHECKS)), {}, "one 3")
    # token_f1: 2 · 1 / (3 + 2) = 0.4; then 1, 1 and 1. (0.7 · 0.4 + 0.2 + 1.3 + 1) / 3.2 = 2.78 / 3.2 = 0.86875
    assert (scored.score_nano, scored.passed) == (868_750_000, True)
    assert {name: result.score_nano for name, result in scored.results.items()} == {
        "words": 400_000_000, "short": 1_000_000_000, "number": 1_000_000_000, "first": 1_000_000_000
    }  # fmt: skip


def test_it_is_rounded_from_the_exact_value_and_not_from_rounded_parts() -> None:  # SPEC C2
    # Two scores of 2/3, rounded to 0.666666667 each, would make with a weight of 1 and a miss of 2: 0.444444445.
    words = '[[checks]]\nname = "{}"\nkind = "token_f1"\nexpected = "x y"\nat_least = 0.5\n'
    miss = '[[checks]]\nname = "c"\nkind = "equals"\nexpected = "z"\n'
    scored = score_item(read_checks(HEAD + words.format("a") + words.format("b") + miss), {}, "x")
    assert scored.results["a"].score_nano == 666_666_667
    assert scored.score_nano == 444_444_444
    assert not scored.passed


@pytest.mark.parametrize(
    ("answer", "passed"),
    [("one 3", True), ("3", True), ("one two 4", False), ("one two three 3", False), (None, False)],
    ids=["all", "without-what-need-not-pass", "another-number", "too-long", "none"],
)
def test_an_item_passes_when_every_check_that_must_does(answer: str | None, passed: bool) -> None:
    assert score_item(read_checks(HEAD + "".join(CHECKS)), {}, answer).passed is passed


@given(st.text(alphabet="one twthr3\n.", max_size=40) | st.text(max_size=40) | st.none(), st.randoms())
def test_the_order_of_checks_does_not_matter(answer: str | None, rng: Random) -> None:
    first = score_item(read_checks(HEAD + "".join(CHECKS)), {}, answer)
    other = score_item(read_checks(HEAD + "".join(rng.sample(CHECKS, k=len(CHECKS)))), {}, answer)
    assert (first.score_nano, first.passed, dict(first.results)) == (
        other.score_nano,
        other.passed,
        dict(other.results),
    )


_SETTINGS = {
    "regex": r"pattern = '\d+'", "max_words": "limit = 3", "token_f1": "at_least = 0.5", "json": 'value = "any"',
    "choice": 'options = ["4", "five"]',
}  # fmt: skip
_ONE_OF_EACH = read_checks(
    HEAD + "".join(f'[[checks]]\nname = "{kind}_"\nkind = "{kind}"\n{_SETTINGS.get(kind, "")}\n' for kind in KINDS)
)


@given(st.text(max_size=60) | st.text(alphabet="4.,-+eE/ ()AB:*\\{}boxed½$\u200f٤", max_size=60))
def test_every_kind_takes_any_text(answer: str) -> None:
    scored = score_item(_ONE_OF_EACH, {"expected_answer": "4"}, answer)
    assert 0 <= scored.score_nano <= 1_000_000_000
    assert list(scored.results) == [f"{kind}_" for kind in KINDS]
    for result in scored.results.values():
        assert 0 <= result.score <= 1
        assert (result.reason is None) == (result.score == 1)
        assert result.found is None or (len(result.found) <= 200 and len(result.found.splitlines()) <= 1)
    assert scored == score_item(_ONE_OF_EACH, {"expected_answer": "4"}, answer)


def test_every_fault_of_an_item_is_found_once() -> None:
    faults = item_faults(_ONE_OF_EACH, {"expected_answer": "x"})
    assert [str(fault).partition(";")[0] for fault in faults] == ["expected_answer: found 'x'"] * 2
    assert item_faults(_ONE_OF_EACH, {"expected_answer": "4"}) == ()
    with pytest.raises(ItemError, match="one number"):
        score_item(_ONE_OF_EACH, {"expected_answer": "x"}, "4")


# ── what is shipped ──────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("name", ["choice", "contains", "number"])
def test_a_shipped_spec_has_its_name_and_no_gates(name: str) -> None:
    assert (shipped(name).id, shipped(name).gates) == (f"{name}@v1", ())


@pytest.mark.parametrize(
    ("name", "expected", "answer", "reason"),
    [
        ("contains", "Paris", "The capital is paris.", None),
        ("contains", "Paris", "The capital is Rome.", "not_inside"),
        ("number", "42", "6 × 7 = **42**.", None),
        ("number", "1,000", "It is $1000.00", None),
        ("number", "42", "42 of 43", "other_number"),
        ("choice", "C", "The answer is (C).", None),
        ("choice", "C", "B", "other_choice"),
    ],
)
def test_a_shipped_spec_scores(name: str, expected: str, answer: str, reason: str | None) -> None:
    assert score_item(shipped(name), {"expected_answer": expected}, answer).results[name].reason == reason


def _rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


@pytest.mark.parametrize(
    ("name", "n_contained", "n_numbers"),
    [
        pytest.param("m45_m44_baseline", 40, 20, id="m45-base"),
        pytest.param("m45_post_stage_a", 35, 25, id="m45-stage-a"),
        pytest.param("m45_post_stage_b", 61, 29, id="m45-stage-b"),
        pytest.param("m45_post_stage_c", 67, 32, id="m45-stage-c"),
        pytest.param("m46_m45_stage_c", 72, 42, id="m46-stage-c"),
        pytest.param("m46_m46_control", 69, 35, id="m46-control"),
        pytest.param("m46_m46_self_correct", 64, 42, id="m46-self-correct"),
    ],
)
def test_real_checkpoints(name: str, n_contained: int, n_numbers: int) -> None:
    """`contains@v1` counts what A7 counts as inside; `number@v1` reads `20.0` as 20, and nothing in `2^10`."""
    folder = shared_data("tunix-rt")
    answers = {row["id"]: row["predicted_answer"] for row in _rows(folder / f"{name}_predictions.jsonl")}
    items = _rows(folder / "eval_v2_original.jsonl")
    contains, number = shipped("contains"), shipped("number")
    assert sum(score_item(contains, item, answers[item["id"]]).passed for item in items) == n_contained
    numeric = [item for item in items if not item_faults(number, item)]
    assert sorted(item["expected_answer"] for item in items if item not in numeric) == [
        "Friday",
        "Paris",
        "Paris",
        "true",
    ]
    passed = {item["id"] for item in numeric if score_item(number, item, answers[item["id"]]).passed}
    assert len(passed) == n_numbers
    for item in numeric:
        digits = re.findall(r"-?\d+(?:\.\d+)?", answers[item["id"]])
        if digits[-1:] == [item["expected_answer"]] and not {"^", "/"} & set(answers[item["id"]][-8:]):
            assert item["id"] in passed
