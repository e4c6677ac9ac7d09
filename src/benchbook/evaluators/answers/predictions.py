"""Predictions that were made elsewhere: checked, imported as facts, scored (SPEC A3, A5)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from benchbook.ask.identity import first_fact, new_run_id, project_identity
from benchbook.ask.limits import Stop
from benchbook.ask.model_id import parse_model_id
from benchbook.ask.requests import RolePlan
from benchbook.ask.sharding import ShardResult, recorded_shard
from benchbook.ask.starting import RunResult
from benchbook.ask.work import Progress, ProgressHandler, Tell, telling
from benchbook.canonical import canonical_json
from benchbook.errors import ConfigError, UsageError
from benchbook.evalsets import EvalSet
from benchbook.evalsets.opening import evalset_path
from benchbook.evalsets.set_parts import PartAsked, SetPart, choose_part
from benchbook.evaluators.answers.asking import check_set, identity_of, opened_for
from benchbook.evaluators.answers.metric import Metric
from benchbook.evaluators.answers.tables import AnswersDerived, derive_answers
from benchbook.evaluators.candidate import CandidatePlan
from benchbook.evaluators.settings import ScoreConfig
from benchbook.record.facts import Reply, RunEnded, RunStarted, Shard
from benchbook.record.folder import Record, SeenFile, create_record, seen
from benchbook.record.journal import JournalWriter
from benchbook.record.shards import ShardAsked
from benchbook.text import one_line
from benchbook.training.logs import TrainingLog, find_training_logs

if TYPE_CHECKING:
    import polars

    from benchbook.evalsets.predictions import Predictions


def record_predictions(
    config: ScoreConfig, metric: Metric, on_progress: ProgressHandler | None = None
) -> RunResult[AnswersDerived]:
    """Make a whole record of the predictions, or none where anything is wrong.

    `on_progress` gets the progress of a function of the user's own; other metrics are too quick to report any.

    Raises: ConfigError, InputError naming the line, UsageError; RecordError where the record can't be written.
    """
    run_id = config.run_id or new_run_id()
    with _read(config, metric, run_id) as read:
        derived: list[AnswersDerived] = []

        def fill(record: Record) -> None:
            tell = telling(on_progress, Progress(planned=read.plan.n_samples))
            _append(record, iter(()) if config.dry_run else read.replies, metric, tell)
            derived.append(derive_answers(record, record.path, metric))

        record = create_record(config.runs, run_id, read.inputs, read.first_fact, fill)
    return RunResult(record, derived[0], Stop())


def record_shard_of_predictions(config: ScoreConfig, metric: Metric, asked: ShardAsked) -> ShardResult:
    """Make one shard of a record of predictions, unless it is there already.

    Raises: as `record_predictions`; UsageError where the shard is of another plan.
    """
    run_id = asked.run_id_in(config)
    if config.dry_run:
        raise UsageError(f"--shard {asked}: a dry run has no samples; leave one of them out")
    with _read(config, metric, run_id) as read:

        def fill(record: Record, shard: Shard) -> None:
            replies = (reply for reply in read.replies if shard.first <= reply.sample < shard.end)
            _append(record, replies, metric, lambda *_: None)

        def first_fact(hashes: dict[str, str]) -> RunStarted:
            return asked.first_fact(read.plan, read.first_fact(hashes))

        return recorded_shard(asked, config.runs, run_id, read.inputs, first_fact, fill)


@dataclass(frozen=True, slots=True)
class _Read:
    """Predictions, and all that they are scored by, read and checked. What is recorded of them follows from here."""

    plan: CandidatePlan
    inputs: dict[str, Path | SeenFile | bytes]
    replies: Iterator[Reply]
    first_fact: Callable[[dict[str, str]], RunStarted]


@contextmanager
def _read(config: ScoreConfig, metric: Metric, run_id: str) -> Iterator[_Read]:
    _check(config)
    path = evalset_path(config.evalset)
    asked = PartAsked(limit=config.limit, where=tuple(config.where), ids=config.ids)
    inputs: dict[str, Path | SeenFile | bytes] = {"evalset": seen(path)}
    inputs |= {"predictions": seen(config.predictions)} if config.predictions else {}
    inputs |= {name: seen(file) for name, file in asked.inputs.items()}
    predictions: Predictions | None = None
    if config.predictions is not None:
        from benchbook.evalsets.predictions import read_predictions

        predictions = read_predictions(config.predictions, columns=config.columns, own_keys=True)
    logs = find_training_logs(config.training_metrics, config.training_columns)
    inputs |= {**metric.inputs, **{log.source: path for log, path in logs}}
    if config.limit is not None and config.limit < 1:
        raise ConfigError("limit", str(config.limit), "1 or more")
    chosen, part = choose_part(opened_for(metric, path), asked)
    with chosen as evalset:
        check_set(metric, evalset)
        plan = _plan(config, metric, evalset, part)
        replies = iter(()) if predictions is None else prediction_replies(predictions, evalset)
        yield _Read(
            plan,
            inputs,
            replies,
            lambda hashes: _run_started(run_id, config, metric, plan, evalset, predictions, logs, hashes),
        )


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


def _plan(config: ScoreConfig, metric: Metric, evalset: EvalSet, part: SetPart | None) -> CandidatePlan:
    model = parse_model_id(config.model or _named_after(config.predictions), "model")
    return CandidatePlan(
        spec=metric.id,
        spec_sha256=metric.sha256,
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


def _append(record: Record, replies: Iterator[Reply], metric: Metric, tell: Tell) -> None:
    with JournalWriter(record.journal) as journal:
        for reply in replies:
            journal.append(reply)
        metric.add_facts(record, journal, tell)
        journal.append(RunEnded())


def _run_started(
    run_id: str,
    config: ScoreConfig,
    metric: Metric,
    plan: CandidatePlan,
    evalset: EvalSet,
    predictions: Predictions | None,
    logs: Sequence[tuple[TrainingLog, Path]],
    inputs: dict[str, str],
) -> RunStarted:
    identity = identity_of(
        metric,
        plan,
        evalset,
        project_identity(None, "eval set", config.evalset),
        prediction_form=predictions.form if predictions else None,
        prediction_columns=dict(predictions.columns) if predictions else {},
        run_status=config.run_status,
        dry_run=config.dry_run,
        run_status_reason=one_line(config.reason) if config.reason else None,
        training_metrics=[msgspec.to_builtins(log) for log, _ in logs],
    )
    return first_fact(run_id, plan, _storable(config), inputs, identity, n_items=plan.n_items, repeats=plan.repeats)


def _storable(config: ScoreConfig) -> dict[str, Any]:
    """The settings as they are recorded, without what was not set; the fact itself names the evaluator."""
    values = {name: getattr(config, name) for name in ScoreConfig.__slots__ if name != "spec"}
    return {name: value for name, value in values.items() if value not in (None, {}, (), False)}


# ── the facts that a file comes to: while it is imported, and to verify ──────────────────────────────────────


def prediction_replies(predictions: Predictions, evalset: EvalSet) -> Iterator[Reply]:
    """A reply for each item that the file has something for, in the order of the eval set; nobody was asked.

    Raises: InputError for an id that the eval set does not have or that is there twice, or another expected answer.
    """
    import polars as pl

    from benchbook.evalsets.predictions import align_predictions, items_frame

    if others := evalset.left_out():  # of a part: the file may be about the whole set
        kept = predictions.frame.filter(~pl.col("item_id").is_in(list(others)))
        predictions = replace(predictions, frame=kept)
    rows = align_predictions(predictions, items_frame(evalset))
    return _replies(rows.select("predicted", "eval_time_ms", "own_keys"), is_canonical=predictions.form != "parquet")


def _replies(rows: polars.DataFrame, *, is_canonical: bool) -> Iterator[Reply]:
    for sample, (predicted, eval_time_ms, own) in enumerate(rows.iter_rows()):
        if (predicted, eval_time_ms, own) != (None, None, None):
            if own is not None and not is_canonical:
                own = canonical_json(msgspec.json.decode(own)).decode()
            yield Reply(sample=sample, role="candidate", text=predicted, latency_e2e_ms=eval_time_ms, own=own)
