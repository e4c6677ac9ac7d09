"""The composition of an eval set, and the difference between two of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

import msgspec

from benchbook.evalsets.evalset import EvalSet
from benchbook.evalsets.items import OPTIONAL_TEXTS, Item
from benchbook.evalsets.requirements import vocabulary


class CompositionRow(msgspec.Struct, frozen=True):
    """The number of items with a value in a field; None counts those without one."""

    field: str
    value: str | None
    n_items: int


def composition_rows(evalset: EvalSet) -> list[CompositionRow]:
    """A row for each value of section, category, difficulty, answer_format and group that some item has.

    Values stand in the order of SPEC A8, then others in alphabetical order, items without a value last. A field that
    no item has is left out.
    """
    counts: dict[str, Counter[str | None]] = {field: Counter() for field in OPTIONAL_TEXTS}
    for item in evalset:
        for field in OPTIONAL_TEXTS:
            counts[field][getattr(item, field)] += 1
    return [
        CompositionRow(field, value, counts[field][value])
        for field in OPTIONAL_TEXTS
        if counts[field].keys() != {None}
        for value in _ordered(field, counts[field])
    ]


def _ordered(field: str, counts: Counter[str | None]) -> list[str | None]:
    listed = [value for value in vocabulary(field) if value in counts]
    others = sorted(value for value in counts if value is not None and value not in listed)
    return [*listed, *others, *([None] if None in counts else [])]


class ChangedItem(msgspec.Struct, frozen=True):
    """An item that is in both sets: `fields` maps a field's name to its value before and after, None for none."""

    id: str
    fields: Mapping[str, tuple[Any, Any]]


class EvalSetDifference(msgspec.Struct, frozen=True, kw_only=True):
    """The difference between two sets: ids in the order of the set that has them. `n_same` items equal in all fields.

    `reordered`: the items of both sets stand in another order.
    """

    added: list[str]
    removed: list[str]
    changed: list[ChangedItem]
    n_same: int
    reordered: bool

    def __bool__(self) -> bool:
        return bool(self.added or self.removed or self.changed or self.reordered)


def difference(before: EvalSet, after: EvalSet) -> EvalSetDifference:
    """Compare two sets item by item, by id. A field under another of its names is the same."""
    places = {item.id: index for index, item in enumerate(before)}
    added: list[str] = []
    changed: list[ChangedItem] = []
    n_both, last, reordered = 0, -1, False
    for item in after:
        place = places.pop(item.id, None)
        if place is None:
            added.append(item.id)
            continue
        n_both += 1
        reordered = reordered or place < last
        last = place
        if fields := _changed_fields(before[place], item):
            changed.append(ChangedItem(item.id, fields))
    return EvalSetDifference(
        added=added,
        removed=list(places),
        changed=changed,
        n_same=n_both - len(changed),
        reordered=reordered,
    )


def _changed_fields(before: Item, after: Item) -> dict[str, tuple[Any, Any]]:
    if before == after:
        return {}
    pairs = {name: (getattr(before, name), getattr(after, name)) for name in Item.__struct_fields__}
    return {name: (old, new) for name, (old, new) in pairs.items() if old != new}
