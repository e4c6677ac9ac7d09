"""Events about the findings of the watcher, for everybody who listens. Called by its thread."""

from __future__ import annotations

from benchbook.catalog.indexing import Indexed
from benchbook.catalog.queries import find_run
from benchbook.server.runs import run_answer
from benchbook.server.services import Services
from benchbook.server.watching import HowFar


def tell_indexing(services: Services, how_far: HowFar) -> None:
    """Send how far the first look through the folder is."""
    services.forget()
    services.events.tell("indexing", {"done": how_far.done, "total": how_far.total})


def tell_changes(services: Services, found: Indexed) -> None:
    """Send the runs that changed, and those that are gone."""
    services.forget()
    events = services.events
    if not events.n_listeners:
        return
    for run_id in found.read:
        row = find_run(services.catalog, run_id)
        if row is not None:
            events.tell("run", run_answer(services, row))
    for run_id in found.removed:
        events.tell("removed", {"run_id": run_id})
