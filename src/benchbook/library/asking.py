"""Functions that ask models and judges, each with an async twin: `bb.run`, `bb.judge`, `bb.grid`, `bb.resume`.

The plain ones work where an event loop runs already, too, as in a notebook: they wait for a loop of their own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any, TypeVar, Unpack

from benchbook.ask.providers.in_process import lend
from benchbook.ask.starting import RunResult
from benchbook.ask.starting import start as start_with
from benchbook.ask.work import ProgressHandler
from benchbook.ask.work import run_async as run_in_loop
from benchbook.evalsets.opening import as_file
from benchbook.evaluators.grid import begin_cell, cells_of
from benchbook.evaluators.registry import resume_run, settings_asked_for
from benchbook.evaluators.scorers.scorer import Scorer
from benchbook.evaluators.settings import values_of
from benchbook.exchange.answers import outputs_of, settings_over
from benchbook.library.experiments import GridRuns
from benchbook.library.keywords import (
    LISTS,
    GridKeywords,
    JudgeKeywords,
    ResumeKeywords,
    RunKeywords,
    check_names,
    listed,
)
from benchbook.library.objects import AnyRun, RubricRun, Run, record_of, run_of
from benchbook.views.progress import progress_asked

R = TypeVar("R", bound=Run)


def run(
    config: str | Path | None = None,
    *,
    run: AnyRun | None = None,
    on_progress: ProgressHandler | None = None,
    progress: bool | None = None,
    **settings: Unpack[RunKeywords],
) -> RubricRun:
    """Ask a model the items of an eval set, have its answers judged under rubric@v1, and decide.

    `config` is a TOML file; `settings` have the same names and win. Both are those of `benchbook run`.
    `run(evalset="items.jsonl", model="openai/gpt-4.1@2025-04-14", judge="…")` needs no file. `evalset` may be rows (a
    list of mappings, a Polars or pandas frame, a Hugging Face data set), `model` and `judge` may be functions: they are
    called with the prompt, and return a text.

    With `run`, a path, an id or a run, the judge scores the answers of that run, an imported one too, and no model is
    asked. `progress` shows how far it is, by default in a notebook alone; `on_progress` is told instead.

    Raises: UsageError and its kin before anything is asked; RecordError where the record can't be written. A run that
    stops early (a limit, a refused key, an interruption) returns: see `Run.stopped`.
    """
    return run_in_loop(run_async(config, run=run, on_progress=on_progress, progress=progress, **settings))


async def run_async(
    config: str | Path | None = None,
    *,
    run: AnyRun | None = None,
    on_progress: ProgressHandler | None = None,
    progress: bool | None = None,
    **settings: Unpack[RunKeywords],
) -> RubricRun:
    """As `run`, inside an event loop."""
    check_names(settings, RunKeywords, run_async)
    values = values_of(config, settings)
    with nullcontext() if run is None else outputs_of(record_of(run, values.get("runs", "runs"))) as answered:
        if answered is not None:
            values = values_of(config, settings_over(answered, settings))
        with as_settings(values) as given, progress_asked(progress, on_progress) as told:
            evaluator, checked = settings_asked_for(given, str(config or "run"), "run")
            return loaded(await start_with(evaluator, checked, told, config), RubricRun)


def grid(
    config: str | Path | None = None,
    *,
    on_progress: ProgressHandler | None = None,
    progress: bool | None = None,
    **settings: Unpack[GridKeywords],
) -> GridRuns:
    """Run one experiment over several models, prompts or other settings, as `benchbook grid` does: a run for each cell.

    `grid(evalset="items.jsonl", judge="…", experiment="tried", grid={"model": ["…", "…"]})` needs no file. `spec` is
    the evaluator: a name, a folder, or a function of your own (`@bb.scorer`), which needs no judge. Cells whose records
    are whole are loaded, others begun or resumed. Ends with the first that stops early: see `Run.stopped`.

    Raises: ConfigError; UsageError where a record of that name was begun with another plan; else as `run`.
    """
    return run_in_loop(grid_async(config, on_progress=on_progress, progress=progress, **settings))


async def grid_async(
    config: str | Path | None = None,
    *,
    on_progress: ProgressHandler | None = None,
    progress: bool | None = None,
    **settings: Unpack[GridKeywords],
) -> GridRuns:
    """As `grid`, inside an event loop."""
    check_names(settings, GridKeywords, grid_async)
    done = []
    with as_settings(values_of(config, settings)) as values:
        for cell in cells_of(values, str(config or "grid")):
            with progress_asked(progress, on_progress) as told:
                done.append(loaded(await begin_cell(cell, told, config), Run))
            if done[-1].stopped is not None:
                break
    return GridRuns(done, str(values["experiment"]))


def judge(
    config: str | Path | None = None,
    *,
    on_progress: ProgressHandler | None = None,
    progress: bool | None = None,
    **settings: Unpack[JudgeKeywords],
) -> Run:
    """Ask judges about every output of an evaluation set, as `benchbook judge run` does.

    `config` is a TOML file; `settings` have the same names and win: `judge(set="drift", prompts="asked.csv",
    judges=[{"model": "openai/gpt-4.1@2025-04-14"}])` needs no file. `spec` is the folder of a judge protocol of your
    own; by default it is judge_protocol@v1.

    Raises: UsageError and its kin before anything is asked; RecordError where the record can't be written.
    """
    return run_in_loop(judge_async(config, on_progress=on_progress, progress=progress, **settings))


async def judge_async(
    config: str | Path | None = None,
    *,
    on_progress: ProgressHandler | None = None,
    progress: bool | None = None,
    **settings: Unpack[JudgeKeywords],
) -> Run:
    """As `judge`, inside an event loop."""
    from benchbook.evaluators.protocol.evaluator import judging_asked_for

    check_names(settings, JudgeKeywords, judge_async)
    with as_settings(values_of(config, settings)) as values, progress_asked(progress, on_progress) as told:
        evaluator, checked = judging_asked_for(values, str(config or "judge"))
        return loaded(await start_with(evaluator, checked, told, config), Run)


def resume(
    run: AnyRun,
    *,
    scorer: Scorer | None = None,
    runs: str | Path = "runs",
    on_progress: ProgressHandler | None = None,
    progress: bool | None = None,
    **settings: Unpack[ResumeKeywords],
) -> Run:
    """Go on with a record where its journal ends. `settings` may hold limits and addresses, nothing of the plan; and
    where a function answered, that function again. Where one scores, `scorer` is that, unchanged: what it has said
    stays, and it is asked about the other answers.

    Raises: UsageError for what would change the plan, and for a scorer whose source is another than the record's.
    """
    return run_in_loop(
        resume_async(run, scorer=scorer, runs=runs, on_progress=on_progress, progress=progress, **settings)
    )


async def resume_async(
    run: AnyRun,
    *,
    scorer: Scorer | None = None,
    runs: str | Path = "runs",
    on_progress: ProgressHandler | None = None,
    progress: bool | None = None,
    **settings: Unpack[ResumeKeywords],
) -> Run:
    """As `resume`, inside an event loop."""
    check_names(settings, ResumeKeywords, resume_async)
    record = record_of(run, runs)
    with as_settings(settings) as given, progress_asked(progress, on_progress) as told:
        return loaded(await resume_run(record, given, told, scorer), Run)


# ── arguments and results ────────────────────────────────────────────────────────────────────────────────────


@contextmanager
def as_settings(given: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """A caller's arguments as settings: rows and functions by names that hold while the block runs."""
    values: dict[str, Any] = {name: _plain(name, one) for name, one in given.items()}
    if isinstance(judges := values.get("judges"), list | tuple):
        values["judges"] = [_plain_table(one) for one in judges]
    if isinstance(varied := values.get("grid"), Mapping):
        values["grid"] = {name: _plain_options(name, options) for name, options in varied.items()}
    with as_file(values["evalset"]) if values.get("evalset") is not None else nullcontext() as evalset:
        yield values if evalset is None else values | {"evalset": evalset}


def _plain(name: str, value: Any) -> Any:
    if isinstance(value, Path):
        return str(value)
    if name in ("model", "judge") and value is not None and not isinstance(value, str):
        return lend(value)
    return listed(value) if name in LISTS and isinstance(value, str) else value


def _plain_table(one: Any) -> Any:
    return {name: _plain(name, value) for name, value in one.items()} if isinstance(one, Mapping) else one


def _plain_options(name: str, options: Any) -> Any:
    return [_plain(name, one) for one in options] if isinstance(options, list | tuple) else options


def loaded(result: RunResult[Any], kind: type[R]) -> R:
    """The object for a run that was begun or resumed here, in the class of its evaluator."""
    found = run_of(result.record, result.derived, result.stop.reason)
    assert isinstance(found, kind)  # noqa: S101 - by what the caller's settings name
    return found
