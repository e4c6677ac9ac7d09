"""What an eval set is made of: `evalset show`."""

from __future__ import annotations

from collections import Counter

import msgspec

from benchbook.evalsets.evalset import EvalSet
from benchbook.evalsets.profiles import vocabulary

__all__ = ["CompositionRow", "composition_rows"]

_SHOWN = ("section", "category", "difficulty", "answer_format", "group")


class CompositionRow(msgspec.Struct, frozen=True):
    """How many items have a value in a field; None: they have no value there."""

    field: str
    value: str | None
    n_items: int


def composition_rows(evalset: EvalSet) -> list[CompositionRow]:
    """A row for each value of section, category, difficulty, answer_format and group that some item has.

    Values stand in the order of SPEC A8, others after them by the alphabet, items without a value last. A field that
    no item has is left out.
    """
    counts: dict[str, Counter[str | None]] = {field: Counter() for field in _SHOWN}
    for item in evalset:
        for field in _SHOWN:
            counts[field][getattr(item, field)] += 1
    return [
        CompositionRow(field, value, counts[field][value])
        for field in _SHOWN
        if counts[field].keys() != {None}
        for value in _ordered(field, counts[field])
    ]


def _ordered(field: str, counts: Counter[str | None]) -> list[str | None]:
    listed = [value for value in vocabulary(field) if value in counts]
    others = sorted(value for value in counts if value is not None and value not in listed)
    return [*listed, *others, *([None] if None in counts else [])]
