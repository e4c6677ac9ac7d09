"""Runs ready to be compared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from http import HTTPStatus

from benchbook.comparison.items import ComparedRun
from benchbook.comparison.records import compared_run
from benchbook.server.frames import frame_bytes, with_shared
from benchbook.server.operations import Request
from benchbook.server.problems import ProblemError
from benchbook.server.services import FoundRun, Services
from benchbook.text import shorten, storable

_OF_THE_SET = frozenset(("item_id", "prompt", "expected", "context", "section", "category", "difficulty", "group"))


def found_runs(call: Request, what: str, *more: str) -> list[FoundRun]:
    """The runs that the query names. `more` names what the answer depends on beside their state.

    Raises: ProblemError (404, 409, 422 for one that is named twice).
    """
    names = call.query.run
    refuse_twice(names)
    runs = [call.services.finished(name) for name in names]
    call.is_of(*(found.state_id for found in runs), what, *more)
    return runs


def refuse_twice(names: Sequence[str]) -> None:
    """Raises: ProblemError (422) where a run is named twice."""
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise ProblemError(HTTPStatus.UNPROCESSABLE_ENTITY, f"run {shorten(twice, 100)!r} is named twice")


def compared(services: Services, found: FoundRun) -> ComparedRun:
    """A run as a table of items, kept as long as there is room."""

    def make() -> ComparedRun:
        run = compared_run(found.record)
        items = with_shared(services.kept, found.row.dataset_sha256 or found.name, run.items, _OF_THE_SET)
        return replace(run, name=storable(found.row.run_id), items=items)

    key = ("compared", found.name)
    return services.kept.get(key, make, lambda run: frame_bytes(run.items.drop(_OF_THE_SET, strict=False)))


def key_of(runs: Sequence[FoundRun]) -> list[str]:
    return [found.name for found in runs]
