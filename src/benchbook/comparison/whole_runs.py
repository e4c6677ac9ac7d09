"""The numbers, the decision and the templates of a whole run: what stands beside its items where runs are compared."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import msgspec

from benchbook.errors import RecordError
from benchbook.evaluators.contract import Evaluator
from benchbook.evaluators.intervals import bounds_in
from benchbook.evaluators.told import is_measured
from benchbook.record.folder import Record


class RunNumber(NamedTuple):
    """An aggregate of a run, over all of its own samples, with its interval; each is None where it is not known."""

    value: float | None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class WholeRun:
    """`decision` is that of its gates, or the verdict on the run itself. `score` is the aggregate that stands for it,
    `primary` its name.

    `aggregates` are those that gates are of, the gates' own first. `templates` are `Evaluator.templates`.
    """

    decision: str | None = None
    primary: str | None = None
    score: RunNumber = field(default_factory=lambda: RunNumber(None))
    aggregates: Mapping[str, RunNumber] = field(default_factory=dict)
    gated: tuple[str, ...] = ()
    templates: Mapping[str, str] = field(default_factory=dict)


def whole_run(record: Record, derived: Record, evaluator: Evaluator) -> WholeRun:
    """A run by its derived files, as far as these are there: a file may hold anything, and `verify` says what holds."""
    aggregates, decision = _object_of(derived.aggregates), _object_of(derived.decision)
    gated = tuple(str(gate["aggregate"]) for gate in _list(decision.get("gates")) if "aggregate" in gate)
    part = aggregates.get("aggregates")
    numbers = part if isinstance(part, dict) else {}
    names = dict.fromkeys([*gated, *(name for name in numbers if not name.startswith("n_"))])
    templates: Mapping[str, str] = {}
    with suppress(RecordError, UnicodeDecodeError):
        templates = evaluator.templates(record, record.started())
    primary = evaluator.primary
    told = decision.get("decision") or decision.get("verdict")
    return WholeRun(
        decision=None if told is None else str(told),
        primary=primary,
        score=RunNumber(None) if primary is None else _number(numbers or aggregates, aggregates, primary),
        aggregates={name: _number(numbers, aggregates, name) for name in names if name in numbers},
        gated=tuple(name for name in gated if name in numbers),
        templates=templates,
    )


def _number(numbers: Mapping[str, Any], content: Mapping[str, Any], name: str) -> RunNumber:
    value = numbers.get(name)
    if not is_measured(name, value):
        return RunNumber(None)
    return RunNumber(value if type(value) in (int, float) else None, *bounds_in(content, name))


def _object_of(path: Any) -> dict[str, Any]:
    try:
        found = msgspec.json.decode(path.read_bytes())
    except (OSError, msgspec.DecodeError, UnicodeDecodeError):
        return {}
    return found if isinstance(found, dict) else {}


def _list(found: Any) -> list[dict[str, Any]]:
    return [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []
