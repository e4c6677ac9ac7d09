"""Records taken together by the experiment that their settings name: runs of one plan, or the cells of a grid."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import msgspec

from benchbook.errors import RecordError, UsageError
from benchbook.evaluators.contract import Evaluator
from benchbook.evaluators.exact import NANO, RepeatSummary, summary_of
from benchbook.evaluators.grid import NOT_VARIED
from benchbook.evaluators.intervals import bounds_in
from benchbook.evaluators.registry import evaluator_of
from benchbook.record.facts import RunStarted
from benchbook.record.folder import Record, misnamed


class ExperimentPlan(msgspec.Struct, frozen=True, kw_only=True):
    """The whole records of one plan, in the order of their ids; the lists have a value for each.

    `settings` are those that other plans of the experiment have otherwise. `intervals` are `[low, high]` of the first
    summary's aggregate; None for a run without one.
    """

    plan_sha256: str
    spec: str
    spec_sha256: str
    model_id: str
    settings: dict[str, Any]
    runs: list[str]
    decisions: list[str | None]
    intervals: list[tuple[float, float] | None]
    summaries: list[RepeatSummary]


class LeftOut(msgspec.Struct, frozen=True, kw_only=True):
    run: str
    reason: str


class NamedExperiment(msgspec.Struct, frozen=True, kw_only=True):
    """Records of different plans are never averaged: each plan stands for itself."""

    experiment: str
    plans: list[ExperimentPlan]
    left_out: list[LeftOut]


@dataclass(frozen=True, slots=True)
class _Whole:
    """A record that counts."""

    run: str
    evaluator: Evaluator
    started: RunStarted
    model_id: str
    decision: str | None
    aggregates: Mapping[str, Any]


def named_experiment(name: str, records: Iterable[Record]) -> NamedExperiment:
    """The records whose settings name this experiment, taken together plan by plan (SPEC R7.3).

    Raises: UsageError where none does.
    """
    by_plan: dict[str, list[_Whole]] = {}
    left_out: list[LeftOut] = []
    for record in sorted(records, key=lambda one: one.path.name):
        try:
            started = record.started()
            if started.config.get("experiment") != name:
                continue
            wrong = misnamed(record, started.run_id)
            found = _read(record, started) if wrong is None else LeftOut(run=record.path.name, reason=wrong)
        except RecordError as error:
            left_out.append(LeftOut(run=record.path.name, reason=str(error)))
            continue
        if isinstance(found, LeftOut):
            left_out.append(found)
        else:
            by_plan.setdefault(started.plan_sha256, []).append(found)
    if not by_plan:
        raise UsageError(f"no whole record here names the experiment {name!r} (the setting experiment)")
    varied = _varied([one for found in by_plan.values() for one in found])
    plans = [_plan(sha256, found, varied) for sha256, found in by_plan.items()]
    return NamedExperiment(experiment=name, plans=plans, left_out=left_out)


def _read(record: Record, started: RunStarted) -> _Whole | LeftOut:
    """A record, or why it is left out. Raises: RecordError."""
    run, evaluator = record.path.name, evaluator_of(record)
    derived = evaluator.read(record)
    if (state := derived.manifest.state) != "complete":
        return LeftOut(run=run, reason=f"it is {state}")
    decision = msgspec.to_builtins(derived.decision) or {}
    decided = decision.get("decision") or decision.get("verdict")
    aggregates = msgspec.to_builtins(derived.aggregates)
    return _Whole(run, evaluator, started, getattr(derived.manifest, "model_id", ""), decided, aggregates)


def _varied(found: Sequence[_Whole]) -> list[str]:
    """The settings that are not the same in all of them, in the order of their names."""
    names = sorted({name for one in found for name in one.started.config})
    fixed = NOT_VARIED.union(*(one.evaluator.may_change for one in found))
    return [name for name in names if name not in fixed and _differs([one.started.config.get(name) for one in found])]


def _differs(values: Sequence[Any]) -> bool:
    return any(value != values[0] for value in values)


def _plan(sha256: str, found: Sequence[_Whole], varied: Sequence[str]) -> ExperimentPlan:
    first = found[0]
    names = first.evaluator.repeated
    return ExperimentPlan(
        plan_sha256=sha256,
        spec=first.started.spec,
        spec_sha256=first.started.spec_sha256,
        model_id=first.model_id,
        settings={name: first.started.config.get(name) for name in varied},
        runs=[one.run for one in found],
        decisions=[one.decision for one in found],
        intervals=[_interval(one, names[0]) if names else None for one in found],
        summaries=[summary_of(name, [_value(one, name) for one in found]) for name in names],
    )


def _interval(one: _Whole, name: str) -> tuple[float, float] | None:
    low, high = bounds_in(one.aggregates, name)
    return None if low is None or high is None else (low, high)


def _value(one: _Whole, name: str) -> int | None:
    """An aggregate in nano-units, as the record has it, to its last decimal."""
    value = one.aggregates.get("aggregates", one.aggregates).get(name)
    return None if value is None else int(Decimal(repr(value)) * NANO)
