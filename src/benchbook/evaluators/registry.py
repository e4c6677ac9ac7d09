"""Which evaluators there are. A module of one is imported when a record of it, or its name, is met."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

from benchbook.ask.progress import ProgressHandler
from benchbook.ask.setting_types import SittingSettings
from benchbook.ask.starting import RunResult, resume, start
from benchbook.errors import ConfigError, RecordError
from benchbook.evaluators.contract import Evaluator
from benchbook.record.folder import Record

__all__ = ["evaluator_asked_for", "evaluator_named", "evaluator_of", "resume_run", "samples_type", "start_run"]

_MODULES: Mapping[str, str] = {
    "answer_correctness@v1": "benchbook.evaluators.correctness.evaluator",
    "judge_protocol@v1": "benchbook.evaluators.protocol.evaluator",
    "rubric@v1": "benchbook.evaluators.rubric.evaluator",
}


def evaluator_named(spec: str) -> Evaluator:
    """The evaluator of that name.

    Raises: RecordError for one that this version of Benchbook does not know.
    """
    module = _MODULES.get(spec)
    if module is None:
        raise RecordError(f"spec {spec[:80]!r}: not known here; expected {', '.join(_MODULES)}")
    evaluator: Evaluator = import_module(module).EVALUATOR
    return evaluator


def evaluator_asked_for(spec: str) -> Evaluator:
    """The evaluator that settings name. Raises: ConfigError for one that there is not."""
    if spec not in _MODULES:
        raise ConfigError("spec", spec, ", ".join(_MODULES))
    return evaluator_named(spec)


def evaluator_of(record: Record) -> Evaluator:
    """A record's evaluator, by its first fact. Raises: RecordError, RecordDamagedError."""
    return evaluator_named(record.started().spec)


def samples_type(record: Record) -> type[Any]:
    """What a row of a record's samples.parquet is. Raises: RecordError, RecordDamagedError."""
    return evaluator_of(record).tables(record.started())["samples.parquet"]


async def start_run(
    config: SittingSettings, on_progress: ProgressHandler | None = None, source: str | Path | None = None
) -> RunResult[Any]:
    """Begin a record under the evaluator that the settings name, and ask all of its plan.

    Raises: as `ask.starting.start`.
    """
    return await start(evaluator_asked_for(config.spec), config, on_progress, source)


async def resume_run(
    record: Record, changes: Mapping[str, Any] | None = None, on_progress: ProgressHandler | None = None
) -> RunResult[Any]:
    """Go on with a record of any evaluator where its journal ends. Raises: as `ask.starting.resume`."""
    return await resume(evaluator_of(record), record, changes, on_progress)
