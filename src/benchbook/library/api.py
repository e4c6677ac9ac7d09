"""Functions over runs, each with an async twin where it waits for a model."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any, TypeVar

from benchbook.ask.providers.in_process import lend
from benchbook.ask.starting import RunResult
from benchbook.ask.starting import start as start_with
from benchbook.ask.work import ProgressHandler
from benchbook.ask.work import run_async as run_in_loop
from benchbook.errors import UsageError
from benchbook.evalsets.opening import as_file, path_in_memory
from benchbook.evaluators.grid import begin_cell, cells_of
from benchbook.evaluators.registry import answers_evaluator, resume_run, settings_asked_for
from benchbook.evaluators.scorers.scorer import Scorer
from benchbook.evaluators.settings import SCORE_SPEC, RunStatus, ScoreConfig, values_of
from benchbook.evaluators.verify import Verification
from benchbook.exchange.answers import outputs_of, predictions_of, settings_over
from benchbook.labels.verify import verify_record
from benchbook.library.objects import RubricRun, Run, run_of
from benchbook.record.folder import Record, open_record

R = TypeVar("R", bound=Run)


def run(
    config: str | Path | None = None,
    *,
    run: str | Path | Run | None = None,
    on_progress: ProgressHandler | None = None,
    **settings: Any,
) -> RubricRun:
    """Ask a model the items of an eval set, have its answers judged under rubric@v1, and decide.

    `config` is a TOML file; `settings` have the same names and win. Both are those of `benchbook run`.
    `run(evalset="items.jsonl", model="openai/gpt-4.1@2025-04-14", judge="…")` needs no file. `evalset` may be rows (a
    list of mappings, a Polars or pandas frame, a Hugging Face data set), `model` and `judge` may be functions: they are
    called with the prompt, and return a text.

    With `run`, a path or a run, the judge scores the answers of that run, an imported one too, and no model is asked.

    Raises: UsageError and its kin before anything is asked; RecordError where the record can't be written. A run that
    stops early (a limit, a refused key) returns: see `Run.stopped`.
    """
    return run_in_loop(run_async(config, run=run, on_progress=on_progress, **settings))


async def run_async(
    config: str | Path | None = None,
    *,
    run: str | Path | Run | None = None,
    on_progress: ProgressHandler | None = None,
    **settings: Any,
) -> RubricRun:
    """As `run`, inside an event loop."""
    with nullcontext() if run is None else outputs_of(_record_of(run)) as answered:
        if answered is not None:
            settings = settings_over(answered, settings)
        return await _run_async(config, on_progress, settings)


async def _run_async(
    config: str | Path | None, on_progress: ProgressHandler | None, settings: Mapping[str, Any]
) -> RubricRun:
    with _as_settings(values_of(config, settings)) as given:
        evaluator, checked = settings_asked_for(given, str(config or "run"), "run")
        return _loaded(await start_with(evaluator, checked, on_progress, config), RubricRun)


def grid(config: str | Path | None = None, *, on_progress: ProgressHandler | None = None, **settings: Any) -> list[Run]:
    """Run one experiment over several models, prompts or other settings, as `benchbook grid` does: a run for each cell.

    `grid(evalset="items.jsonl", judge="…", experiment="tried", grid={"model": ["…", "…"]})` needs no file. `spec` is
    the evaluator: a name, a folder, or a function of your own (`@bb.scorer`), which needs no judge. Cells whose records
    are whole are loaded, others begun or resumed. Ends with the first that stops early: see `Run.stopped`.

    Raises: ConfigError; UsageError where a record of that name was begun with another plan; else as `run`.
    """
    values = values_of(config, settings)
    done = []
    for cell in cells_of(values, str(config or "grid")):
        done.append(_loaded(run_in_loop(begin_cell(cell, on_progress, config)), Run))
        if done[-1].stopped is not None:
            break
    return done


def resume(
    path: str | Path, *, scorer: Scorer | None = None, on_progress: ProgressHandler | None = None, **settings: Any
) -> Run:
    """Go on with a record where its journal ends. `settings` may hold limits and addresses, nothing of the plan; and
    where a function answered, that function again. Where one scores, `scorer` is that, unchanged: what it has said
    stays, and it is asked about the other answers.

    Raises: UsageError for what would change the plan, and for a scorer whose source is another than the record's.
    """
    return run_in_loop(resume_async(path, scorer=scorer, on_progress=on_progress, **settings))


async def resume_async(
    path: str | Path, *, scorer: Scorer | None = None, on_progress: ProgressHandler | None = None, **settings: Any
) -> Run:
    """As `resume`, inside an event loop."""
    record = open_record(path)
    with _as_settings(settings) as given:
        return _loaded(await resume_run(record, given, on_progress, scorer), Run)


def load(path: str | Path) -> Run:
    """A record that is there already, of any spec.

    Raises: UsageError where `path` is no record; RecordError where its derived files are missing.
    """
    return run_of(open_record(path))


def verify(path: str | Path, *, expect: str | None = None) -> Verification:
    """Derive everything in a record again, offline, and name every byte that was changed.

    People's labels are held against the run that they name, where it lies beside them.
    """
    return verify_record(open_record(path), expect=expect)


def _record_of(run: str | Path | Run) -> Record:
    return run.record if isinstance(run, Run) else open_record(run)


@contextmanager
def _as_settings(given: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """A caller's arguments as settings: rows and functions by names that hold while the block runs."""
    values: dict[str, Any] = {name: str(one) if isinstance(one, Path) else one for name, one in given.items()}
    for role in ("model", "judge"):
        if values.get(role) is not None and not isinstance(values[role], str):
            values[role] = lend(values[role])
    with as_file(values["evalset"]) if values.get("evalset") is not None else nullcontext() as evalset:
        yield values if evalset is None else values | {"evalset": evalset}


