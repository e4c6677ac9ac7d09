"""Evaluators that are made of checks: those that are shipped, a user's own, and the one that a record keeps."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property, partial
from pathlib import Path

from benchbook.evaluators.answers.evaluator import AnswersEvaluator
from benchbook.evaluators.answers.tables import derive_answers
from benchbook.evaluators.checks.metric import ChecksMetric
from benchbook.evaluators.checks.reading import read_spec_files, read_spec_folder
from benchbook.evaluators.contract import ComparedColumns, ComparedMetric, Confidence, DerivedFiles
from benchbook.evaluators.kept_spec import check_kept, kept_files, kept_hashes, spec_inputs
from benchbook.record.facts import RunStarted
from benchbook.record.folder import Record
from benchbook.specs import load_spec, sha256_of_files
from benchbook.specs.folders import SPEC_FILE

__all__ = ["EVALUATORS", "ChecksEvaluator", "evaluator_in", "evaluator_kept_in"]


class ChecksEvaluator(AnswersEvaluator):
    """Answers held against checks, without a judge. Its spec is read when it is first needed."""

    view = "benchbook.views.checks"

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

    @property
    def compared(self) -> ComparedColumns:
        checks = self.metric.spec.checks
        of_each = (ComparedMetric(f"{one.name}_score", one.name, "score", 0, 1) for one in checks)
        return ComparedColumns(
            score="score",
            passed="passed",
            answer="predicted",
            expected="expected",
            reasons=("error", "miss_reason", "candidate_error"),
            metrics=tuple(of_each) if len(checks) > 1 else (),  # of a single one the score is its own
            is_graded=not self.metric.is_rate,
            has_every_item=True,
        )


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
    metric = ChecksMetric(found.spec, found.sha256, spec_inputs(found.paths))
    return ChecksEvaluator(metric.id, lambda: metric, metric.sha256)


def evaluator_kept_in(record: Record, started: RunStarted) -> ChecksEvaluator:
    """The evaluator that a record was made under, by the files that it keeps: the user's folder may be gone.

    Its hash is that of the files which the first fact names; whether they have still those bytes, `verify` tells.
    """
    sha256 = sha256_of_files(kept_hashes(started))
    return ChecksEvaluator(started.spec, partial(_kept, record, started), sha256)


def _kept(record: Record, started: RunStarted) -> ChecksMetric:
    files, path = kept_files(record, started)
    spec = read_spec_files(files, path)
    check_kept(record, started, spec.id)
    return ChecksMetric(spec, sha256_of_files(kept_hashes(started)))
