"""`answer_correctness@v1` over predictions that were made elsewhere: checked, imported, scored (SPEC A3, A5)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from benchbook.ask.identity import floating_ids
from benchbook.ask.limits import Stop
from benchbook.ask.model_id import parse_model_id
from benchbook.ask.requests import RolePlan
from benchbook.ask.starting import RunResult, first_fact, new_run_id, project_identity
from benchbook.errors import ConfigError
from benchbook.evalsets import EvalSet, open_evalset
from benchbook.evalsets.opening import evalset_path
from benchbook.evalsets.set_parts import PartAsked, SetPart, choose_part
from benchbook.evaluators.candidate import CandidatePlan
from benchbook.evaluators.correctness.prediction_facts import prediction_replies
from benchbook.evaluators.correctness.rows import RunStatus
from benchbook.evaluators.correctness.tables import CorrectnessDerived, derive_correctness
from benchbook.evaluators.derivation import DERIVATION
from benchbook.evaluators.recorded_set import set_identity
from benchbook.record.facts import Reply, RunEnded, RunStarted
from benchbook.record.folder import Record, create_record
from benchbook.record.journal import JournalWriter
from benchbook.record.reading import MAX_SAMPLES
from benchbook.specs import load_spec
from benchbook.text import one_line
from benchbook.training.logs import TrainingLog, find_training_logs

if TYPE_CHECKING:
    from benchbook.evalsets.predictions import Predictions

__all__ = ["SPEC", "ScoreConfig", "score_predictions"]


SPEC = "answer_correctness@v1"


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreConfig:
    """What is scored. `evalset` is a file, or `@NAME` for one that Benchbook ships.

    `columns` maps our names of the predictions' columns to the file's. `model` is by default named after the file.
    A run that crashed or timed out says so in `run_status`, maybe with a `reason`; it needs no predictions (A3).
    `limit`, `where` and `ids` choose a part of the items; predictions of the others are passed over.
    A dry run checks everything and scores nothing: its record says that MockJudge stood in, and has no samples (A6).
    `training_metrics` are logs of the training that led here: files, or folders with TensorBoard's; `training_columns`
    maps our names of their columns to their own.
    """

    evalset: str
    predictions: str | None = None
    columns: Mapping[str, str] = field(default_factory=dict)
    model: str | None = None
    runs: str = "runs"
    run_id: str | None = None
    run_status: RunStatus = "completed"
    reason: str | None = None
    dry_run: bool = False
    limit: int | None = None
    where: Sequence[str] = ()
    ids: str | None = None
    training_metrics: Sequence[str] = ()
    training_columns: Mapping[str, str] = field(default_factory=dict)


def score_predictions(config: ScoreConfig) -> RunResult[CorrectnessDerived]:
    """A new record of the predictions, whole; or none, where anything is wrong.

    Raises: ConfigError, InputError naming the line, UsageError; RecordError where the record can't be written.
    """
    _check(config)
    predictions = None
    if config.predictions is not None:
        from benchbook.evalsets.predictions import read_predictions

        predictions = read_predictions(config.predictions, columns=config.columns, own_keys=True)
    path = evalset_path(config.evalset)
    logs = find_training_logs(config.training_metrics, config.training_columns)
    asked = PartAsked(limit=config.limit, where=tuple(config.where), ids=config.ids)
    inputs = {"evalset": path} | ({"predictions": Path(config.predictions)} if config.predictions else {})
    inputs |= asked.inputs | {log.source: path for log, path in logs}
    run_id = config.run_id or new_run_id()
    if config.limit is not None and config.limit < 1:
        raise ConfigError("limit", str(config.limit), "1 or more")
    chosen, part = choose_part(open_evalset(path, needs_expected_answer=True), asked)
    with chosen as evalset:
        plan = _plan(config, evalset, part)
        replies = iter(()) if predictions is None else prediction_replies(predictions, evalset)
        derived: list[CorrectnessDerived] = []

        def fill(record: Record) -> None:
            _append(record, iter(()) if config.dry_run else replies)
            derived.append(derive_correctness(record, record.path))

        record = create_record(
            config.runs,
            run_id,
            inputs,
            lambda hashes: _run_started(run_id, config, plan, evalset, predictions, logs, hashes),
            fill,
        )
    return RunResult(record, derived[0], Stop())


def _check(config: ScoreConfig) -> None:
    failed = config.run_status != "completed"
    if config.predictions is None and not (failed or config.dry_run):
        raise ConfigError("predictions", "nothing", "a file of predictions, or run_status crashed or timed_out")
    if config.predictions is None and config.columns:
        raise ConfigError("columns", "a mapping without predictions", "none")
    if config.training_columns and not config.training_metrics:
        raise ConfigError("training_columns", "a mapping without training_metrics", "none")
    if not failed and config.reason is not None:
        raise ConfigError("reason", "a reason for a run that completed", "none, or run_status crashed or timed_out")


def _plan(config: ScoreConfig, evalset: EvalSet, part: SetPart | None) -> CandidatePlan:
    if len(evalset) > MAX_SAMPLES:
        raise ConfigError("evalset", f"{len(evalset)} items", f"at most {MAX_SAMPLES} in one run")
    model = parse_model_id(config.model or _named_after(config.predictions), "model")
    spec = load_spec(SPEC)
    return CandidatePlan(
        spec=spec.id,
        spec_sha256=spec.sha256,
        evalset_sha256=evalset.sha256,
        n_items=len(evalset),
        part=part or msgspec.UNSET,
        repeats=1,
        prompt_template_id="",
        prompt_template_sha256="",
        candidate=RolePlan(model_id=str(model), provider="recorded", name=model.name, params={}),
    )


def _named_after(predictions: str | None) -> str:
    stem = Path(predictions).stem if predictions is not None else "nothing"
    return "recorded/" + ("".join("-" if mark.isspace() or mark == "@" else mark for mark in stem) or "predictions")


def _append(record: Record, replies: Iterator[Reply]) -> None:
    with JournalWriter(record.journal) as journal:
        for reply in replies:
            journal.append(reply)
        journal.append(RunEnded())


def _run_started(
    run_id: str,
    config: ScoreConfig,
    plan: CandidatePlan,
    evalset: EvalSet,
    predictions: Predictions | None,
    logs: Sequence[tuple[TrainingLog, Path]],
    inputs: dict[str, str],
) -> RunStarted:
    identity: dict[str, Any] = {
        **set_identity(evalset),
        "prediction_form": predictions.form if predictions else None,
        "prediction_columns": dict(predictions.columns) if predictions else {},
        "run_status": config.run_status,
        "dry_run": config.dry_run,
        "run_status_reason": one_line(config.reason) if config.reason else None,
        "generation_params": {},
        "training_metrics": [msgspec.to_builtins(log) for log, _ in logs],
        "floating": floating_ids({"model": parse_model_id(plan.candidate.model_id, "model")}),
        "derivation": DERIVATION,
        **project_identity(None, "eval set", config.evalset),
    }
    return first_fact(run_id, plan, _storable(config), inputs, identity, n_items=plan.n_items, repeats=plan.repeats)


def _storable(config: ScoreConfig) -> dict[str, Any]:
    """The settings as they are recorded, without what was not set."""
    values = {name: getattr(config, name) for name in ScoreConfig.__slots__}
    return {name: value for name, value in values.items() if value not in (None, {}, (), False)}
