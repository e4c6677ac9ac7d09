"""SPEC A8, A9: the eval sets that Benchbook ships: right, made up as they must be, and nobody else's."""

from __future__ import annotations

import json
from collections import Counter
from importlib.resources import files
from itertools import chain
from pathlib import Path
from typing import Any

import pytest

from benchbook.evalsets import open_evalset
from benchbook.evalsets.set_contents import near_form
from benchbook.evalsets.validate import validate
from evalsets.computed_answers import COMPUTED, as_answer
from support import shared_data

SHIPPED = Path(str(files("benchbook.evalsets") / "shipped"))
PROFILES = {"golden_v1": "golden-v1", "eval_v1": "eval_v1", "eval_v2": "eval_v2"}

# Facts that no program computes: each looked at a second time, with what settles it.
LOOKED_UP = {
    "g1-08": ("Oslo", "capital of Norway"),
    "g1-09": ("8", "arachnids have four pairs of legs"),
    "g1-10": ("Ag", "IUPAC, argentum, 47"),
    "v1-019": ("Ottawa", "capital of Canada, not its largest city"),
    "v1-020": ("Mercury", "0.39 astronomical units"),
    "v1-021": ("H2O", "two hydrogen, one oxygen"),
    "v1-022": ("Leonardo da Vinci", "Louvre, INV 779"),
    "v1-023": ("femur", "thigh bone"),
    "v1-024": ("1969", "Apollo 11, 20/21 July 1969 in any time zone"),
    "v2-029": ("Tokyo", "seat of the National Diet"),
    "v2-030": ("Au", "IUPAC, aurum, 79"),
    "v2-031": ("Jupiter", "equatorial radius 71,492 km"),
    "v2-032": ("Austen", "Jane Austen, 1813"),
    "v2-033": ("carbon dioxide", "6 CO2 + 6 H2O -> C6H12O6 + 6 O2"),
    "v2-034": ("Indian", "between 20 and 147 degrees east"),
    "v2-035": ("iron", "IUPAC, ferrum, 26"),
    "v2-036": ("1989", "9 November 1989"),
    "v2-037": ("pancreas", "its islets of Langerhans"),
    "v2-038": ("The Hague", "Statute of the Court, article 22"),
}


def items_of(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (SHIPPED / f"{name}.jsonl").read_text("utf-8").splitlines()]


ALL = list(chain.from_iterable(items_of(name) for name in PROFILES))


@pytest.mark.parametrize(("name", "profile"), PROFILES.items())
def test_a_shipped_set_has_no_finding(name: str, profile: str) -> None:
    assert list(validate(SHIPPED / f"{name}.jsonl", profile)) == []
    assert len(open_evalset(SHIPPED / f"{name}.jsonl", needs_expected_answer=True)) == len(items_of(name))


def test_the_rubric_set_has_no_error() -> None:
    assert [found for found in validate(SHIPPED / "support_v1.jsonl", "rubric") if found.severity == "error"] == []


def test_the_sets_are_made_up_as_the_source_says() -> None:  # A9, counted without the validator
    assert len(items_of("golden_v1")) == 20
    assert len(items_of("eval_v1")) == 50
    whole = items_of("eval_v2")
    assert Counter(item["section"] for item in whole) == {"core": 60, "trace_sensitive": 25, "edge_case": 15}
    assert Counter(item["difficulty"] for item in whole) == {"easy": 34, "medium": 41, "hard": 25}
    assert len({item["category"] for item in whole}) == 10
    assert {item["difficulty"] for item in items_of("eval_v1")} == {"easy", "medium", "hard"}


@pytest.mark.parametrize("item", [pytest.param(item, id=item["id"]) for item in ALL])
def test_an_expected_answer_is_right(item: dict[str, Any]) -> None:
    if item["id"] in COMPUTED:
        assert as_answer(COMPUTED[item["id"]]) == item["expected_answer"]
    else:
        assert LOOKED_UP[item["id"]][0] == item["expected_answer"]


def test_every_answer_is_checked_in_one_way() -> None:
    ids = Counter(chain(COMPUTED, LOOKED_UP))
    assert ids == Counter(item["id"] for item in ALL)


def test_prompts_say_which_form_the_answer_has() -> None:
    for item in ALL:
        prompt = item["prompt"]
        prefix = item.get("answer_format") == "answer_prefix"
        assert ("Answer: <number>" in prompt) is prefix, item["id"]
        assert prefix or "only" in prompt or "Reply with one" in prompt or "Reply in the form" in prompt, item["id"]


def test_no_question_is_asked_in_two_sets() -> None:
    prompts = Counter(near_form(item["prompt"]) for item in ALL)
    assert [prompt for prompt, n in prompts.items() if n > 1] == []


def test_no_item_is_that_of_another_project() -> None:
    theirs = set()
    for path in shared_data("tunix-rt").glob("eval_*_original.jsonl"):
        theirs |= {near_form(json.loads(line)["prompt"]) for line in path.read_text("utf-8").splitlines()}
    assert len(theirs) > 90
    taken = [
        item["id"] for item in ALL for other in theirs
        if near_form(item["prompt"]).startswith(other) or other.startswith(near_form(item["prompt"]))
    ]  # fmt: skip
    assert taken == []
