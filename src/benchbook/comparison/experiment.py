"""Separate records of one plan, taken together by the experiment that their settings name (SPEC R7.3)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from decimal import Decimal

import msgspec

from benchbook.errors import RecordError, UsageError
from benchbook.evaluators.exact import NANO
from benchbook.evaluators.registry import evaluator_of
from benchbook.evaluators.rubric.repeats import summary_of
from benchbook.evaluators.rubric.rows import RepeatSummary
from benchbook.record.folder import Record

__all__ = ["ExperimentPlan", "LeftOut", "NamedExperiment", "named_experiment"]


_AGGREGATES = ("aggregate_score", "latency_e2e_p95_ms")


class ExperimentPlan(msgspec.Struct, frozen=True, kw_only=True):
    """The whole records of one plan, in the order of their ids; `per_repeat` of a summary has a value for each."""

    plan_sha256: str
    model_id: str
    runs: list[str]
    summaries: list[RepeatSummary]


class LeftOut(msgspec.Struct, frozen=True, kw_only=True):
    run: str
    reason: str


class NamedExperiment(msgspec.Struct, frozen=True, kw_only=True):
    """Records of different plans are never averaged: each plan stands for itself."""

    experiment: str
    plans: list[ExperimentPlan]
    left_out: list[LeftOut]


def named_experiment(name: str, records: Iterable[Record]) -> NamedExperiment:
    """What the records whose settings name this experiment say together.

    Raises: UsageError where none does.
    """
    by_plan: dict[str, list[tuple[str, str, list[float | None]]]] = {}
    left_out: list[LeftOut] = []
    for record in sorted(records, key=lambda one: one.path.name):
        run = record.path.name
        try:
            started = record.started()
            if started.spec != "rubric@v1" or started.config.get("experiment") != name:
                continue
            derived = evaluator_of(record).read(record)
        except RecordError as error:
            left_out.append(LeftOut(run=run, reason=str(error)))
            continue
        if derived.manifest.state != "complete":
            left_out.append(LeftOut(run=run, reason=f"it is {derived.manifest.state}"))
            continue
        values = [getattr(derived.aggregates.aggregates, aggregate) for aggregate in _AGGREGATES]
        by_plan.setdefault(started.plan_sha256, []).append((run, derived.manifest.model_id, values))
    if not by_plan:
        raise UsageError(f"no whole record here names the experiment {name!r} (the setting experiment)")
    plans = [_plan(sha256, found) for sha256, found in by_plan.items()]
    return NamedExperiment(experiment=name, plans=plans, left_out=left_out)


def _plan(sha256: str, found: Sequence[tuple[str, str, list[float | None]]]) -> ExperimentPlan:
    columns = zip(*(values for _, _, values in found), strict=True)
    return ExperimentPlan(
        plan_sha256=sha256,
        model_id=found[0][1],
        runs=[run for run, _, _ in found],
        summaries=[
            summary_of(aggregate, [_nano(value) for value in column])
            for aggregate, column in zip(_AGGREGATES, columns, strict=True)
        ],
    )


def _nano(value: float | None) -> int | None:
    """As the record has it, to its last decimal."""
    return None if value is None else int(Decimal(repr(value)) * NANO)
