"""Runs ready to be compared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from http import HTTPStatus

from benchbook.comparison.items import ComparedRun
from benchbook.comparison.records import compared_run
from benchbook.server.operations import Request
from benchbook.server.problems import ProblemError
from benchbook.server.services import FoundRun, Services
from benchbook.text import shorten, storable


def found_runs(call: Request, what: str) -> list[FoundRun]:
    """The runs that the query names. Raises: ProblemError (404, 409, 422 for one that is named twice)."""
    names = call.query.run
    refuse_twice(names)
    runs = [call.services.finished(name) for name in names]
    call.is_of(*(found.state_id for found in runs), what)
    return runs


def refuse_twice(names: Sequence[str]) -> None:
    """Raises: ProblemError (422) where a run is named twice."""
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise ProblemError(HTTPStatus.UNPROCESSABLE_ENTITY, f"run {shorten(twice, 100)!r} is named twice")


def compared(services: Services, found: FoundRun) -> ComparedRun:
    """A run as a table of items, kept as long as there is room."""

    def make() -> ComparedRun:
        return replace(compared_run(found.record), name=storable(found.row.run_id))

    key = ("compared", found.name)
    return services.kept.get(key, make, lambda run: int(run.items.estimated_size()))


def key_of(runs: Sequence[FoundRun]) -> list[str]:
    return [found.name for found in runs]
