"""Rubrics as evaluators, `rubric@v1` and a user's own: what they ask, and what follows from their records."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from benchbook.ask.limits import Stop
from benchbook.ask.roles import RoleSettings
from benchbook.ask.starting import Reopened
from benchbook.canonical import ready
from benchbook.errors import UsageError
from benchbook.evalsets.items import item_from_json
from benchbook.evalsets.requirements import criteria_faults
from benchbook.evaluators.candidate import candidate_template, model_settings, named_models
from benchbook.evaluators.contract import (
    COST,
    MAY_CHANGE,
    ComparedColumns,
    ComparedMetric,
    Confidence,
    DerivedFiles,
    DerivedTypes,
    EndedEarly,
    Evaluator,
    LabelCriterion,
    LabelRows,
    Tables,
)
from benchbook.evaluators.gates import RunVerdict, read_decision
from benchbook.evaluators.kept import kept_sha256, recorded_evalset
from benchbook.evaluators.panels import PanelAnalysis
from benchbook.evaluators.rubric.asking import RubricQuestions
from benchbook.evaluators.rubric.checking import judges_settings, until_decided_of
from benchbook.evaluators.rubric.corrected import CorrectableRubric, can_be_corrected
from benchbook.evaluators.rubric.criteria import Criterion
from benchbook.evaluators.rubric.held import RubricFactsCheck
from benchbook.evaluators.rubric.item_labels import MET, item_label_rows
from benchbook.evaluators.rubric.needed import least_by_gate
from benchbook.evaluators.rubric.panel import panel_analysis, panel_type
from benchbook.evaluators.rubric.plan import Plan, plan_of
from benchbook.evaluators.rubric.preparing import PreparedRun, prepare, roles_of_run
from benchbook.evaluators.rubric.reading import kept_rubric, load_rubric, spec_of
from benchbook.evaluators.rubric.reply import Judged, Parsed, parse_reply
from benchbook.evaluators.rubric.row import aggregates_file_type, further_columns
from benchbook.evaluators.rubric.rows import EarlyStop, PairedStop, PanelManifest, RubricManifest
from benchbook.evaluators.rubric.scoring import NO_ANSWER
from benchbook.evaluators.rubric.so_far import RubricSoFar
from benchbook.evaluators.rubric.spec import RUBRIC_V1, RubricSpec, rubric_v1
from benchbook.evaluators.rubric.tables import DERIVED_FILES, Derived, derive, row_type_of
from benchbook.evaluators.settings import RunConfig, config_from_mapping, settings_that_hold
from benchbook.record.derived_files import Discrepancy, reading_derived
from benchbook.record.facts import RunStarted
from benchbook.record.folder import Record
from benchbook.record.state import JournalState
from benchbook.specs import load_spec

if TYPE_CHECKING:
    import polars


class RubricEvaluator(Evaluator):
    """A judge scores answers by criteria, and a release is decided (SPEC R)."""

    command = "run"
    view = "benchbook.views.rubric.report:VIEW"
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

    def settings_by_batch(self, values: Mapping[str, Any]) -> dict[str, Any]:
        is_recorded = str(values.get("model", "")).startswith("recorded/")
        if is_recorded or not any(one.name == "latency" for one in self.spec.measures):
            return dict(values)
        declared = values.get("unmeasured") or ()
        return {**values, "unmeasured": sorted({*declared, "latency"})}

    def settings_that_hold(self, values: Mapping[str, Any]) -> RunConfig:
        return settings_that_hold(values)

    def prepare(self, config: RunConfig) -> PreparedRun:
        return prepare(config)

    def models_of(self, config: RunConfig) -> list[RoleSettings]:
        return named_models(model_settings(config), *judges_settings(config))

    def samples_so_far(self, record: Record, started: RunStarted) -> RubricSoFar:
        return RubricSoFar(record, started)

    def reopen(self, record: Record, config: RunConfig) -> Reopened:
        until_decided_of(config)  # refuses a confidence beside it, in a later sitting as in the first
        started = record.started()
        plan = plan_of(started)

        def questions(record: Record, stop: Stop) -> RubricQuestions:
            return RubricQuestions(record, plan, recorded_evalset(record, started), stop)

        return Reopened(roles_of_run(config, plan), plan.benchmark, questions)

    def tells_something(self, derived: DerivedFiles) -> bool:
        """Samples without an answer are scored 0 by rule (R1.3): of these alone nothing follows."""
        ledger = derived.aggregates.ledger
        return derived.decision is not None and bool(ledger.n_scored > ledger.n_no_answer)

    def least_for_ready(self, confidence: float) -> Mapping[str, int]:
        return least_by_gate(self.spec, confidence)

    # ── its records ──────────────────────────────────────────────────────────────────────────────────────────

    def plan_of(self, started: RunStarted) -> Plan:
        return plan_of(started)

    def tables(self, started: RunStarted) -> Tables:
        return {"samples.parquet": row_type_of(started, self.spec.without(plan_of(started).unmeasured))}

    def derive(self, record: Record, target: Path, state: JournalState | None = None) -> Derived:
        return derive(record, target, state=state)

    def derive_checked(self, record: Record, target: Path, state: JournalState) -> list[Discrepancy]:
        check = RubricFactsCheck(record, state)
        derive(record, target, check=check, state=state)
        return check.findings()

    def read(self, record: Record) -> Derived:
        with reading_derived(record):
            manifest = msgspec.json.decode(record.manifest.read_bytes(), type=ready(RubricManifest))
            kind = aggregates_file_type(spec_of(record, plan_of(record.started())))
            aggregates = msgspec.json.decode(record.aggregates.read_bytes(), type=ready(kind))
            decision = read_decision(record.decision.read_bytes())
            if isinstance(decision, RunVerdict):
                raise TypeError("decision.json has a verdict on the run, and no decision")
            return Derived(manifest, aggregates, decision)

    def gated(self, record: Record, target: Path, confidence: Confidence | None = None) -> Derived:
        return derive(record, target, confidence=confidence)

    def parse_line(self, case: Mapping[str, Any]) -> dict[str, Any]:
        return parse_line(case, self.spec)

    def unparsed_line(self, case_id: Any, detail: str) -> dict[str, Any]:
        return unparsed_line(case_id, detail)

    # ── its items, side by side with another run's ───────────────────────────────────────────────────────────

    primary = "aggregate_score"
    repeated = ("aggregate_score", "latency_e2e_p95_ms")

    def templates(self, record: Record, started: RunStarted) -> Mapping[str, str]:
        messages = self.spec.messages
        heads = [f"[{one.role}]\n" if len(messages) > 1 else "" for one in messages]
        judge = "\n".join(f"{head}{one.text}" for head, one in zip(heads, messages, strict=True))
        return candidate_template(record, started) | {"judge": judge}

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
        del started
        spec = self.spec
        if not spec.asked:
            return (MET,)
        asked = "" if spec.id == RUBRIC_V1 else "{0.name}: {0.question}"  # its judge's words are those of its labels
        return tuple(
            LabelCriterion(
                one.score_key, tuple(one.scores), one.score_key, asked.format(one), one.grades, one.may_not_apply
            )
            for one in spec.asked
        )

    def label_rows(self, started: RunStarted) -> LabelRows | None:
        return None if self.spec.asked else item_label_rows(row_type_of(started, self.spec))

    def correctable(self, started: RunStarted) -> CorrectableRubric | None:
        if not can_be_corrected(self.spec):
            return None
        return CorrectableRubric(self.spec.without(plan_of(started).unmeasured))

    def panel(self, derived: DerivedFiles, rows: Iterable[Any], *, seed: int = 0) -> PanelAnalysis | None:
        if not isinstance(derived.manifest.panel, PanelManifest):
            return None
        return panel_analysis(derived.manifest, derived.aggregates, rows, self.spec, seed=seed)

    def unanswered_why(self, columns: Collection[str], manifest: Mapping[str, Any]) -> polars.Expr:
        del manifest
        return unanswered_why(columns)


def derived_types() -> DerivedTypes:
    spec = rubric_v1()
    return DerivedTypes(RubricManifest, aggregates_file_type(spec), panel_type(spec))


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
    sha256 = kept_sha256(started)
    return RubricEvaluator(started.spec, partial(kept_rubric, record, started), lambda: sha256)


# ── its items, side by side with another run's ───────────────────────────────────────────────────────────────


def compared_columns(spec: RubricSpec) -> ComparedColumns:
    """The columns of its items: what each criterion and each measure is worth."""
    return ComparedColumns(
        score="sample_score",
        passed="passed",
        answer="candidate_answer",
        reasons=("evaluator_error", "parse_error_reason", "fail_reasons"),
        metrics=(
            *map(_metric, spec.criteria),
            ComparedMetric("latency_e2e_ms", "latency_e2e_ms", "ms", higher_is_better=False),
            ComparedMetric("total_tokens", "total_tokens", "tokens", higher_is_better=False),
            COST,
        ),
    )


def _metric(one: Criterion) -> ComparedMetric:
    """A criterion on its scale; what an item's own criteria come to is a share of 1."""
    if one.by_item:
        return ComparedMetric(one.score_key, one.score_key, "score", 0, 1)
    return ComparedMetric(one.score_key, one.score_key, "grade", one.lowest, one.highest)


