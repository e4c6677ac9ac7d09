"""What an item of an eval set has to hold, field by field (SPEC A8)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from benchbook.evalsets.composition import Profile, vocabulary
from benchbook.evalsets.conversations import MessageError, check_messages
from benchbook.evalsets.findings import Fault
from benchbook.evalsets.item_criteria import CRITERIA, criteria_faults, holds_criteria
from benchbook.evalsets.items import ALIASES, MESSAGES, close_to, field_meant, misspelt, too_large
from benchbook.evalsets.lines import type_name
from benchbook.evalsets.set_contents import stands_in
from benchbook.text import shorten

__all__ = ["FIELDS", "check_fields", "field_order", "filled_text"]


# In the order in which a line's faults are told.
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
    """`(item, faults)`: the fields under our names without those that are there more than once, and what is wrong."""
    item = {name: content for name, content in value.items() if name not in repeated} if repeated else value
    faults = [Fault(field, "duplicate_key", reason) for field, reason in repeated.items()]
    if profile.free:
        item = _under_our_names(item, faults)
    faults.extend(_field_faults(item, repeated, profile))
    return item, faults


def field_order(field: str | None) -> int:
    """Where a field stands among a line's faults: what concerns the whole line first, other fields last."""
    if field is None:
        return -1
    return FIELDS.index(field) if field in FIELDS else len(FIELDS)


def _field_faults(item: Mapping[str, Any], repeated: Mapping[str, str], profile: Profile) -> Iterator[Fault]:
    required = _REQUIRED_FREE if profile.free else _REQUIRED
    if item.get(MESSAGES) is not None:  # a conversation is asked as it is: its transcript stands in for a prompt
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
    """Further fields are allowed, but for a second name of one that is there and for what looks misspelt."""
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
    """`value` where it is a text with something in it, else None."""
    return value if isinstance(value, str) and value.strip() else None
