"""A judge protocol as an evaluator: what it asks, what follows from its records, and how people label them.

`judge_protocol@v1` is one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from benchbook.ask.requests import request_sha256
from benchbook.ask.roles import RoleSettings
from benchbook.ask.starting import Reopened
from benchbook.canonical import ready
from benchbook.evaluators.contract import DerivedFiles, DerivedTypes, Evaluator, LabelCriterion, LabelRows, Tables
from benchbook.evaluators.experiments import Experiment
from benchbook.evaluators.held_facts import HeldFacts
from benchbook.evaluators.kept import kept_sha256
from benchbook.evaluators.made import Made, made
from benchbook.evaluators.protocol.asking import (
    EvaluationsSoFar,
    PreparedJudging,
    ProtocolQuestions,
    prepare_judging,
    role_settings,
    roles_of_judges,
)
from benchbook.evaluators.protocol.config import JudgingConfig, judging_config_from_mapping
from benchbook.evaluators.protocol.folders import kept_protocol, load_protocol, protocol_asked_for
from benchbook.evaluators.protocol.imported import read_judgements
from benchbook.evaluators.protocol.plan import (
    ProtocolPlan,
    ProtocolSample,
    ProtocolSamples,
    open_samples,
    protocol_plan_of,
)
from benchbook.evaluators.protocol.requests import ProtocolRequests
from benchbook.evaluators.protocol.rows import ProtocolAggregates, ProtocolManifest, ProtocolRow
from benchbook.evaluators.protocol.spec import SPEC_ID, Protocol, protocol_v1
from benchbook.evaluators.protocol.tables import DERIVED_FILES, ProtocolDerived, derive_protocol, row_type_of
from benchbook.evaluators.protocol.validity import parse_line
from benchbook.record.derived_files import Discrepancy, reading_derived
from benchbook.record.facts import Failure, Reply, RunStarted
from benchbook.record.folder import Record
from benchbook.record.state import JournalState
from benchbook.record.tables import read_rows
from benchbook.specs import load_spec

if TYPE_CHECKING:
    import polars

# ── as people label it ───────────────────────────────────────────────────────────────────────────────────────

# Rows of samples.parquet are evaluations, several for each output. Here each that counts stands beside what people see
# of its output, so that a draw takes one an output, and a judge's scores are those of its own evaluations.


class JudgedAnswer(Made, frozen=True, kw_only=True):
    """An evaluation that counts, with the field names that labels go by: after `passed` stand the dimensions.

    People are shown the question, not the cell: that would name the model that answered. What is said of one question
    rises and falls together: it is a group.
    """

    sample: int  # the evaluation's
    judge_model: str
    method: str
    item_id: str  # the question
    prompt: str  # what the target was asked; empty where nobody knows (P4.3)
    answer: str  # the text that was judged
    asked: str = ""  # the same of every question
    section: str  # the target
    category: str  # the variant of the prompt
    difficulty: None = None
    group: str  # the question
    passed: bool


def _criteria_of_labels(protocol: Protocol) -> tuple[LabelCriterion, ...]:
    """The criteria for people: what judges are asked, on the same scales."""
    return tuple(
        LabelCriterion(one.name, tuple(one.scores), one.name, f"{one.name}: {one.question}")
        for one in protocol.dimensions
    )


def _label_rows(started: RunStarted, protocol: Protocol) -> LabelRows:
    own = {name: name for name in protocol.names}
    return LabelRows(
        rows=partial(_judged_answers, protocol=protocol),
        strata=own | {"question_id": "item_id", "prompt_variant": "category", "target_model": "section"},
        hidden=(*protocol.names, "verdict", "evidence", "judge_model", "target_model", "labels of others"),
        judges=tuple(judge.name for judge in protocol_plan_of(started).judges),
    )


def _judged_answers(record: Record, started: RunStarted, samples: Path, protocol: Protocol) -> Iterator[JudgedAnswer]:
    """All evaluations that count, in their order, from a record's samples.parquet; an invalid one says nothing (P4.2).

    Raises: RecordError, InputError.
    """
    planned = open_samples(record, started, protocol_plan_of(started))
    kind = made(JudgedAnswer, {"passed": [(name, int) for name in protocol.names]})
    for row in read_rows(samples, row_type_of(started, protocol)):
        if row.valid:
            fields = _of_row(row) | {name: getattr(row, name) for name in protocol.names}
            answer, prompt = planned.seen(row.sample)
            yield kind(prompt=prompt, answer=answer, **fields)


def _of_row(row: ProtocolRow) -> dict[str, Any]:
    return {
        "sample": row.sample,
        "judge_model": row.judge_model,
        "method": row.method,
        "item_id": row.question_id,
        "section": row.target_model,
        "category": row.prompt_variant,
        "group": row.question_id,
        "passed": row.verdict == "PASS",
    }


# ── the evaluator ────────────────────────────────────────────────────────────────────────────────────────────


class ProtocolEvaluator(Evaluator):
    """Models judge each other's outputs, and their own, in strict JSON with quoted evidence (SPEC P)."""

    command = "judge run"
    view = "benchbook.views.protocol.report:VIEW"
    samples_are = "evaluations"
    files = DERIVED_FILES

    def __init__(self, spec_id: str, load: Callable[[], Protocol], sha256: Callable[[], str]) -> None:
        self.id = spec_id
        self._load = load
        self._sha256 = sha256

    @cached_property
    def protocol(self) -> Protocol:
        """It is read when it is first needed. Raises: RecordError, SpecError for one that a record keeps."""
        return self._load()

    @property
    def spec_sha256(self) -> str:
        return self._sha256()

    # ── what it plans and asks ───────────────────────────────────────────────────────────────────────────────

    def settings(self, values: Mapping[str, Any], source: str) -> JudgingConfig:
        return judging_config_from_mapping(values, source)

    def prepare(self, config: JudgingConfig) -> PreparedJudging:
        return prepare_judging(config)

    def models_of(self, config: JudgingConfig) -> list[RoleSettings]:
        return role_settings(config)

    def nothing_to_resume(self, started: RunStarted) -> str | None:
        if protocol_plan_of(started).judgements_sha256 is None:
            return None
        return "its judgements were made elsewhere"

    def samples_so_far(self, record: Record, started: RunStarted) -> EvaluationsSoFar:
        del record
        return EvaluationsSoFar(protocol_plan_of(started))

    def reopen(self, record: Record, config: JudgingConfig) -> Reopened:
        plan = protocol_plan_of(record.started())
        return Reopened(
            roles_of_judges(config, plan), False, lambda record, stop: ProtocolQuestions(record, plan, stop)
        )

    # ── its records ──────────────────────────────────────────────────────────────────────────────────────────

    def plan_of(self, started: RunStarted) -> ProtocolPlan:
        return protocol_plan_of(started)

    def size_of(self, started: RunStarted) -> tuple[int, int]:
        return protocol_plan_of(started).n_samples, 1

    def tables(self, started: RunStarted) -> Tables:
        return {"samples.parquet": row_type_of(started, self.protocol)}

    def derive(self, record: Record, target: Path, state: JournalState | None = None) -> ProtocolDerived:
        return derive_protocol(record, target, state=state)

    def parse_line(self, case: Mapping[str, Any]) -> dict[str, Any]:
        return parse_line(case, self.protocol)

    def unparsed_line(self, case_id: Any, detail: str) -> dict[str, Any]:
        nothing = {"valid": False, "flags": [], "verdict": None, "located": [], "details": []}
        return {"id": case_id, **nothing, "detail": detail}

    def derive_checked(self, record: Record, target: Path, state: JournalState) -> list[Discrepancy]:
        check = _Check(record, state)
        derive_protocol(record, target, check=check.look_at, state=state)
        return check.findings()

    def read(self, record: Record) -> ProtocolDerived:
        with reading_derived(record):
            return ProtocolDerived(
                msgspec.json.decode(record.manifest.read_bytes(), type=ready(ProtocolManifest)),
                msgspec.json.decode(record.aggregates.read_bytes(), type=ready(ProtocolAggregates)),
            )

    def tells_something(self, derived: DerivedFiles) -> bool:
        return bool(derived.aggregates.n_valid)

    def label_criteria(self, started: RunStarted) -> tuple[LabelCriterion, ...]:
        del started
        return _criteria_of_labels(self.protocol)

    def label_rows(self, started: RunStarted) -> LabelRows:
        return _label_rows(started, self.protocol)

    def experiment(self, aggregates: ProtocolAggregates) -> Experiment:
        return Experiment(
            judges=tuple(one.judge_model for one in aggregates.judges),
            targets=tuple(dict.fromkeys(one.target_model for one in aggregates.analysis.targets)),
            n_outputs=aggregates.n_outputs,
            n_evaluations=aggregates.n_evaluations,
            n_valid=aggregates.n_valid,
            n_invalid=aggregates.n_invalid,
        )

    def judged_texts(self, record: Record) -> ProtocolSamples:
        started = record.started()
        return open_samples(record, started, protocol_plan_of(started))

    # ── its items ────────────────────────────────────────────────────────────────────────────────────────────

    def listed(self, types: Mapping[str, polars.DataType]) -> dict[str, polars.Expr]:
        import polars as pl

        del types
        return {
            "item_id": pl.concat_str("question_id", "prompt_variant", "target_model", "output_id", separator=" / "),
            "section": pl.col("judge_model"),
            "category": pl.col("method"),
            "difficulty": pl.lit(None, pl.String),
            "score": pl.col("overall_score").cast(pl.Float64),
            "passed": pl.col("valid"),
            "text": pl.col("raw_reply"),
            "reasons": pl.col("flags"),
        }