_FAILED_BEFORE = frozenset({"score_origin", "answer_seq", "error_detail", "timed_out"})


def unanswered_why(columns: Collection[str]) -> polars.Expr:
    """The class of what kept a sample from being answered (R1.3a), of records of before derivation 3, too."""
    import polars as pl

    if "candidate_error" in columns:
        return pl.when(pl.col("sample_score").is_null()).then(pl.col("candidate_error"))
    if not _FAILED_BEFORE.issubset(columns):
        return pl.lit(None, pl.String)
    # No reply, though a call failed, and not by the time limit: a fault of the provider, or of what was recorded.
    failed = (
        (pl.col("score_origin") == NO_ANSWER)
        & pl.col("answer_seq").is_null()
        & pl.col("error_detail").is_not_null()
        & ~pl.col("timed_out")
    )
    return pl.when(failed).then(pl.lit("provider_error"))


# ── a judge's reply outside a record, as `benchbook parse` reads one a line ──────────────────────────────────


def parse_line(case: Mapping[str, Any], spec: RubricSpec) -> dict[str, Any]:
    """The scores of a case's `reply`, or the reason for none (SPEC R3).

    A rubric that asks for quotes needs the `answer` that they are from, and where they may be from any turn the `item`.

    Raises: UsageError for a case that lacks one of these; InputError for an item with a fault.
    """
    tags = _reasoning_tags(case.get("options"))
    reply = case.get("reply", 0)
    if not isinstance(reply, str | None):
        raise UsageError("reply: expected a string")
    found = parse_reply(reply or "", spec, tags, judged=_judged(case, spec) if spec.asks_more else None)
    if not isinstance(found, Parsed):
        return {"id": case.get("id"), "ok": False, "parse_error_reason": found.reason, "detail": found.detail}
    shown = spec.shown_scores(found.scores)
    scores = {one.score_key: score for one, score in zip(spec.criteria, shown, strict=True)}
    result = {"id": case.get("id"), "ok": True, **scores, "rationale": found.rationale}
    result |= {name: msgspec.to_builtins(rows) for name, rows in further_columns(found.quotes, found.met, spec).items()}
    return result if found.reasoning is None else result | {"reasoning": found.reasoning}


