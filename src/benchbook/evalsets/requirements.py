"""Requirements on an eval set, by its profile, and on each of its items, field by field (SPEC A8, A9).

An item may bring criteria of its own: things that an answer should do, or with a negative weight should not. A user's
own rubric with `[item_criteria]` scores it by them; nothing else reads them.
"""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from benchbook.canonical import ready
from benchbook.errors import UsageError
from benchbook.evalsets.conversations import MessageError, check_messages
from benchbook.evalsets.findings import Fault
from benchbook.evalsets.items import ALIASES, CRITERIA, MESSAGES, close_to, field_meant, misspelt, too_large
from benchbook.evalsets.lines import type_name
from benchbook.evalsets.set_contents import stands_in
from benchbook.specs import load_spec
from benchbook.text import quoted, shorten

PROFILES = ("golden-v1", "eval_v1", "eval_v2", "rubric", "score")

_SPEC_ID = "answer_correctness@v1"
_COUNTED = ("section", "category", "difficulty")


class Profile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One table of `profiles.toml`, whose comments explain the fields; None and empty values require nothing."""

    name: str = ""
    n_items: int | None = None
    counts: Mapping[str, Mapping[str, int]] = {}
    every: tuple[str, ...] = ()
    absent: tuple[str, ...] = ()
    warned: tuple[str, ...] = ()
    free: bool = False
    required: tuple[str, ...] = ()


class Composition(msgspec.Struct):
    """The number of items, and of items with each `(field, value)` of `_COUNTED`."""

    n_items: int = 0
    counts: Counter[tuple[str, str]] = msgspec.field(default_factory=Counter)

    def add(self, item: Mapping[str, Any]) -> None:
        self.n_items += 1
        for field in _COUNTED:
            value = item.get(field)
            if isinstance(value, str):
                self.counts[field, value] += 1


@cache
def load_profile(name: str | None) -> Profile:
    """The profile called `name`; for None, A8 alone.

    Raises: UsageError for an unknown name.
    """
    if name is None:
        return Profile()
    tables = tomllib.loads(Path(__file__).with_name("profiles.toml").read_text("utf-8"))
    if name not in tables:
        raise UsageError(f"no profile {name!r}; there are {', '.join(tables)}")
    return msgspec.convert({"name": name} | tables[name], ready(Profile))


@cache
def vocabulary(field: str) -> tuple[str, ...]:
    """The values that a field can have (SPEC A8); empty for a field of free text."""
    return tuple(load_spec(_SPEC_ID).settings["items"].get(field, ()))


def composition_faults(found: Composition, profile: Profile) -> Iterator[tuple[str | None, str]]:
    """`(field, reason)` for each count that is not the profile's (SPEC A9)."""
    name = profile.name
    if profile.n_items is not None and found.n_items != profile.n_items:
        yield None, f"{_items(found.n_items)}; {name} has {profile.n_items}"
    for field, counts in profile.counts.items():
        for value, wanted in counts.items():
            n = found.counts[field, value]
            if n != wanted:
                yield field, f"{_items(n)} with {value!r}; {name} has {wanted} ({_gap(n, wanted)})"
    for field in profile.every:
        for value in vocabulary(field):
            if not found.counts[field, value]:
                yield field, f"no item with {value!r}; {name} has every {field}"


def _items(n: int) -> str:
    return "1 item" if n == 1 else f"{n} items"


def _gap(n: int, wanted: int) -> str:
    return f"{n - wanted} too many" if n > wanted else f"{wanted - n} missing"


# ── an item ──────────────────────────────────────────────────────────────────────────────────────────────────


# In the order in which a line's faults are reported.
FIELDS = (
    "id",
    "prompt",
    "expected_answer",
    "section",
    "category",
    "difficulty",
    "answer_format",
    "context",
    "group",
    "messages",
    "criteria",
)
_REQUIRED: tuple[str, ...] = FIELDS[:6]
_REQUIRED_FREE: tuple[str, ...] = FIELDS[:2]


