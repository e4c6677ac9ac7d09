"""The runs of one experiment together, as `bb.grid` returns them: a list that prints and shows itself as a table."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from pathlib import Path

from benchbook.comparison.experiment import NamedExperiment, named_experiment
from benchbook.library.objects import Run, run_of
from benchbook.record.folder import records_in


def experiment(name: str, *, runs: str | Path = "runs") -> GridRuns:
    """The whole runs whose setting `experiment` is this name, those of a grid or begun one by one.

    Raises: UsageError where none in the folder `runs` names it; RecordError.
    """
    records = {record.run_id: record for record in records_in(runs)}
    found = named_experiment(name, records.values())
    return GridRuns((run_of(records[one]) for plan in found.plans for one in plan.runs), name)


class GridRuns(list[Run]):
    """A list of runs; `found` has their plans side by side, with mean and standard deviation over runs of one plan."""

    def __init__(self, runs: Iterable[Run], name: str) -> None:
        super().__init__(runs)
        self.name = name

    @cached_property
    def found(self) -> NamedExperiment:
        return named_experiment(self.name, [run.record for run in self])

    def __str__(self) -> str:
        from benchbook.views.several_runs import experiment_document
        from benchbook.views.terminal import document_lines

        return "\n".join(document_lines(experiment_document(self.found), width=160))

    def _repr_html_(self) -> str:
        from benchbook.views.fragment import fragment
        from benchbook.views.several_runs import experiment_document

        return fragment(experiment_document(self.found))
