"""Functions over runs, each with an async twin where it waits for a model."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from benchbook.derivations.verify import Verification
from benchbook.derivations.verify import verify as verify_record
from benchbook.library.objects import CorrectnessRun, RubricRun, Run, run_of
from benchbook.records.folder import open_record
from benchbook.runner.config import config_from_mapping, read_config_file
from benchbook.runner.loop import run_async as run_in_loop
from benchbook.runner.progress import ProgressHandler
from benchbook.runner.run import RunResult, resume_run, start_run
from benchbook.runner.score import SPEC
from benchbook.runner.score_model import resume_score

__all__ = ["load", "resume", "resume_async", "run", "run_async", "verify"]


def run(config: str | Path | None = None, *, on_progress: ProgressHandler | None = None, **settings: Any) -> RubricRun:
    """Ask a model the items of an eval set, have its answers judged under rubric@v1, and decide.

    `config` is a TOML file; `settings` have the same names and win. Both are those of `benchbook run`.
    `run(evalset="items.jsonl", model="openai/gpt-4.1@2025-04-14", judge="…")` needs no file.

    Raises: UsageError and its kin before anything is asked; RecordError where the record can't be written. A run that
    stops early (a limit, a refused key) returns: see `Run.stopped`.
    """
    return run_in_loop(run_async(config, on_progress=on_progress, **settings))


async def run_async(
    config: str | Path | None = None, *, on_progress: ProgressHandler | None = None, **settings: Any
) -> RubricRun:
    """As `run`, inside an event loop."""
    values = read_config_file(config) if config is not None else {}
    checked = config_from_mapping(values | settings, str(config or "run"))
    return _run_of(await start_run(checked, on_progress, config))


def resume(path: str | Path, *, on_progress: ProgressHandler | None = None, **settings: Any) -> Run:
    """Go on with a record where its journal ends. `settings` may hold limits and addresses, nothing of the plan."""
    return run_in_loop(resume_async(path, on_progress=on_progress, **settings))


async def resume_async(path: str | Path, *, on_progress: ProgressHandler | None = None, **settings: Any) -> Run:
    """As `resume`, inside an event loop."""
    record = open_record(path)
    if record.started().spec == SPEC:
        result = await resume_score(record, settings, on_progress)
        return CorrectnessRun(result.record, result.derived, result.stop.reason)
    return _run_of(await resume_run(record, settings, on_progress))


def load(path: str | Path) -> Run:
    """A record that is there already, of any spec.

    Raises: UsageError where `path` is no record; RecordError where its derived files are missing.
    """
    return run_of(open_record(path))


def verify(path: str | Path, *, expect: str | None = None) -> Verification:
    """Derive everything in a record again, offline, and name every byte that was changed."""
    return verify_record(open_record(path), expect=expect)


def _run_of(result: RunResult) -> RubricRun:
    return RubricRun(result.record, result.derived, result.stop.reason)