def check_fields(
    value: dict[str, Any], repeated: Mapping[str, str], profile: Profile
) -> tuple[dict[str, Any], list[Fault]]:
    """`(item, faults)`: the fields under our names, without repeated ones, and all faults."""
    item = {name: content for name, content in value.items() if name not in repeated} if repeated else value
    faults = [Fault(field, "duplicate_key", reason) for field, reason in repeated.items()]
    if profile.free:
        item = _under_our_names(item, faults)
    faults.extend(_field_faults(item, repeated, profile))
    return item, faults


def field_order(field: str | None) -> int:
    """The place of a field among a line's faults: first those of the whole line, unknown fields last."""
    if field is None:
        return -1
    return FIELDS.index(field) if field in FIELDS else len(FIELDS)


def _field_faults(item: Mapping[str, Any], repeated: Mapping[str, str], profile: Profile) -> Iterator[Fault]:
    required = (*_REQUIRED_FREE, *profile.required) if profile.free else _REQUIRED
    if item.get(MESSAGES) is not None:  # a conversation is sent as it is: its transcript stands in for a prompt
        required = tuple(field for field in required if field != "prompt")
    for field in FIELDS:
        value = item.get(field)
        if field in repeated or (value is None and field not in required):
            continue
        if field in profile.absent:
            yield Fault(field, "composition", f"an item with {field}; {profile.name} has none")
        if field not in item:
            yield Fault(field, "missing_field", f"there is no {field}{_hint(field, item)}")
        elif field == "context":
            if (found := too_large(value)) is not None:
                yield Fault(field, "number_range", f"found {found}; expected numbers that a double holds")
        elif field == MESSAGES:
            yield from _message_faults(value)
        elif field == CRITERIA:
            yield from _criteria_faults(value)
        else:
            yield from _text_faults(field, value, profile)
    if len(item) > len(required):
        yield from _name_faults(item)
    answer, prompt = filled_text(item.get("expected_answer")), filled_text(item.get("prompt"))
    if answer and prompt and stands_in(answer, prompt):
        yield Fault("expected_answer", "answer_in_prompt", f"'{shorten(answer, 60)}' stands in the prompt")


def _message_faults(value: Any) -> Iterator[Fault]:
    try:
        check_messages(value)
    except MessageError as error:
        yield Fault(error.field, "wrong_type", f"found {error.found}; expected {error.expected}")


def _criteria_faults(value: Any) -> Iterator[Fault]:
    if holds_criteria(value):
        for field, found, expected in criteria_faults(value):
            yield Fault(field, "bad_criteria", f"found {found}; expected {expected}")


def _text_faults(field: str, value: Any, profile: Profile) -> Iterator[Fault]:
    if not isinstance(value, str):
        yield Fault(field, "wrong_type", f"found {type_name(value)}; expected a string")
        return
    values = () if profile.free and field != "answer_format" else vocabulary(field)
    if values:
        if value not in values:
            yield Fault(field, "unknown_value", _unknown_value(field, value))
    elif not value.strip():
        yield Fault(field, "empty_field", "nothing but white space; expected a text")


def _name_faults(item: Mapping[str, Any]) -> Iterator[Fault]:
    """Faults of further fields. They are allowed, except a second name of a field and names that look misspelt."""
    for name in item:
        if name in FIELDS:
            continue
        for field, names in ALIASES.items():
            if name in names and field in item:
                yield Fault(field, "two_names", f"found {name} beside {field}; expected one of them")
        ours = misspelt(name)
        if ours is not None and ours not in item and ours not in _REQUIRED:
            yield Fault(name, "unknown_field", f"not a field of ours; did you mean {ours}?")


def _under_our_names(item: Mapping[str, Any], faults: list[Fault]) -> dict[str, Any]:
    """`item` with a field's other names read as ours, as `rubric@v1` does."""
    ours = dict(item)
    for field, names in ALIASES.items():
        there = [name for name in names if name in item]
        if len(there) > 1 and field not in item:
            faults.append(Fault(field, "two_names", f"found {' and '.join(there)}; expected one of them"))
        if there and field not in item:
            ours[field] = item[there[0]]
            for name in there:
                del ours[name]
    return ours