def _loaded(result: RunResult[Any], kind: type[R]) -> R:
    """The object for a run that was begun or resumed here, in the class of its evaluator."""
    found = run_of(result.record, result.derived, result.stop.reason)
    assert isinstance(found, kind)  # noqa: S101 - by what the caller's settings name
    return found


def score(
    scorer: Any = None,
    evalset: Any = None,
    predictions: Any = None,
    *,
    run: str | Path | Run | None = None,
    repeat: int | None = None,
    spec: str | Path | Scorer = SCORE_SPEC,
    model: str | Callable[[Any], Any] | None = None,
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
) -> Run:
    """Score answers and record every item, as `benchbook score` does: `score("items.jsonl", "predictions.jsonl")`, or
    `score(scorer, "items.jsonl", …)` by a function of your own (`@bb.scorer`).

    `spec` is the evaluator: `answer_correctness@v1`, checks that are shipped (`contains@v1`, `number@v1`, `choice@v1`),
    a folder with a spec.toml of your own, or such a scorer.

    With `run`, a path or a run, the answers of that run are scored, an imported one too, and nobody is asked: those to
    all items that were answered, of several repeats those of `repeat`, from 0.

    With `predictions`, a file or rows, they are read; `columns` maps our names (item_id, predicted, expected,
    eval_time_ms) to its own where they are not known ones. Without, `model` is asked, and `settings` are those of
    `benchbook run` that go for a model and its limits. A run elsewhere that crashed or timed out says so in
    `run_status`, maybe with a `reason`: it scores 0.0 (SPEC A3). `limit`, `where` (`["section=core"]`) and `ids` (a
    file) choose a part of the items. `training_metrics` are logs of the training that led here, `training_columns`
    maps our names of their columns (step, tokens, time, loss, …) to their own.

    Raises: InputError naming the line of a prediction that does not fit the eval set; UsageError; RecordError. Nothing
    is written then. A model that was stopped early (a limit, a refused key) returns: see `Run.stopped`.
    """
    if run is not None:
        taken: dict[str, Any] = {"evalset": evalset, "predictions": predictions, "model": model, "ids": ids}
        taken |= {"columns": columns, "reason": reason, "training_metrics": training_metrics} | settings
        taken |= {} if scorer is None or isinstance(scorer, Scorer) else {"evalset": scorer}
        if named := [name for name, value in taken.items() if value]:
            raise UsageError(f"{named[0]}: the answers and their eval set are taken from the run")
        with predictions_of(_record_of(run), repeat=repeat) as found:
            evaluator = answers_evaluator(spec if scorer is None else scorer)
            config = ScoreConfig(
                evalset=found.evalset, spec=evaluator.id, predictions=found.answers, model=found.model, ids=found.ids,
                runs=str(runs), run_id=run_id, limit=limit, where=tuple(where), dry_run=dry_run,
            )  # fmt: skip
            return _loaded(evaluator.score(config, on_progress), Run)
    if repeat is not None:
        raise UsageError("repeat: only with run")
    evaluator, evalset, predictions = _what_is_scored(scorer, evalset, predictions, spec)
    if predictions is None and run_status == "completed" and not dry_run:
        if columns or reason or training_metrics or training_columns:
            raise UsageError(
                "columns, reason and training_metrics: only with predictions, or a run that failed elsewhere"
            )
        part = {"limit": limit, "where": tuple(where), "ids": None if ids is None else str(ids)}
        given = {name: value for name, value in part.items() if value} | settings
        by = scorer if isinstance(scorer, Scorer) else spec
        asked = score_async(evalset, spec=by, model=model, runs=runs, run_id=run_id, on_progress=on_progress, **given)
        return run_in_loop(asked)
    if settings or not (model is None or isinstance(model, str)):
        names = ", ".join(settings) or "model, a function"
        raise UsageError(f"{names}: nobody is asked where there are predictions")
    with as_file(evalset) as name, _as_predictions(predictions) as file:
        config = ScoreConfig(
            evalset=name,
            spec=evaluator.id,
            predictions=file,
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
        return _loaded(evaluator.score(config, on_progress), Run)


async def score_async(
    evalset: Any,
    *,
    spec: str | Path | Scorer = SCORE_SPEC,
    model: str | Callable[[Any], Any] | None,
    runs: str | Path = "runs",
    run_id: str | None = None,
    on_progress: ProgressHandler | None = None,
    **settings: Any,
) -> Run:
    """As `score` of a model that is asked, inside an event loop."""
    evaluator = answers_evaluator(spec)
    name = evaluator.id if isinstance(spec, Scorer) else str(spec)
    given = {"evalset": evalset, "model": model, "runs": str(runs), "run_id": run_id, "spec": name}
    with _as_settings(settings | given) as values:
        return _loaded(await start_with(evaluator, evaluator.settings(values, "score"), on_progress), Run)


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


def judge(config: str | Path | None = None, *, on_progress: ProgressHandler | None = None, **settings: Any) -> Run:
    """Ask judges about every output of an evaluation set, as `benchbook judge run` does.

    `config` is a TOML file; `settings` have the same names and win: `judge(set="drift", prompts="asked.csv",
    judges=[{"model": "openai/gpt-4.1@2025-04-14"}])` needs no file. `spec` is the folder of a judge protocol of your
    own; by default it is judge_protocol@v1.

    Raises: UsageError and its kin before anything is asked; RecordError where the record can't be written.
    """
    return run_in_loop(judge_async(config, on_progress=on_progress, **settings))


async def judge_async(
    config: str | Path | None = None, *, on_progress: ProgressHandler | None = None, **settings: Any
) -> Run:
    """As `judge`, inside an event loop."""
    from benchbook.evaluators.protocol.evaluator import judging_asked_for

    values = values_of(config, settings)
    given = {name: str(one) if isinstance(one, Path) else one for name, one in values.items()}
    evaluator, checked = judging_asked_for(given, str(config or "judge"))
    return _loaded(await start_with(evaluator, checked, on_progress, config), Run)
