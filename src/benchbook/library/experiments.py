"""The runs of one experiment together, as `bb.grid` returns them: a list that prints and shows itself as a table."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property
from pathlib import Path

from benchbook.comparison.experiment import NamedExperiment, named_experiment
from benchbook.evaluators.document import Document
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
        """Raises: UsageError where none of them is whole."""
        return named_experiment(self.name, [run.record for run in self])

    def _documents(self) -> Iterator[Document]:
        """The plans side by side; and the run that ended early, if one did, with the reason."""
        from benchbook.views.several_runs import experiment_document

        if any(run.stopped is None for run in self):
            yield experiment_document(self.found)
        yield from (run.summary() for run in self if run.stopped is not None)

    def __str__(self) -> str:
        from benchbook.views.terminal import document_lines

        return "\n".join(line for one in self._documents() for line in document_lines(one, width=160))

    def _repr_html_(self) -> str:
        from benchbook.views.fragment import fragment

        return "".join(map(fragment, self._documents()))
