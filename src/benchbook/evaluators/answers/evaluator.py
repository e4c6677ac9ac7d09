"""An evaluator that scores answers without a judge: its questions, and the files derived from its records."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from benchbook.ask.limits import Stop
from benchbook.ask.roles import RoleSettings
from benchbook.ask.sharding import ShardResult
from benchbook.ask.starting import Opened, Reopened, RunResult
from benchbook.ask.work import ProgressHandler
from benchbook.canonical import ready
from benchbook.errors import UsageError
from benchbook.evalsets import EvalSet, Item
from benchbook.evaluators.answers.asking import (
    AnswerQuestions,
    PreparedAnswers,
    opened_checked,
    prepare,
    roles_of_answers,
)
from benchbook.evaluators.answers.counted import dry_run_reason
from benchbook.evaluators.answers.metric import Metric
from benchbook.evaluators.answers.predictions import prediction_replies, record_predictions, record_shard_of_predictions
from benchbook.evaluators.answers.scorecard import Scorecard
from benchbook.evaluators.answers.so_far import AnswersSoFar
from benchbook.evaluators.answers.tables import DERIVED_FILES, AnswersDerived, derive_answers
from benchbook.evaluators.candidate import (
    CandidatePlan,
    CandidateRequests,
    candidate_plan_of,
    candidate_template,
    model_settings,
    named_models,
    template_of,
)
from benchbook.evaluators.contract import COST, MAY_CHANGE, ComparedColumns, ComparedMetric, Evaluator, Tables
from benchbook.evaluators.derivation import derivation_of
from benchbook.evaluators.gates import read_decision
from benchbook.evaluators.held_facts import HeldFacts
from benchbook.evaluators.kept import recorded_evalset
from benchbook.evaluators.settings import SCORE_SPEC, RunConfig, ScoreConfig, config_from_mapping, settings_that_hold
from benchbook.record.derived_files import Discrepancy, reading_derived
from benchbook.record.facts import Failure, Reply, RunStarted
from benchbook.record.folder import Record
from benchbook.record.shards import ShardAsked
from benchbook.record.state import JournalState
from benchbook.training.curves import TRAINING_TABLE, TrainingMetricRow
from benchbook.training.logs import training_files


class AnswersEvaluator(Evaluator):
    """Answers scored one by one, without a judge. What is its own is its metric."""

    command = "score"
    may_change = MAY_CHANGE | {"model_base_url", "model_api_key_env", "model_path"}
    repeats_in_record = False
    files = DERIVED_FILES
    primary = "primary_score"

    @property
    @abstractmethod
    def metric(self) -> Metric:
        """The metric that scores an item. Raises: UsageError for a user's own with faults."""

    def opened(self, path: Path) -> EvalSet:
        """An eval set whose items have all that a score needs, to be closed by the caller.

        Raises: InputError naming the line, UsageError.
        """
        return opened_checked(self.metric, path)

    def score(self, config: ScoreConfig, on_progress: ProgressHandler | None = None) -> RunResult[AnswersDerived]:
        """Make a whole record of predictions that were made elsewhere, or none where anything is wrong.

        Raises: ConfigError, InputError naming the line, UsageError; RecordError where the record can't be written.
        """
        return record_predictions(config, self.metric, on_progress)

    def score_shard(self, config: ScoreConfig, asked: ShardAsked) -> ShardResult:
        """Make one shard of such a record, unless it is there already. Raises: as `score`."""
        return record_shard_of_predictions(config, self.metric, asked)

    def score_table(
        self, evalset: str, predictions: str, target: Path, *, columns: Mapping[str, str] | None = None
    ) -> Scorecard:
        """Score predictions into a Parquet file of a row an item, without a record.

        Raises: InputError naming the row, UsageError; RecordError where `target` can't be written.
        """
        del evalset, predictions, target, columns
        raise UsageError(f"--table: of {SCORE_SPEC} alone; without it, the run is recorded")

    # ── what it plans and asks ───────────────────────────────────────────────────────────────────────────────

    def settings(self, values: Mapping[str, Any], source: str) -> RunConfig:
        return config_from_mapping(values, source, judged=False)

    def settings_that_hold(self, values: Mapping[str, Any]) -> RunConfig:
        return settings_that_hold(values)

    def prepare(self, config: RunConfig) -> PreparedAnswers:
        return prepare(config, self.metric)

    def models_of(self, config: RunConfig) -> list[RoleSettings]:
        return named_models(model_settings(config))

    def samples_so_far(self, record: Record, started: RunStarted) -> AnswersSoFar:
        return AnswersSoFar(record, started, None if self.has_outcomes else self.metric)

    def nothing_to_resume(self, started: RunStarted) -> str | None:
        if candidate_plan_of(started).prompt_template_id:
            return None
        return "its predictions were read from a file"

    def reopen(self, record: Record, config: RunConfig) -> Opened:
        started = record.started()
        plan = candidate_plan_of(started)

        def questions(record: Record, stop: Stop) -> AnswerQuestions:
            del stop
            return AnswerQuestions(record, plan, recorded_evalset(record, started), self.metric)

        return Reopened(roles_of_answers(config, plan), plan.benchmark, questions)

    # ── its records ──────────────────────────────────────────────────────────────────────────────────────────

    def plan_of(self, started: RunStarted) -> CandidatePlan:
        return candidate_plan_of(started)

    def more_files(self, started: RunStarted) -> tuple[str, ...]:
        return training_files(started)

    def tables(self, started: RunStarted) -> Tables:
        return {"samples.parquet": self.metric.row_type(derivation_of(started)), TRAINING_TABLE: TrainingMetricRow}

    def derive(self, record: Record, target: Path, state: JournalState | None = None) -> AnswersDerived:
        return derive_answers(record, target, self.metric, state=state)

    def derive_checked(self, record: Record, target: Path, state: JournalState) -> list[Discrepancy]:
        asked_elsewhere = not candidate_plan_of(state.started).prompt_template_id
        check = _PredictionCheck(record, state) if asked_elsewhere else _RequestCheck(record, state)
        derive_answers(record, target, self.metric, check=check.look_at, state=state)
        return check.findings()

    def read(self, record: Record) -> AnswersDerived:
        metric = self.metric
        with reading_derived(record):
            return AnswersDerived(
                msgspec.json.decode(record.manifest.read_bytes(), type=ready(metric.manifest_type)),
                msgspec.json.decode(record.aggregates.read_bytes(), type=ready(metric.aggregates_type)),
                read_decision(record.decision.read_bytes()),
            )

    def unavailable(self, started: RunStarted) -> str | None:
        return dry_run_reason(started)

    @property
    def spec_sha256(self) -> str:
        return self.metric.sha256

    def templates(self, record: Record, started: RunStarted) -> Mapping[str, str]:
        return candidate_template(record, started)

    @property
    def compared(self) -> ComparedColumns:
        return ComparedColumns(
            score="score",
            passed="passed",
            answer="predicted",
            expected="expected",
            reasons=("error", "miss_reason", "candidate_error"),
            metrics=(*_MEASURES, COST),
            is_graded=not self.metric.is_rate,
            has_every_item=True,
        )


