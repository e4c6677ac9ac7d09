"""A record's numbers in the form that a database can compare: exact integers of billionths (SPEC C2)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, Decimal
from typing import Any

from benchbook.evaluators.exact import NANO
from benchbook.evaluators.intervals import bounds_in
from benchbook.evaluators.told import is_measured

_MOST = (1 << 63) - 1
_DEPTH = 6
_LONGEST_NAME = 300
# What stands in this part of aggregates.json is called by its own name; elsewhere the part is named in front.
_UNNAMED_PART = "aggregates"
_IS_COST = re.compile(r"[0-9]{1,6}(\.[0-9]{1,12})?")  # decimal dollars; whoever says more is not believed
_MOST_TOKENS = 10**12  # the same of tokens: sums over all runs stay 64-bit integers


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
    n_evaluations: int | None = None
    n_tokens: int | None = None
    cost_nano: int | None = None


def nano_of(value: int | float) -> int | None:
    """`value` in billionths, rounded half to even; None where that is no 64-bit integer."""
    if not abs(value) <= _MOST / NANO:  # also where it is not a number
        return None
    return _rounded(Decimal(repr(value)))


def _rounded(value: Decimal) -> int | None:
    nano = int(value.scaleb(9).quantize(Decimal(1), ROUND_HALF_EVEN))
    return nano if abs(nano) <= _MOST else None


def aggregates_of(content: Mapping[str, Any]) -> dict[str, Aggregate]:
    """The single values of an aggregates.json by name: `pass_rate`, `ledger.n_planned`, `intervals.pass_rate.low`.

    Lists (slices, repeats) stay in the record. What nobody measured is null.
    """
    found: dict[str, Aggregate] = {}
    for name, value in _leaves(content, "", 0):
        if len(name) <= _LONGEST_NAME:
            found.setdefault(name, _aggregate(value) if is_measured(name, value) else Aggregate())
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
        n_evaluations=count("n_evaluations"),
        n_tokens=_tokens(content, aggregates),
        cost_nano=_cost_nano(content, aggregates),
    )


_COSTS = {
    "candidate_cost_usd": ("total_input_tokens", "total_output_tokens", "total_tokens"),
    "evaluator_cost_usd": ("evaluator_input_tokens", "evaluator_output_tokens"),
}  # with the tokens that each is made of
_OF_JUDGES = ("input_tokens", "output_tokens")  # of each judge of an experiment


def _tokens(content: Mapping[str, Any], aggregates: Mapping[str, Aggregate]) -> int | None:
    """The tokens of the model and its judges, as far as the record tells; None where it tells none."""
    names = ("total_tokens", "evaluator_input_tokens", "evaluator_output_tokens")
    nanos = (aggregates[name].nano for name in names if name in aggregates)
    told: list[Any] = [nano // NANO for nano in nanos if nano is not None]
    told += [one.get(name) for one in _judges(content) for name in _OF_JUDGES]
    counts = [one for one in told if isinstance(one, int) and 0 < one <= _MOST_TOKENS]
    return sum(counts) if counts else None


def _cost_nano(content: Mapping[str, Any], aggregates: Mapping[str, Aggregate]) -> int | None:
    """Billionths of a dollar, of the model and its judges; None where none has a price, or no reply told its tokens."""
    texts: list[tuple[Any, bool]] = [
        (aggregates[name].text, any(aggregates.get(one, Aggregate()).nano is not None for one in tokens))
        for name, tokens in _COSTS.items()
        if name in aggregates
    ]
    texts += [(one.get("cost_usd"), any(one.get(name) for name in _OF_JUDGES)) for one in _judges(content)]
    told = [
        cost
        for text, has_tokens in texts
        if isinstance(text, str) and _IS_COST.fullmatch(text) and ((cost := Decimal(text)) or has_tokens)
    ]
    return _rounded(sum(told, Decimal())) if told else None


def _judges(content: Mapping[str, Any]) -> list[dict[str, Any]]:
    found = content.get("judges")
    return [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []


def planned_of(aggregates: Mapping[str, Aggregate], n_asked: int | None, repeats: int) -> int | None:
    """How many samples were planned: as the aggregates say, else what was asked, so many times."""
    told = aggregates.get("n_planned", Aggregate()).nano
    if told is not None:
        return told // NANO
    return None if n_asked is None else n_asked * repeats


def _first(*values: int | None) -> int | None:
    return next((value for value in values if value is not None), None)
