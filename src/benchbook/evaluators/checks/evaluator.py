"""Evaluators that are made of checks: those that are shipped, a user's own, and the one that a record keeps.

A metric scores their answers: items, columns, aggregates, the decision by gates.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from benchbook.errors import InputError, ItemError
from benchbook.evalsets import EvalSet, Item
from benchbook.evaluators.answers.counted import Counted
from benchbook.evaluators.answers.evaluator import AnswersEvaluator
from benchbook.evaluators.answers.metric import Metric, Scored
from benchbook.evaluators.answers.rows import AnswerRow
from benchbook.evaluators.answers.scorecard import NO_PREDICTION, UNANSWERED
from benchbook.evaluators.answers.tables import derive_answers
from benchbook.evaluators.checks.gates import Gated, decision_of, least_by_gate, thresholds_of
from benchbook.evaluators.checks.kind import REASONS, Expected
from benchbook.evaluators.checks.reading import read_spec_files, read_spec_folder
from benchbook.evaluators.checks.rows import (
    CheckCounts,
    ChecksAggregates,
    ChecksManifest,
    row_type_of,
)
from benchbook.evaluators.checks.spec import (
    CheckSpec,
    ChecksSpec,
    ItemScore,
    column_names,
    item_faults,
    passes,
    score_item,
)
from benchbook.evaluators.claims import DEFAULT_CONFIDENCE
from benchbook.evaluators.contract import ComparedColumns, ComparedMetric, Confidence, DerivedFiles, DerivedTypes
from benchbook.evaluators.exact import as_float
from benchbook.evaluators.gates import Decision, RunVerdict, Verdict
from benchbook.evaluators.kept import kept_own, kept_sha256, spec_inputs
from benchbook.record.facts import RunStarted
from benchbook.record.folder import Record
from benchbook.specs import load_spec
from benchbook.specs.folders import SPEC_FILE
from benchbook.text import quoted


class ChecksEvaluator(AnswersEvaluator):
    """Answers held against checks, without a judge. Its spec is read when it is first needed."""

    view = "benchbook.views.answers.terms:CHECKS"

    def __init__(self, spec_id: str, load: Callable[[], ChecksMetric], sha256: str) -> None:
        self.id = spec_id
        self._load = load
        self._sha256 = sha256

    @cached_property
    def metric(self) -> ChecksMetric:
        return self._load()

    @property
    def spec_sha256(self) -> str:
        return self._sha256

    def gated(self, record: Record, target: Path, confidence: Confidence | None = None) -> DerivedFiles:
        if not self.metric.spec.gates:
            return super().gated(record, target, confidence)
        metric = self.metric if confidence is None else self.metric.deciding_at(confidence)
        return derive_answers(record, target, metric)

    def least_for_ready(self, confidence: float) -> Mapping[str, int]:
        return least_by_gate(thresholds_of(self.metric.spec.gates), confidence)

    @property
    def compared(self) -> ComparedColumns:
        columns, checks = super().compared, self.metric.spec.checks
        if len(checks) == 1:  # the score is its own
            return columns
        of_each = (ComparedMetric(f"{one.name}_score", one.name, "score", 0, 1) for one in checks)
        return replace(columns, metrics=(*of_each, *columns.metrics))


# ── those that are shipped ───────────────────────────────────────────────────────────────────────────────────


def _shipped(spec_id: str) -> ChecksMetric:
    spec = load_spec(spec_id)
    return ChecksMetric(read_spec_files(spec.files, f"{spec_id}: {SPEC_FILE}"), spec.sha256)


def _evaluator(spec_id: str) -> ChecksEvaluator:
    return ChecksEvaluator(spec_id, partial(_shipped, spec_id), load_spec(spec_id).sha256)


EVALUATORS: Mapping[str, ChecksEvaluator] = {
    spec_id: _evaluator(spec_id) for spec_id in ("choice@v1", "contains@v1", "number@v1")
}


# ── a user's own ─────────────────────────────────────────────────────────────────────────────────────────────


def evaluator_in(folder: str | Path) -> ChecksEvaluator:
    """The evaluator of a folder with a spec.toml.

    Raises: SpecError with every fault of it; UsageError where there is none.
    """
    found = read_spec_folder(folder)
    metric = ChecksMetric(found.spec, found.sha256, spec_inputs(found.files))
    return ChecksEvaluator(metric.id, lambda: metric, metric.sha256)


def evaluator_kept_in(record: Record, started: RunStarted) -> ChecksEvaluator:
    """The evaluator that a record was made under, by the files that it keeps: the user's folder may be gone.

    Its hash is that of the files that the first fact names; `verify` checks that they still have those bytes.
    """
    return ChecksEvaluator(started.spec, partial(_kept, record, started), kept_sha256(started))


def _kept(record: Record, started: RunStarted) -> ChecksMetric:
    spec = kept_own(record, started, lambda files, path, _: read_spec_files(files, path))
    return ChecksMetric(spec, kept_sha256(started))


# ── what scores answers ──────────────────────────────────────────────────────────────────────────────────────


_OF_ITEMS = frozenset(Item.__struct_fields__)
_NAMED_LINES = 10  # of items with faults


class ChecksMetric(Metric):
    """A spec as a metric. `sha256` is the hash of its files; `inputs` are those of a user's own, to be kept."""

    reasons = tuple(REASONS)
    shows_all_reasons = False
    identity: Mapping[str, Any] = {"evaluator": "checks"}
    aggregates_type = ChecksAggregates
    manifest_type = ChecksManifest

    def __init__(
        self,
        spec: ChecksSpec,
        sha256: str,
        inputs: Mapping[str, bytes] | None = None,
        confidence: Confidence = DEFAULT_CONFIDENCE,
    ) -> None:
        self.spec = spec
        self._confidence = confidence
        self.id, self.name, self.sha256 = spec.id, spec.name, sha256
        self.inputs = inputs or {}
        graded = {check.name: check.kind.IS_GRADED for check in spec.checks}
        self.is_rate = len(graded) == 1 and not any(graded.values())
        means = {f"{name}_mean": not is_graded for name, is_graded in graded.items()}
        self.rates = {"pass_rate": True, "no_prediction_rate": True, **means}
        self._fields = frozenset().union(*(check.kind.item_fields for check in spec.checks))
        self.needs_expected_answer = "expected_answer" in self._fields
        self._own_fields = self._fields & _OF_ITEMS
        self.keeps_fields = not self._fields <= _OF_ITEMS
        self._row_type = row_type_of(spec.checks)
        self.columns = [column for check in spec.checks for column in column_names(check.name)]

    def deciding_at(self, confidence: Confidence) -> ChecksMetric:
        """The same, its gates decided at another confidence, or by the values ("none")."""
        return ChecksMetric(self.spec, self.sha256, confidence=confidence)

    def row_type(self, derivation: int) -> type[AnswerRow]:
        del derivation
        return self._row_type

    # ── one item ─────────────────────────────────────────────────────────────────────────────────────────────

    def score(self, item: Item, fields: Mapping[str, Any], predicted: str | None) -> Scored:
        found = score_item(self.spec, self._item_fields(item, fields), predicted)
        has_none = all(result.reason == NO_PREDICTION for result in found.results.values())
        measured = {"pass_rate": int(found.passed), "no_prediction_rate": int(has_none)}
        for name, result in found.results.items():
            mean = f"{name}_mean"
            measured[mean] = int(result.score) if self.rates[mean] else result.score_nano
        return Scored(
            found.score_nano,
            found.passed,
            self._why_missed(found),
            has_prediction=not has_none,
            columns={
                column: value
                for name, result in found.results.items()
                for column, value in zip(
                    column_names(name), (as_float(result.score_nano), result.reason, result.found), strict=True
                )
            },
            measured=measured,
            missed={name: result.reason for name, result in found.results.items() if result.reason is not None},
        )

    def unanswered(self, sample: int) -> Scored:
        del sample
        columns: dict[str, Any] = {}
        for check in self.spec.checks:
            score, reason, _ = column_names(check.name)
            columns |= {score: 0.0, reason: UNANSWERED}
        missed = {check.name: UNANSWERED for check in self.spec.checks}
        return replace(super().counted_zero(), columns=columns, missed=missed)

    def _item_fields(self, item: Item, fields: Mapping[str, Any]) -> Mapping[str, Any]:
        own = {name: getattr(item, name) for name in self._own_fields}
        return {**fields, **own} if self.keeps_fields else own

    def _why_missed(self, found: ItemScore) -> str | None:
        """The reason of the first check that must pass and does not; None if there is none."""
        for check in self.spec.checks:
            result = found.results[check.name]
            if check.must_pass and not passes(check, result):
                return result.reason
        return None

    def compares(self, item: Item, fields: Mapping[str, Any]) -> dict[str, str]:
        """The expectation of each check from an answer to this item, in words."""
        known = self._item_fields(item, fields)

        def words(check: CheckSpec) -> str:
            expected = getattr(check.kind, "expected", None)
            if not isinstance(expected, Expected):
                return "asks for nothing of the item"
            return f"expects {' or '.join(map(quoted, expected.texts(known)))}"

        return {check.name: words(check) for check in self.spec.checks}

    def check_items(self, evalset: EvalSet) -> None:
        first: ItemError | None = None
        places = []
        for place, item in enumerate(evalset):
            fields = evalset.fields(place) if self.keeps_fields else {}
            if faults := item_faults(self.spec, self._item_fields(item, fields)):
                first = first or faults[0]
                places.append(place)
        if first is None:
            return
        line, *others = (evalset.line_of(place) for place in places[:_NAMED_LINES])
        expected = first.expected
        if others:
            more = ", …" if len(places) > _NAMED_LINES else ""
            expected += f". And {len(places) - 1:,} more items: lines {', '.join(map(str, others))}{more}"
        raise InputError(evalset.path, line=line, field=first.field, found=first.found, expected=expected)

    # ── a run ────────────────────────────────────────────────────────────────────────────────────────────────

    def aggregates(self, values: Mapping[str, Any], counted: Counted) -> ChecksAggregates:
        checks = {
            check.name: CheckCounts(
                mean=counted.mean(f"{check.name}_mean"),
                misses={reason: n for reason in (*REASONS, UNANSWERED) if (n := counted.missed[check.name][reason])},
            )
            for check in self.spec.checks
        }
        more = {f"{name}_mean": one.mean for name, one in checks.items()}
        return ChecksAggregates(
            **(dict(values) | {"metrics": values["metrics"] | more}),
            **counted.passing(),
            no_prediction_rate=counted.measured["no_prediction_rate"].mean,
            checks=checks,
        )

    def decision(
        self, verdict: Verdict, reason: str | None, aggregates: ChecksAggregates, counted: Counted
    ) -> Decision | RunVerdict:
        held = RunVerdict(verdict=verdict, reason=reason)
        if not self.spec.gates or verdict == "unavailable":
            return held
        gated = Gated(
            counted.sums,
            aggregates.intervals,
            counted.open,
            are_counted=not counted.tally.whole.n_left_out,
            failed=counted.failed,
        )
        return decision_of(thresholds_of(self.spec.gates), gated, held, self._confidence)


def derived_types() -> DerivedTypes:
    return DerivedTypes(ChecksMetric.manifest_type, ChecksMetric.aggregates_type)
