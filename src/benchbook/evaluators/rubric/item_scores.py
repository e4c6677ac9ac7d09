"""An item's own criteria as a judge's reply has them: which are met, and what that comes to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import msgspec

from benchbook.errors import InputError
from benchbook.evalsets import EvalSet, Item
from benchbook.evalsets.item_criteria import ItemCriterion, criteria_faults, read_criteria
from benchbook.evaluators.exact import NANO, divide
from benchbook.evaluators.rubric.further import MetCounts
from benchbook.evaluators.rubric.reply_faults import Rejected, json_type, rationale_fault
from benchbook.evaluators.rubric.spec import RubricSpec

__all__ = [
    "ITEM_CRITERIA",
    "Met",
    "check_item_criteria",
    "counts_of",
    "item_criteria_reply",
    "item_criteria_text",
    "n_criteria",
    "read_met",
    "score_of",
]


ITEM_CRITERIA = "item_criteria"  # what the table of a spec, and the criterion that is made of it, is called


class Met(msgspec.Struct, frozen=True):
    """One of an item's criteria, and whether the judge says that the answer meets it."""

    criterion: ItemCriterion
    met: bool
    rationale: str | None  # None: the rubric asks for none


def n_criteria(item: Item) -> int:
    """How many criteria of its own an item has."""
    return len(item.criteria)


def score_of(met: Sequence[Met]) -> int:
    """What is met of all positive weights, less what is met of negative ones, from 0 to 1 in nano-units: rounded
    half-even, once."""
    best = sum(one.criterion.weight for one in met if one.criterion.weight > 0)
    share = Fraction(sum(one.criterion.weight for one in met if one.met)) / best
    clipped = min(max(share, Fraction(0)), Fraction(1))
    return divide(clipped.numerator * NANO, clipped.denominator)


def counts_of(met: Sequence[Met]) -> MetCounts:
    """How many there are by the sign of their weight, and how many of them are met."""
    positive = [one.met for one in met if one.criterion.weight > 0]
    negative = [one.met for one in met if one.criterion.weight < 0]
    return MetCounts(len(positive), sum(positive), len(negative), sum(negative))


def read_met(value: Mapping[str, Any], item: Item, spec: RubricSpec) -> tuple[Met, ...] | Rejected:
    """Which criteria of `item` a reply says are met: `"item_criteria": {"1": {"met": true}}`, each by its number."""
    given = value[ITEM_CRITERIA]
    if not isinstance(given, dict):
        return Rejected("bad_score_type", f"{ITEM_CRITERIA} is {json_type(given)}, not an object")
    found = []
    for number, criterion in enumerate(read_criteria(item.criteria), start=1):
        one = _read_one(given, str(number), criterion, spec)
        if isinstance(one, Rejected):
            return one
        found.append(one)
    return tuple(found)


def _read_one(given: Mapping[str, Any], number: str, criterion: ItemCriterion, spec: RubricSpec) -> Met | Rejected:
    place = f'{ITEM_CRITERIA}["{number}"]'
    if number not in given:
        return Rejected("missing_key", f"there is no {place}")
    one = given[number]
    if not isinstance(one, dict):
        return Rejected("bad_score_type", f"{place} is {json_type(one)}, not an object with met")
    for key in ("met", "rationale") if spec.item_rationales else ("met",):
        if key not in one:
            return Rejected("missing_key", f"there is no {key} in {place}")
    if not isinstance(one["met"], bool):
        return Rejected("bad_score_type", f"met in {place} is {json_type(one['met'])}, not true or false")
    if not spec.item_rationales:
        return Met(criterion, one["met"], None)
    if (fault := rationale_fault(one["rationale"], spec.max_rationale_words)) is not None:
        return Rejected("bad_rationale", f"of {place}: {fault}")
    return Met(criterion, one["met"], one["rationale"])


def check_item_criteria(evalset: EvalSet, spec: RubricSpec) -> None:
    """Refuses items without criteria of their own, or with a fault in them. Raises: InputError with line and field."""
    with evalset:
        for index, item in enumerate(evalset):
            if (fault := next(criteria_faults(item.criteria), None)) is not None:
                found = "nothing" if item.criteria is None else fault.found
                expected = f"{fault.expected}: {spec.id} scores each item by its own"
                line = evalset.line_of(index)
                raise InputError(evalset.path, line=line, field=fault.field, found=found, expected=expected)


# ── what the judge is told ───────────────────────────────────────────────────────────────────────────────────


def item_criteria_text(item: Item) -> str:
    """The item's own criteria by their numbers. Their weights are no business of the judge's."""
    lines = [f"  {number}. {one.text}" for number, one in enumerate(read_criteria(item.criteria), start=1)]
    return "\n".join([f"- {ITEM_CRITERIA} (of each, by its number: true where it holds of the answer):", *lines])


def item_criteria_reply(item: Item, spec: RubricSpec) -> str:
    """The part of the reply's form that is about them."""
    rationale = f'"rationale": "<why, in at most {spec.max_rationale_words} words>", ' if spec.item_rationales else ""
    parts = (f'"{number}": {{{rationale}"met": <true | false>}}' for number in range(1, n_criteria(item) + 1))
    return f'"{ITEM_CRITERIA}": {{{", ".join(parts)}}}'
