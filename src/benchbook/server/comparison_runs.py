"""The runs of a comparison before any number: their rows, their training steps, and which is the baseline."""

from __future__ import annotations

from benchbook.comparison.checkpoints import Checkpoint, in_order, step_named
from benchbook.record.derived_files import reading_frame
from benchbook.server.comparison_types import RunAtStep, RunsOfSet
from benchbook.server.comparisons import refuse_twice
from benchbook.server.operations import Request
from benchbook.server.runs import run_answer
from benchbook.server.services import FoundRun, Services
from benchbook.training.curves import TRAINING_TABLE


def get_runs(call: Request) -> RunsOfSet:
    refuse_twice(call.query.run)
    found = {name: call.services.run(name) for name in call.query.run}
    given = [Checkpoint(name, _step(call.services, one), one.row.started_utc) for name, one in found.items()]
    runs, rule = in_order(given)
    return RunsOfSet(
        runs=tuple(RunAtStep(run=run_answer(call.services, found[one.run].row), step=one.step) for one in runs),
        baseline=runs[0].run,
        baseline_rule=rule,
    )


def _step(services: Services, found: FoundRun) -> int | None:
    """The step that the model's name or the run's tells; else the last one that its trainer logged."""
    named = step_named(found.row.model_id, found.row.run_id)
    if named is not None or found.row.manifest_sha256 is None:
        return named
    return services.kept.get(("last step", found.name), lambda: _last_step(found), lambda _: 300)


def _last_step(found: FoundRun) -> int | None:
    import polars as pl

    path = found.record.path / TRAINING_TABLE
    if not path.is_file():
        return None
    with reading_frame(path):
        last = pl.scan_parquet(path, glob=False).select(pl.col("step").max()).collect().item()
    return None if last is None else int(last)
