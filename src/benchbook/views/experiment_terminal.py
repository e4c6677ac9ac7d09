"""An experiment of separate runs, as lines of a terminal (SPEC R7.3)."""

from __future__ import annotations

from collections.abc import Iterator

from benchbook.comparison.experiment import ExperimentPlan, NamedExperiment
from benchbook.views import numbers
from benchbook.views.tables import Column, Table
from benchbook.views.terminal import table_lines
from benchbook.views.words import aggregate_word, plural

__all__ = ["experiment_lines"]


_WIDTH = 120


def experiment_lines(found: NamedExperiment) -> Iterator[str]:
    """Each plan for itself, then what was left out and why."""
    if len(found.plans) > 1:
        yield f"{len(found.plans)} plans name this experiment; runs of different plans are not averaged."
        yield ""
    for plan in found.plans:
        yield f"{plural(len(plan.runs), 'run')} of plan {numbers.short_hash(plan.plan_sha256)}"
        yield from table_lines(_table(plan), _WIDTH)
        if len(plan.runs) == 1:
            yield "A single run has no standard deviation."
            yield ""
    for one in found.left_out:
        yield f"left out: {one.run}: {one.reason}"


def _table(plan: ExperimentPlan) -> Table:
    words = [aggregate_word(summary.aggregate) for summary in plan.summaries]
    columns = tuple(Column(word.label, number=True) for word in words)
    rows = []
    for number, run in enumerate(plan.runs):
        rows.append((run, *_shown(plan, [summary.per_repeat[number] for summary in plan.summaries])))
    rows.append(("Mean", *_shown(plan, [summary.mean for summary in plan.summaries])))
    rows.append(("SD", *_shown(plan, [summary.sd for summary in plan.summaries])))
    return Table(numbers.short_model(plan.model_id), (Column("Run"), *columns), tuple(rows))


def _shown(plan: ExperimentPlan, values: list[float | None]) -> list[str]:
    kinds = [aggregate_word(summary.aggregate).kind for summary in plan.summaries]
    return [numbers.show(kind, value) for kind, value in zip(kinds, values, strict=True)]