class _Check:
    """Renders each request again, or reads each judgement again, and holds it against the facts."""

    def __init__(self, record: Record, state: JournalState) -> None:
        started = state.started
        self._requests = ProtocolRequests(open_samples(record, started, protocol_plan_of(started)))
        judgements = started.inputs.get("judgements")
        self._replies = [one.raw for one in read_judgements(record.input(judgements))] if judgements else None
        self._held = HeldFacts(record, state)
        self._n_held = 0

    def look_at(self, number: int, sample: ProtocolSample, facts: list[Reply | Failure]) -> None:
        self._n_held += number == self._n_held  # else one before it is missing
        if self._held.are_enough:
            return
        if self._replies is not None:
            expected = Reply(sample=number, role="judge", text=self._replies[number])
            self._held.hold_made_elsewhere(facts, expected, "the file of judgements")
        else:
            self._held.hold_once_asked(facts, "judge", request_sha256(self._requests.body(sample)))

    def findings(self) -> list[Discrepancy]:
        if self._replies is not None and self._n_held < len(self._replies) and not self._held.findings:
            self._held.add_missing(self._n_held, "the file of judgements has one")
        elif self._replies is None:
            self._held.hold_end()
        return self._held.findings


def derived_types() -> DerivedTypes:
    return DerivedTypes(ProtocolManifest, ProtocolAggregates, is_experiment=True)


