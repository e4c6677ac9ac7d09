"""Criteria that an item brings itself: what an answer to it should do, or by a negative weight should not.

A user's own rubric with `[item_criteria]` scores each item by them; nobody else reads them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any, NamedTuple

from benchbook.evalsets.lines import type_name
from benchbook.text import quoted, shorten

__all__ = ["CRITERIA", "CriteriaFault", "ItemCriterion", "criteria_faults", "holds_criteria", "read_criteria"]


CRITERIA = "criteria"  # the field
_MOST = 200
_HEAVIEST = 1_000_000
_LIGHTEST = 0.000001
_FORM = '[{"text": "…", "weight": 5}]'
# Names that other sets have for the two; they are not read, but asked about.
_MEANT = {"text": ("criterion", "description", "rubric"), "weight": ("points", "score", "value")}


class ItemCriterion(NamedTuple):
    """One of an item's criteria. A positive weight is for what an answer should do."""

    text: str
    weight: Fraction


class CriteriaFault(NamedTuple):
    """What is wrong, and where: `criteria[2].weight`."""

    field: str
    found: str
    expected: str


def holds_criteria(value: Any) -> bool:
    """Whether a field of this name is meant as criteria: other sets have other things by that name."""
    return isinstance(value, list) and any(isinstance(one, dict) for one in value)


def read_criteria(value: Any) -> tuple[ItemCriterion, ...]:
    """The criteria of an item, which have no fault."""
    return tuple(ItemCriterion(one["text"], Fraction(str(one["weight"]))) for one in value)


def criteria_faults(value: Any) -> Iterator[CriteriaFault]:
    """All that is wrong with an item's criteria."""
    if not isinstance(value, list) or not 1 <= len(value) <= _MOST:
        found = type_name(value) if not isinstance(value, list) else f"{len(value)} of them" if value else "none"
        yield CriteriaFault(CRITERIA, found, f"1 to {_MOST} criteria, {_FORM}")
        return
    faulty = False
    for number, one in enumerate(value):
        for fault in _entry_faults(one, f"{CRITERIA}[{number}]"):
            faulty = True
            yield fault
    if not faulty and all(one["weight"] < 0 for one in value):
        expected = "at least one above 0: an item's score is what is met of those"
        yield CriteriaFault(CRITERIA, "negative weights alone", expected)


def _entry_faults(one: Any, field: str) -> Iterator[CriteriaFault]:
    if not isinstance(one, dict):
        yield CriteriaFault(field, type_name(one), 'an object with text and weight, {"text": "…", "weight": 5}')
        return
    text, weight = one.get("text"), one.get("weight")
    if not isinstance(text, str) or not text.strip():
        found = "nothing but white space" if isinstance(text, str) else _missing("text", one)
        yield CriteriaFault(f"{field}.text", found, "what an answer should do, or by a negative weight should not")
    expected = f"a number that is not 0, from {_LIGHTEST:f} to {_HEAVIEST} or negative"
    if isinstance(weight, bool) or not isinstance(weight, int | float):
        yield CriteriaFault(f"{field}.weight", _missing("weight", one), expected)
    elif not _LIGHTEST <= abs(weight) <= _HEAVIEST:
        yield CriteriaFault(f"{field}.weight", "0" if weight == 0 else "a number out of range", expected)


def _missing(name: str, one: Mapping[str, Any]) -> str:
    if one.get(name) is not None:
        return type_name(one[name])
    meant = next((other for other in _MEANT[name] if other in one), None)
    return "nothing" if meant is None else f"nothing ({quoted(shorten(meant, 40))} is there: rename it)"
