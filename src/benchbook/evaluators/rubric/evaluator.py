"""Rubrics as evaluators, `rubric@v1` and a user's own: what they ask, and what follows from their records."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from benchbook.ask.limits import Stop
from benchbook.ask.requests import request_sha256
from benchbook.ask.starting import Roles
from benchbook.canonical import ready
from benchbook.evalsets import Item
from benchbook.evaluators.candidate import template_of
from benchbook.evaluators.contract import (
    MAY_CHANGE,
    ComparedColumns,
    Confidence,
    EndedEarly,
    Evaluator,
    LabelCriterion,
    Tables,
)
from benchbook.evaluators.derivation import derivation_of
from benchbook.evaluators.kept_spec import kept_hashes
from benchbook.evaluators.recorded_set import recorded_evalset
from benchbook.evaluators.rubric.asking import RubricQuestions
from benchbook.evaluators.rubric.compared import compared_columns, unanswered_why
from benchbook.evaluators.rubric.folders import kept_rubric, load_rubric, spec_of
from benchbook.evaluators.rubric.plan import Plan, plan_of
from benchbook.evaluators.rubric.preparing import PreparedRun, prepare, roles_of_run, until_decided_of
from benchbook.evaluators.rubric.release import Decision
from benchbook.evaluators.rubric.reply_lines import parse_line, unparsed_line
from benchbook.evaluators.rubric.requests import Requests
from benchbook.evaluators.rubric.row_types import aggregates_file_type
from benchbook.evaluators.rubric.rows import EarlyStop, PairedStop, RubricManifest
from benchbook.evaluators.rubric.spec import RUBRIC_V1, RubricSpec, rubric_v1
from benchbook.evaluators.rubric.steps import read_history
from benchbook.evaluators.rubric.tables import DERIVED_FILES, Derived, derive, row_type_of
from benchbook.evaluators.settings import RunConfig, config_from_mapping
from benchbook.record.derived_files import Discrepancy, place_of_fact, reading_derived
from benchbook.record.facts import RunStarted, SampleFact
from benchbook.record.folder import Record
from benchbook.record.state import JournalState
from benchbook.specs import load_spec, sha256_of_files

if TYPE_CHECKING:
    import polars

__all__ = ["EVALUATOR", "RubricEvaluator", "evaluator_in", "evaluator_kept_in"]


class RubricEvaluator(Evaluator):
    """A judge scores answers by criteria, and a release is decided (SPEC R)."""

    command = "run"
    view = "benchbook.views.rubric"
    may_change = MAY_CHANGE | {
        "model_base_url", "model_api_key_env", "model_path", "judge_base_url", "judge_api_key_env", "judge_path",
        "confidence",
    }  # fmt: skip
    files = DERIVED_FILES

    def __init__(self, spec_id: str, load: Callable[[], RubricSpec], sha256: Callable[[], str]) -> None:
        self.id = spec_id
        self._load = load
        self._sha256 = sha256

    @cached_property
    def spec(self) -> RubricSpec:
        """It is read when it is first needed. Raises: RecordError, SpecError for one that a record keeps."""
        return self._load()

    @property
    def spec_sha256(self) -> str:
        return self._sha256()

    # ── what it plans and asks ───────────────────────────────────────────────────────────────────────────────

    def settings(self, values: Mapping[str, Any], source: str) -> RunConfig:
        return config_from_mapping(values, source, judged=True)

    def prepare(self, config: RunConfig) -> PreparedRun:
        return prepare(config)

    def reopen(self, record: Record, config: RunConfig) -> _Reopened:
        until_decided_of(config)  # refuses a confidence beside it, in a later sitting as in the first
        return _Reopened(config, plan_of(record.started()))

    # ── its records ──────────────────────────────────────────────────────────────────────────────────────────

    def plan_of(self, started: RunStarted) -> Plan:
        return plan_of(started)

    def tables(self, started: RunStarted) -> Tables:
        return {"samples.parquet": row_type_of(started, self.spec.without(plan_of(started).unmeasured))}

    def derive(self, record: Record, target: Path) -> Derived:
        return derive(record, target)

    def derive_checked(self, record: Record, target: Path, state: JournalState) -> list[Discrepancy]:
        requests = _RequestCheck(record, state.started)
        derive(record, target, check=requests.check, state=state)
        return requests.findings

    def read(self, record: Record) -> Derived:
        with reading_derived(record):
            manifest = msgspec.json.decode(record.manifest.read_bytes(), type=ready(RubricManifest))
            kind = aggregates_file_type(spec_of(record, plan_of(record.started())))
            aggregates = msgspec.json.decode(record.aggregates.read_bytes(), type=ready(kind))
            data = record.decision.read_bytes()
            refused = msgspec.json.decode(data)["decision"] is None
            return Derived(manifest, aggregates, None if refused else msgspec.json.decode(data, type=ready(Decision)))

    def gated(self, record: Record, target: Path, confidence: Confidence | None = None) -> Derived:
        return derive(record, target, confidence=confidence)

    def parse_line(self, case: Mapping[str, Any]) -> dict[str, Any]:
        return parse_line(case, self.spec)

    def unparsed_line(self, case_id: Any, detail: str) -> dict[str, Any]:
        return unparsed_line(case_id, detail)

    # ── its items, side by side with another run's ───────────────────────────────────────────────────────────

    primary = "aggregate_score"
    repeated = ("aggregate_score", "latency_e2e_p95_ms")

    @property
    def compared(self) -> ComparedColumns:
        return compared_columns(self.spec)

    def ended_early(self, aggregates: Mapping[str, Any]) -> EndedEarly | None:
        found = msgspec.convert(aggregates.get("early_stop"), ready(EarlyStop | None))
        if found is None or found.after_items is None:
            return None
        early = EndedEarly(after_items=found.after_items, n_items=found.n_items, error=found.error)
        if not isinstance(found.against, PairedStop):
            return early
        return msgspec.structs.replace(
            early,
            verdict=found.against.verdict,
            against=found.against.run_id,
            against_sha256=found.against.journal_sha256,
        )

    def label_criteria(self, started: RunStarted) -> tuple[LabelCriterion, ...]:
        spec = self.spec
        if not spec.asked:  # criteria that each item brings itself have no scale: whether the answer passes, has
            return super().label_criteria(started)
        asked = "" if spec.id == RUBRIC_V1 else "{0.name}: {0.question}"  # its judge's words are those of its labels
        return tuple(
            LabelCriterion(
                one.score_key, tuple(one.scores), one.score_key, asked.format(one), one.grades, one.may_not_apply
            )
            for one in spec.asked
        )

    def unanswered_why(self, columns: Collection[str], manifest: Mapping[str, Any]) -> polars.Expr:
        del manifest
        return unanswered_why(columns)


@dataclass(frozen=True, slots=True)
class _Reopened:
    config: RunConfig
    plan: Plan

    @property
    def roles(self) -> Roles:
        return roles_of_run(self.config, self.plan)

    @property
    def benchmark(self) -> bool:
        return self.plan.benchmark

    def questions(self, record: Record, stop: Stop) -> RubricQuestions:
        return RubricQuestions(record, self.plan, recorded_evalset(record, record.started()), stop)


class _RequestCheck:
    """Renders each request again and holds its hash against the fact that names it."""

    MAX_FINDINGS = 20

    def __init__(self, record: Record, started: RunStarted) -> None:
        self._plan: Plan = plan_of(started)
        self._spec = spec_of(record, self._plan)
        self._derivation = derivation_of(started)
        self._requests = Requests(self._plan, self._spec, template_of(record, started))
        self._journal = record.journal
        self.findings: list[Discrepancy] = []

    def check(self, sample: int, item: Item, facts: list[SampleFact]) -> None:
        asked = [fact for fact in facts if fact.request_sha256 is not None]
        if not asked or len(self.findings) >= self.MAX_FINDINGS:
            return
        candidate = request_sha256(self._requests.candidate(item))
        judges: dict[int, str] = {}
        for fact in asked:
            if fact.role == "judge" and fact.judge not in judges:
                answer = read_history(facts, self._plan, self._spec, self._derivation, item).answer
                judges[fact.judge] = (
                    "" if answer is None else request_sha256(self._requests.judge(item, answer, fact.judge))
                )
            if fact.request_sha256 != (candidate if fact.role == "candidate" else judges[fact.judge]):
                file, line = place_of_fact(self._journal, fact.seq)
                what = (
                    f"sample {sample}: inputs and template render to another {fact.role} request than this fact names"
                )
                self.findings.append(Discrepancy(file, line, what))


EVALUATOR = RubricEvaluator(RUBRIC_V1, rubric_v1, lambda: load_spec(RUBRIC_V1).sha256)


# ── a user's own ─────────────────────────────────────────────────────────────────────────────────────────────


def evaluator_in(folder: str | Path) -> RubricEvaluator:
    """The evaluator of a folder with a spec.toml that has criteria.

    Raises: SpecError with every fault of it; UsageError where there is none.
    """
    spec = load_rubric(folder).spec
    return RubricEvaluator(spec.id, lambda: spec, lambda: spec.sha256)


def evaluator_kept_in(record: Record, started: RunStarted) -> RubricEvaluator:
    """The evaluator that a record was made under, by the files that it keeps: the user's folder may be gone."""
    sha256 = sha256_of_files(kept_hashes(started))
    return RubricEvaluator(started.spec, partial(kept_rubric, record, started), lambda: sha256)