EVALUATOR = ProtocolEvaluator(SPEC_ID, protocol_v1, lambda: load_spec(SPEC_ID).sha256)


# ── a user's own ─────────────────────────────────────────────────────────────────────────────────────────────


def evaluator_in(folder: str | Path) -> ProtocolEvaluator:
    """The evaluator of a folder with a spec.toml that has dimensions.

    Raises: SpecError with every fault of it; UsageError where there is none.
    """
    protocol = load_protocol(folder).protocol
    return ProtocolEvaluator(protocol.id, lambda: protocol, lambda: protocol.sha256)


def judging_asked_for(values: Mapping[str, Any], source: str) -> tuple[ProtocolEvaluator, JudgingConfig]:
    """The protocol that settings name, and the settings, checked; `source` is what errors call them.

    A folder is read as a protocol, whatever its spec.toml lacks. Raises: ConfigError, SpecError, UsageError.
    """
    checked = judging_config_from_mapping(values, source)
    protocol = protocol_asked_for(checked.spec).protocol
    return ProtocolEvaluator(protocol.id, lambda: protocol, lambda: protocol.sha256), checked


def evaluator_kept_in(record: Record, started: RunStarted) -> ProtocolEvaluator:
    """The evaluator that a record was made under, by the files that it keeps: the user's folder may be gone."""
    sha256 = kept_sha256(started)
    return ProtocolEvaluator(started.spec, partial(kept_protocol, record, started), lambda: sha256)