def _judged(case: Mapping[str, Any], spec: RubricSpec) -> Judged:
    answer, item = case.get("answer"), case.get("item")
    if not isinstance(answer, str):
        raise UsageError(f"answer: expected the text that was judged, which quotes under {spec.id} are looked up in")
    if not spec.needs_item:
        return Judged(answer, None)
    if not isinstance(item, dict):
        raise UsageError(f"item: expected the item, as the eval set has it, which replies under {spec.id} are about")
    judged = item_from_json(item, "item", 1)
    if spec.by_item and (fault := next(criteria_faults(judged.criteria), None)) is not None:
        raise UsageError(f"item.{fault.field}: found {fault.found}; expected {fault.expected}")
    return Judged(answer, judged)


def unparsed_line(case_id: Any, detail: str) -> dict[str, Any]:
    """The same of a line that holds no case."""
    return {"id": case_id, "ok": False, "parse_error_reason": None, "detail": detail}


def _reasoning_tags(options: Any) -> list[str]:
    if options is not None and not isinstance(options, dict):
        raise UsageError("options: expected an object")
    tags = (options or {}).get("reasoning_tags") or []
    if not isinstance(tags, list) or not all(isinstance(tag, str) for tag in tags):
        raise UsageError("options.reasoning_tags: expected a list of strings")
    return tags
