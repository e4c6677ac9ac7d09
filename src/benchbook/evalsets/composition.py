"""What an eval set has to be made of (SPEC A8, A9), and what tells two versions of one apart."""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, Literal, get_args

import msgspec

from benchbook.canonical import ready
from benchbook.errors import UsageError
from benchbook.evalsets.evalset import EvalSet
from benchbook.evalsets.items import OPTIONAL_TEXTS, Item
from benchbook.specs import load_spec

__all__ = [
    "PROFILES",
    "ChangedItem",
    "Composition",
    "CompositionRow",
    "EvalSetDifference",
    "Profile",
    "ProfileName",
    "composition_faults",
    "composition_rows",
    "difference",
    "load_profile",
    "vocabulary",
]


ProfileName = Literal["golden-v1", "eval_v1", "eval_v2", "rubric"]
PROFILES: tuple[ProfileName, ...] = get_args(ProfileName)

_SPEC_ID = "answer_correctness@v1"
_COUNTED = ("section", "category", "difficulty")


class Profile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One table of `profiles.toml`, whose comments say what the fields mean; None and empty ask for nothing."""

    name: str = "A8"
    n_items: int | None = None
    counts: Mapping[str, Mapping[str, int]] = {}
    every: tuple[str, ...] = ()
    absent: tuple[str, ...] = ()
    warned: tuple[str, ...] = ()
    free: bool = False


class Composition(msgspec.Struct):
    """How many items there are, and how many of them have which `(field, value)` of `_COUNTED`."""

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
    """The profile called `name`; None: A8 alone.

    Raises: UsageError for a name that is not there.
    """
    if name is None:
        return Profile()
    tables = tomllib.loads(Path(__file__).with_name("profiles.toml").read_text("utf-8"))
    if name not in tables:
        raise UsageError(f"no profile {name!r}; there are {', '.join(tables)}")
    return msgspec.convert({"name": name} | tables[name], ready(Profile))


@cache
def vocabulary(field: str) -> tuple[str, ...]:
    """The values that a field can have (SPEC A8); empty for a field with free text."""
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