# Of answers that were made elsewhere, null throughout.
_MEASURES = (
    ComparedMetric("eval_time_ms", "eval_time_ms", "ms", higher_is_better=False),
    ComparedMetric("output_tokens", "output_tokens", "tokens", higher_is_better=False),
)


class _RequestCheck:
    """Renders each request again and holds it against the facts that name it."""

    def __init__(self, record: Record, state: JournalState) -> None:
        self._requests = CandidateRequests(candidate_plan_of(state.started), template_of(record, state.started))
        self._held = HeldFacts(record, state)

    def look_at(self, sample: int, item: Item, facts: list[Reply | Failure]) -> None:
        del sample
        if not self._held.are_enough:
            self._held.hold_once_asked(facts, "candidate", self._requests.candidate_sha256(item))

    def findings(self) -> list[Discrepancy]:
        self._held.hold_end()
        return self._held.findings


class _PredictionCheck:
    """Reads the recorded file of predictions again and holds each fact against its row."""

    def __init__(self, record: Record, state: JournalState) -> None:
        self._expected = _predictions_of(record, state)
        self._held = HeldFacts(record, state)

    def look_at(self, sample: int, item: Item, facts: list[Reply | Failure]) -> None:
        del sample, item
        expected = next(self._expected, None)
        if not self._held.are_enough:
            self._held.hold_made_elsewhere(facts, expected, "the file of predictions")

    def findings(self) -> list[Discrepancy]:
        if (left := next(self._expected, None)) is not None and not self._held.findings:
            self._held.add_missing(left.sample, "the file of predictions has one")
        return self._held.findings


def _predictions_of(record: Record, state: JournalState) -> Iterator[Reply]:
    from benchbook.evalsets.predictions import read_predictions

    started = state.started
    if "predictions" not in started.inputs or started.identity["dry_run"]:
        return iter(())
    predictions = read_predictions(
        record.input(started.inputs["predictions"]),
        form=started.identity["prediction_form"],
        columns=started.identity["prediction_columns"],
        own_keys=True,
    )
    with recorded_evalset(record, started) as evalset:
        replies = prediction_replies(predictions, evalset)
        return (one for one in replies if state.has_place_for(one.sample))
