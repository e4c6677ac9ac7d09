"""Answers scored one by one, without a judge: `bb.score`, of a model that is asked or of predictions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Unpack

from benchbook.ask.starting import start as start_with
from benchbook.ask.work import ProgressHandler
from benchbook.ask.work import run_async as run_in_loop
from benchbook.errors import UsageError
from benchbook.evalsets.opening import as_file, path_in_memory
from benchbook.evaluators.answers.evaluator import AnswersEvaluator
from benchbook.evaluators.registry import answers_evaluator
from benchbook.evaluators.scorers.scorer import Scorer
from benchbook.evaluators.settings import SCORE_SPEC, RunStatus, ScoreConfig
from benchbook.exchange.answers import predictions_of
from benchbook.library.asking import as_settings, loaded
from benchbook.library.keywords import Asked, AskedKeywords, Rows, ScoreKeywords, check_names, listed
from benchbook.library.objects import AnyRun, Run, record_of
from benchbook.views.progress import progress_asked


def score(
    scorer: Scorer | Rows | None = None,
    evalset: Rows | None = None,
    predictions: Rows | None = None,
    *,
    run: AnyRun | None = None,
    repeat: int | None = None,
    spec: str | Path | Scorer = SCORE_SPEC,
    model: Asked | None = None,
    columns: Mapping[str, str] | None = None,
    run_status: RunStatus = "completed",
    reason: str | None = None,
    dry_run: bool = False,
    limit: int | None = None,
    where: str | Sequence[str] = (),
    ids: str | Path | None = None,
    training_metrics: str | Path | Sequence[str | Path] = (),
    training_columns: Mapping[str, str] | None = None,
    runs: str | Path = "runs",
    run_id: str | None = None,
    on_progress: ProgressHandler | None = None,
    progress: bool | None = None,
    **settings: Unpack[AskedKeywords],
) -> Run:
    """Score answers and record every item, as `benchbook score` does: `score("items.jsonl", "predictions.jsonl")`, or
    `score(scorer, "items.jsonl", …)` by a function of your own (`@bb.scorer`).

    `spec` is the evaluator: `answer_correctness@v1`, checks that are shipped (`contains@v1`, `number@v1`, `choice@v1`),
    a folder with a spec.toml of your own, or such a scorer.

    With `run`, a path, an id or a run, the answers of that run are scored, an imported one too, and nobody is asked:
    those to all items that were answered, of several repeats those of `repeat`, from 0.

    With `predictions`, a file or rows, they are read; `columns` maps our names (item_id, predicted, expected,
    eval_time_ms) to its own where they are not known ones. Without, `model` is asked, and `settings` are those of
    `benchbook run` that go for a model and its limits. A run elsewhere that crashed or timed out says so in
    `run_status`, maybe with a `reason`: it scores 0.0. `limit`, `where` (`"section=core"`, or several) and `ids` (a
    file) choose a part of the items. `training_metrics` is a log, or several, of the training that led here;
    `training_columns` maps our names of their columns (step, tokens, time, loss, …) to their own.

    Raises: InputError naming the line of a prediction that does not fit the eval set; UsageError; RecordError. Nothing
    is written then. A model that was stopped early (a limit, a refused key) returns: see `Run.stopped`.
    """
    check_names(settings, AskedKeywords, score)
    metrics, part = listed(training_metrics), _part(limit, where, ids)
    if run is not None:
        taken: dict[str, Any] = {"evalset": evalset, "predictions": predictions, "model": model, "ids": ids}
        taken |= {"columns": columns, "reason": reason, "training_metrics": metrics} | settings
        taken |= {} if scorer is None or isinstance(scorer, Scorer) else {"evalset": scorer}
        if named := [name for name, value in taken.items() if value is not None and value != ()]:
            raise UsageError(f"{named[0]}: the answers and their eval set are taken from the run")
        with predictions_of(record_of(run, runs), repeat=repeat) as found:
            evaluator = answers_evaluator(_evaluated(scorer, spec))
            config = ScoreConfig(
                evalset=found.evalset, spec=evaluator.id, predictions=found.answers, model=found.model,
                runs=str(runs), run_id=run_id, dry_run=dry_run, **part | {"ids": found.ids},
            )  # fmt: skip
            return _scored(evaluator, config, progress, on_progress)
    if repeat is not None:
        raise UsageError("repeat: only with run")
    evaluator, evalset, predictions = _what_is_scored(scorer, evalset, predictions, spec)
    if predictions is None and run_status == "completed" and not dry_run:
        if columns or reason or metrics or training_columns:
            raise UsageError(
                "columns, reason and training_metrics: only with predictions, or a run that failed elsewhere"
            )
        names: dict[str, Any] = {"runs": runs, "run_id": run_id, "on_progress": on_progress, "progress": progress}
        asked: dict[str, Any] = {name: value for name, value in part.items() if value} | settings | names
        return run_in_loop(score_async(evalset, spec=_evaluated(scorer, spec), model=model, **asked))
    if settings or not (model is None or isinstance(model, str)):
        given = ", ".join(settings) or "model, a function"
        raise UsageError(f"{given}: nobody is asked where there are predictions")
    with as_file(evalset) as name, _as_predictions(predictions) as file:
        config = ScoreConfig(
            evalset=name, spec=evaluator.id, predictions=file, columns=dict(columns or {}), model=model,
            runs=str(runs), run_id=run_id, run_status=run_status, reason=reason, dry_run=dry_run, **part,
            training_metrics=metrics, training_columns=dict(training_columns or {}),
        )  # fmt: skip
        return _scored(evaluator, config, progress, on_progress)


async def score_async(
    evalset: Rows,
    *,
    spec: str | Path | Scorer = SCORE_SPEC,
    model: Asked | None,
    runs: str | Path = "runs",
    run_id: str | None = None,
    on_progress: ProgressHandler | None = None,
    progress: bool | None = None,
    **settings: Unpack[ScoreKeywords],
) -> Run:
    """As `score` of a model that is asked, inside an event loop."""
    check_names(settings, ScoreKeywords, score_async)
    evaluator = answers_evaluator(spec)
    name = evaluator.id if isinstance(spec, Scorer) else str(spec)
    given = {"evalset": evalset, "model": model, "runs": str(runs), "run_id": run_id, "spec": name}
    with as_settings({**settings, **given}) as values, progress_asked(progress, on_progress) as told:
        return loaded(await start_with(evaluator, evaluator.settings(values, "score"), told), Run)


def _scored(
    evaluator: AnswersEvaluator, config: ScoreConfig, progress: bool | None, on_progress: ProgressHandler | None
) -> Run:
    with progress_asked(progress, on_progress) as told:
        return loaded(evaluator.score(config, told), Run)


def _part(limit: int | None, where: str | Sequence[str], ids: str | Path | None) -> dict[str, Any]:
    """The settings that choose a part of the items."""
    return {"limit": limit, "where": listed(where), "ids": None if ids is None else str(ids)}


def _evaluated(scorer: Any, spec: str | Path | Scorer) -> str | Path | Scorer:
    """The evaluator: a function of one's own stands before all."""
    return scorer if isinstance(scorer, Scorer) else spec


def _what_is_scored(scorer: Any, evalset: Any, predictions: Any, spec: str | Path | Scorer) -> tuple[Any, Any, Any]:
    """Evaluator, eval set and predictions: where no scorer stands before them, each is one place to the left.

    Raises: UsageError where there is none of what there must be, or too much.
    """
    if isinstance(scorer, Scorer):
        if spec != SCORE_SPEC:
            raise UsageError("score: found a scorer and spec; expected one of them")
        spec = scorer
    elif scorer is not None:
        if predictions is not None and evalset is not None:
            raise UsageError(f"score: found {type(scorer).__name__} as a scorer; expected a function with @bb.scorer")
        predictions = evalset if predictions is None else predictions
        evalset = scorer
    if evalset is None:
        raise UsageError("score: found no eval set; expected a path, rows or a frame")
    return answers_evaluator(spec), evalset, predictions


@contextmanager
def _as_predictions(given: Any) -> Iterator[str | None]:
    """The file of predictions while the block runs; of rows, one that is gone then. Raises: InputError."""
    if given is None or isinstance(given, str | Path):
        yield None if given is None else str(given)
        return
    with as_file(given, "predictions") as name:
        yield str(path_in_memory(name))
