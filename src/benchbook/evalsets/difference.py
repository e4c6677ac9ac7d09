"""What changed between two versions of an eval set: `evalset diff`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from benchbook.evalsets.evalset import EvalSet
from benchbook.evalsets.items import Item

__all__ = ["ChangedItem", "EvalSetDifference", "difference"]


class ChangedItem(msgspec.Struct, frozen=True):
    """An item of both sets: `fields` maps a field's name to its value before and after; None: it had none."""

    id: str
    fields: Mapping[str, tuple[Any, Any]]


class EvalSetDifference(msgspec.Struct, frozen=True, kw_only=True):
    """Ids in the order of the set that has them; `n_same` items are the same in every field.

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
    """Compare two sets item by item, by id. One read under another of a field's names is the same."""
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
