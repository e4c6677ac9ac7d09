"""`score`: answers against expected answers, under `answer_correctness@v1`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchbook.derivations.correctness_rows import RunStatus
from benchbook.errors import UsageError
from benchbook.library.objects import CorrectnessRun
from benchbook.runner.config import config_from_mapping
from benchbook.runner.loop import run_async as run_in_loop
from benchbook.runner.progress import ProgressHandler
from benchbook.runner.score import SPEC, ScoreConfig, ScoreResult, score_predictions
from benchbook.runner.score_model import score_model

__all__ = ["score", "score_async"]


def score(
    evalset: str | Path,
    predictions: str | Path | None = None,
    *,
    model: str | None = None,
    columns: Mapping[str, str] | None = None,
    run_status: RunStatus = "completed",
    reason: str | None = None,
    dry_run: bool = False,
    limit: int | None = None,
    where: Sequence[str] = (),
    ids: str | Path | None = None,
    training_metrics: Sequence[str | Path] = (),
    training_columns: Mapping[str, str] | None = None,
    runs: str | Path = "runs",
    run_id: str | None = None,
    on_progress: ProgressHandler | None = None,
    **settings: Any,
) -> CorrectnessRun:
    """Score answers under `answer_correctness@v1` and record every item, as `benchbook score` does.

    With `predictions` they are read from that file; `columns` maps our names (item_id, predicted, expected,
    eval_time_ms) to its own where they are not known ones. Without, `model` is asked, and `settings` are those of
    `benchbook run` that go for a model and its limits. A run elsewhere that crashed or timed out says so in
    `run_status`, maybe with a `reason`: it scores 0.0 (SPEC A3). `limit`, `where` (`["section=core"]`) and `ids` (a
    file) choose a part of the items. `training_metrics` are logs of the training that led here, `training_columns`
    maps our names of their columns (step, tokens, time, loss, …) to their own.

    Raises: InputError naming the line of a prediction that does not fit the eval set; UsageError; RecordError. Nothing
    is written then. A model that was stopped early (a limit, a refused key) returns: see `Run.stopped`.
    """
    if predictions is None and run_status == "completed" and not dry_run:
        if columns or reason or training_metrics or training_columns:
            raise UsageError(
                "columns, reason and training_metrics: only with predictions, or a run that failed elsewhere"
            )
        part = {"limit": limit, "where": tuple(where), "ids": None if ids is None else str(ids)}
        given = {name: value for name, value in part.items() if value} | settings
        asked = score_async(evalset, model=model, runs=runs, run_id=run_id, on_progress=on_progress, **given)
        return run_in_loop(asked)
    if settings:
        raise UsageError(f"{', '.join(settings)}: nobody is asked where there are predictions")
    config = ScoreConfig(
        evalset=str(evalset),
        predictions=None if predictions is None else str(predictions),
        columns=dict(columns or {}),
        model=model,
        runs=str(runs),
        run_id=run_id,
        run_status=run_status,
        reason=reason,
        dry_run=dry_run,
        limit=limit,
        where=tuple(where),
        ids=None if ids is None else str(ids),
        training_metrics=tuple(str(path) for path in training_metrics),
        training_columns=dict(training_columns or {}),
    )
    return _run_of(score_predictions(config))


async def score_async(
    evalset: str | Path,
    *,
    model: str | None,
    runs: str | Path = "runs",
    run_id: str | None = None,
    on_progress: ProgressHandler | None = None,
    **settings: Any,
) -> CorrectnessRun:
    """As `score` of a model that is asked, inside an event loop."""
    given = {"evalset": str(evalset), "model": model, "runs": str(runs), "run_id": run_id, "spec": SPEC}
    return _run_of(await score_model(config_from_mapping(settings | given, "score"), on_progress))


def _run_of(result: ScoreResult) -> CorrectnessRun:
    return CorrectnessRun(result.record, result.derived, result.stop.reason)