def _hint(field: str, item: Mapping[str, Any]) -> str:
    others = [name for name in ALIASES.get(field, ()) if name in item]
    others += [name for name in item if name not in FIELDS and name not in others and field_meant(name) == field]
    return f" ({shorten(others[0], 40)} is there: rename it)" if others else ""


def _unknown_value(field: str, value: str) -> str:
    values = vocabulary(field)
    close = close_to(value, values, cutoff=0.6)
    offer = f" (did you mean {close}?)" if close else ""
    return f"found '{shorten(value, 60)}'; expected {', '.join(values)}{offer}"


def filled_text(value: Any) -> str | None:
    """`value` if it is a text that is not blank, else None."""
    return value if isinstance(value, str) and value.strip() else None


# ── an item's own criteria ───────────────────────────────────────────────────────────────────────────────────


_MOST_CRITERIA = 200
_HEAVIEST = 1_000_000
_LIGHTEST = 0.000001
_CRITERIA_FORM = '[{"text": "…", "weight": 5}]'
# Names that other sets have for the two; they are not read, but suggested for renaming.
_CRITERION_MEANT = {"text": ("criterion", "description", "rubric"), "weight": ("points", "score", "value")}


class ItemCriterion(NamedTuple):
    """One of an item's criteria. A positive weight means that an answer should do it."""

    text: str
    weight: Fraction


class _CriteriaFault(NamedTuple):
    """A fault in criteria; `field` is its place, `criteria[2].weight`."""

    field: str
    found: str
    expected: str


def holds_criteria(value: Any) -> bool:
    """True if a value of this field is meant as criteria: some sets have other things by that name."""
    return isinstance(value, list) and any(isinstance(one, dict) for one in value)


def read_criteria(value: Any) -> tuple[ItemCriterion, ...]:
    """The criteria of an item, which must be free of faults."""
    return tuple(ItemCriterion(one["text"], Fraction(str(one["weight"]))) for one in value)


def criteria_faults(value: Any) -> Iterator[_CriteriaFault]:
    """All faults of an item's criteria."""
    if not isinstance(value, list) or not 1 <= len(value) <= _MOST_CRITERIA:
        found = type_name(value) if not isinstance(value, list) else f"{len(value)} of them" if value else "none"
        yield _CriteriaFault(CRITERIA, found, f"1 to {_MOST_CRITERIA} criteria, {_CRITERIA_FORM}")
        return
    faulty = False
    for number, one in enumerate(value):
        for fault in _criterion_faults(one, f"{CRITERIA}[{number}]"):
            faulty = True
            yield fault
    if not faulty and all(one["weight"] < 0 for one in value):
        expected = "at least one above 0: an item's score is what is met of those"
        yield _CriteriaFault(CRITERIA, "negative weights alone", expected)


def _criterion_faults(one: Any, field: str) -> Iterator[_CriteriaFault]:
    if not isinstance(one, dict):
        yield _CriteriaFault(field, type_name(one), 'an object with text and weight, {"text": "…", "weight": 5}')
        return
    text, weight = one.get("text"), one.get("weight")
    if not isinstance(text, str) or not text.strip():
        found = "nothing but white space" if isinstance(text, str) else _missing_in("text", one)
        yield _CriteriaFault(f"{field}.text", found, "what an answer should do, or by a negative weight should not")
    expected = f"a number that is not 0, from {_LIGHTEST:f} to {_HEAVIEST} or negative"
    if isinstance(weight, bool) or not isinstance(weight, int | float):
        yield _CriteriaFault(f"{field}.weight", _missing_in("weight", one), expected)
    elif not _LIGHTEST <= abs(weight) <= _HEAVIEST:
        yield _CriteriaFault(f"{field}.weight", "0" if weight == 0 else "a number out of range", expected)


def _missing_in(name: str, one: Mapping[str, Any]) -> str:
    if one.get(name) is not None:
        return type_name(one[name])
    meant = next((other for other in _CRITERION_MEANT[name] if other in one), None)
    return "nothing" if meant is None else f"nothing ({quoted(shorten(meant, 40))} is there: rename it)"
