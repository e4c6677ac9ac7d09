"""A record's numbers in the form that a database can compare: exact integers of billionths (SPEC C2)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, Decimal
from typing import Any

from benchbook.evaluators.exact import NANO
from benchbook.evaluators.intervals import bounds_in

_MOST = (1 << 63) - 1
_DEPTH = 6
_LONGEST_NAME = 300
# What stands in this part of aggregates.json is called by its own name; elsewhere the part is named in front.
_UNNAMED_PART = "aggregates"


@dataclass(frozen=True, slots=True)
class Aggregate:
    """A number, or else a text; neither where the aggregate is null."""

    nano: int | None = None
    text: str | None = None


@dataclass(frozen=True, slots=True)
class Headline:
    """The numbers of a run in a list of runs. A null is not known, or does not exist for the run's spec."""

    primary_name: str | None = None
    primary_nano: int | None = None
    primary_low_nano: int | None = None
    primary_high_nano: int | None = None
    n_attempted: int | None = None
    n_scored: int | None = None
    n_unscored: int | None = None


def nano_of(value: int | float) -> int | None:
    """`value` in billionths, rounded half to even; None where that is no 64-bit integer."""
    if not abs(value) <= _MOST / NANO:  # also where it is not a number
        return None
    nano = int(Decimal(repr(value)).scaleb(9).quantize(Decimal(1), ROUND_HALF_EVEN))
    return nano if abs(nano) <= _MOST else None


def aggregates_of(content: Mapping[str, Any]) -> dict[str, Aggregate]:
    """The single values of an aggregates.json by name: `pass_rate`, `ledger.n_planned`, `intervals.pass_rate.low`.

    Lists (slices, repeats) stay in the record.
    """
    found: dict[str, Aggregate] = {}
    for name, value in _leaves(content, "", 0):
        if len(name) <= _LONGEST_NAME:
            found.setdefault(name, _aggregate(value))
    return found


def _leaves(content: Mapping[str, Any], prefix: str, depth: int) -> Iterator[tuple[str, Any]]:
    for key, value in content.items():
        if isinstance(value, dict):
            if depth < _DEPTH:
                unnamed = not depth and key == _UNNAMED_PART
                yield from _leaves(value, "" if unnamed else f"{prefix}{key}.", depth + 1)
        elif not isinstance(value, list):
            yield f"{prefix}{key}", value


def _aggregate(value: Any) -> Aggregate:
    match value:
        case None:
            return Aggregate()
        case bool():
            return Aggregate(text="true" if value else "false")
        case int() | float():
            nano = nano_of(value)
            return Aggregate(nano=nano) if nano is not None else Aggregate(text=repr(value))
        case _:
            return Aggregate(text=str(value))


def headline_of(primary: str | None, content: Mapping[str, Any], aggregates: Mapping[str, Aggregate]) -> Headline:
    """The headline of a finished run; `primary` is the aggregate that stands for it, `content` its aggregates.json.

    Items without a prediction count as unscored (n_skipped), though they score 0 (A3); those that are unanswered, or
    that a scorer could not score, do as well.
    """

    def nano(name: str) -> int | None:
        return aggregates.get(name, Aggregate()).nano

    def count(*names: str) -> int | None:
        value = _first(*map(nano, names))
        return None if value is None else value // NANO

    low, high = bounds_in(content, primary) if primary else (None, None)
    n_skipped, n_unanswered = count("n_skipped"), count("n_unanswered")
    without = None if n_skipped is None else n_skipped + (n_unanswered or 0) + (count("n_unscored") or 0)
    n_attempted = count("ledger.n_attempted", "n_attempted", "n_items")
    if n_attempted is not None and count("n_evaluations") is not None:
        n_attempted -= n_unanswered or 0  # of judges: a question asked in vain is no evaluation
    return Headline(
        primary_name=primary,
        primary_nano=nano(primary) if primary else None,
        primary_low_nano=None if low is None else nano_of(low),
        primary_high_nano=None if high is None else nano_of(high),
        n_attempted=n_attempted,
        n_scored=count("n_scored", "n_valid"),
        n_unscored=_first(without, count("n_unscored"), count("n_invalid")),
    )


def planned_of(aggregates: Mapping[str, Aggregate], n_asked: int | None, repeats: int) -> int | None:
    """How many samples were planned: as the aggregates say, else what was asked, so many times."""
    told = aggregates.get("n_planned", Aggregate()).nano
    if told is not None:
        return told // NANO
    return None if n_asked is None else n_asked * repeats


def _first(*values: int | None) -> int | None:
    return next((value for value in values if value is not None), None)
