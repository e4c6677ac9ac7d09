"""`answer_correctness@v1` as an evaluator: what it asks, and what follows from its records."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from benchbook.ask.limits import Stop
from benchbook.ask.requests import request_sha256
from benchbook.ask.starting import Roles
from benchbook.canonical import ready
from benchbook.evalsets import Item
from benchbook.evaluators.candidate import CandidatePlan, CandidateRequests, candidate_plan_of, template_of
from benchbook.evaluators.contract import MAY_CHANGE, ComparedColumns, Evaluator, Tables
from benchbook.evaluators.correctness.asking import CorrectnessQuestions, PreparedScore, prepare, roles_of_score
from benchbook.evaluators.correctness.prediction_facts import prediction_replies
from benchbook.evaluators.correctness.predictions import SPEC
from benchbook.evaluators.correctness.rows import (
    CorrectnessAggregates,
    CorrectnessDecision,
    CorrectnessManifest,
    row_type_of,
)
from benchbook.evaluators.correctness.scorecard import UNANSWERED
from benchbook.evaluators.correctness.tables import (
    DERIVED_FILES,
    CorrectnessDerived,
    derive_correctness,
    dry_run_reason,
)
from benchbook.evaluators.recorded_set import recorded_evalset
from benchbook.evaluators.settings import RunConfig, config_from_mapping
from benchbook.record.derived_files import Finding, place_of_fact, reading_derived
from benchbook.record.facts import Failure, Reply, RunStarted
from benchbook.record.folder import Record
from benchbook.record.state import JournalState
from benchbook.training.logs import training_files
from benchbook.training.table import TRAINING_TABLE, TrainingMetricRow

if TYPE_CHECKING:
    import polars

__all__ = ["EVALUATOR", "CorrectnessEvaluator"]


_MAX_FINDINGS = 20


class CorrectnessEvaluator(Evaluator):
    """Answers held against those that were expected, without a judge (SPEC A)."""

    command = "score"
    may_change = MAY_CHANGE | {"model_base_url", "model_api_key_env", "model_path"}
    files = DERIVED_FILES

    def __init__(self, spec_id: str) -> None:
        self.id = spec_id

    # ── what it plans and asks ───────────────────────────────────────────────────────────────────────────────

    def settings(self, values: Mapping[str, Any], source: str) -> RunConfig:
        return config_from_mapping(values, source)

    def prepare(self, config: RunConfig) -> PreparedScore:
        return prepare(config)

    def nothing_to_resume(self, started: RunStarted) -> str | None:
        if candidate_plan_of(started).prompt_template_id:
            return None
        return "its predictions were read from a file"

    def reopen(self, record: Record, config: RunConfig) -> _Reopened:
        return _Reopened(config, candidate_plan_of(record.started()))

    # ── its records ──────────────────────────────────────────────────────────────────────────────────────────

    def plan_of(self, started: RunStarted) -> CandidatePlan:
        return candidate_plan_of(started)

    def more_files(self, started: RunStarted) -> tuple[str, ...]:
        return training_files(started)

    def tables(self, started: RunStarted) -> Tables:
        return {"samples.parquet": row_type_of(started), TRAINING_TABLE: TrainingMetricRow}

    def derive(self, record: Record, target: Path) -> CorrectnessDerived:
        return derive_correctness(record, target)

    def derive_checked(self, record: Record, target: Path, state: JournalState) -> list[Finding]:
        asked_elsewhere = not candidate_plan_of(state.started).prompt_template_id
        check = _PredictionCheck(record, state) if asked_elsewhere else _RequestCheck(record, state)
        derive_correctness(record, target, check=check.look_at, state=state)
        return check.findings()

    def read(self, record: Record) -> CorrectnessDerived:
        with reading_derived(record):
            return CorrectnessDerived(
                msgspec.json.decode(record.manifest.read_bytes(), type=ready(CorrectnessManifest)),
                msgspec.json.decode(record.aggregates.read_bytes(), type=ready(CorrectnessAggregates)),
                msgspec.json.decode(record.decision.read_bytes(), type=ready(CorrectnessDecision)),
            )

    def unavailable(self, started: RunStarted) -> str | None:
        return dry_run_reason(started)

    # ── its items, side by side with another run's ───────────────────────────────────────────────────────────

    primary = "primary_score"

    @property
    def compared(self) -> ComparedColumns:
        return ComparedColumns(
            score="correctness",
            passed="correctness",
            answer="predicted",
            expected="expected",
            reasons=("error", "miss_reason", "candidate_error"),
            is_graded=False,
            has_every_item=True,
            tells_containment=True,
        )

    def unanswered_why(self, columns: Collection[str], manifest: Mapping[str, Any]) -> polars.Expr:
        """Records of before derivation 3 counted such an item as a wrong answer; their rows still tell."""
        import polars as pl

        by_error = pl.col("error") if "error" in columns else pl.lit(None, pl.String)
        has_none = pl.col("predicted").is_null()
        kept_from = has_none & by_error.is_in(["provider_error", "cancelled"])
        if manifest.get("state", "complete") != "complete":
            kept_from = kept_from | (has_none & by_error.is_null())
        by_reason = pl.col("miss_reason") == UNANSWERED
        return pl.when(by_reason | kept_from | pl.col("correctness").is_null()).then(
            pl.coalesce(by_error, pl.lit("not asked"))
        )


@dataclass(frozen=True, slots=True)
class _Reopened:
    config: RunConfig
    plan: CandidatePlan

    @property
    def roles(self) -> Roles:
        return roles_of_score(self.config, self.plan)

    @property
    def benchmark(self) -> bool:
        return self.plan.benchmark

    def questions(self, record: Record, stop: Stop) -> CorrectnessQuestions:
        del stop
        return CorrectnessQuestions(record, self.plan, recorded_evalset(record, record.started()))


class _RequestCheck:
    """Renders each request again and holds its hash against the facts that name it."""

    def __init__(self, record: Record, state: JournalState) -> None:
        self._journal = record.journal
        self._requests = CandidateRequests(candidate_plan_of(state.started), template_of(record, state.started))
        self._found: list[Finding] = []

    def look_at(self, sample: int, item: Item, facts: list[Reply | Failure]) -> None:
        if len(self._found) >= _MAX_FINDINGS:
            return
        expected = request_sha256(self._requests.candidate(item))
        for fact in facts:
            if fact.request_sha256 != expected:
                what = f"sample {sample}: inputs and template render to another request than this fact names"
                self._found.append(Finding(*place_of_fact(self._journal, fact.seq), what))

    def findings(self) -> list[Finding]:
        return self._found


class _PredictionCheck:
    """Reads the recorded file of predictions again and holds each fact against its row."""

    def __init__(self, record: Record, state: JournalState) -> None:
        self._journal = record.journal
        self._expected = _predictions_of(record, state)
        self._found: list[Finding] = []

    def look_at(self, sample: int, item: Item, facts: list[Reply | Failure]) -> None:
        del item
        expected = next(self._expected, None)
        if len(facts) == 1 and expected is not None and _content(facts[0]) == _content(expected):
            return
        if len(self._found) < _MAX_FINDINGS:
            what = f"sample {sample}: the file of predictions says something else than this fact"
            self._found.append(Finding(*place_of_fact(self._journal, facts[0].seq), what))

    def findings(self) -> list[Finding]:
        if (left := next(self._expected, None)) is not None and not self._found:
            what = f"sample {left.sample}: the file of predictions has one, and the journal has none"
            self._found.append(Finding("journal", None, what))
        return self._found


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
        return prediction_replies(predictions, evalset)


def _content(fact: Reply | Failure) -> Reply | Failure:
    """A fact without what binds it to its place in the journal."""
    return msgspec.structs.replace(fact, seq=-1, prev="", at="")


EVALUATOR = CorrectnessEvaluator(SPEC)
