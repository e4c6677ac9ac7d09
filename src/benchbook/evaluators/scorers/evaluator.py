"""The evaluator over a scorer that is here, and that of a record, whose scorer may be nowhere."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import msgspec

from benchbook.ask.starting import Opened
from benchbook.canonical import ready
from benchbook.errors import RecordError, UsageError
from benchbook.evaluators.answers.evaluator import AnswersEvaluator
from benchbook.evaluators.contract import ComparedColumns, DerivedTypes
from benchbook.evaluators.scorers.metric import SOURCE, ScorerMetric
from benchbook.evaluators.scorers.scorer import Scorer, ScorerSpec
from benchbook.evaluators.settings import RunConfig
from benchbook.record.derived_files import Discrepancy
from benchbook.record.facts import Outcomes, RunStarted
from benchbook.record.folder import Record
from benchbook.record.reading import read_journal
from benchbook.record.state import JournalState


class ScorerEvaluator(AnswersEvaluator):
    """Answers scored by a Python function of the user's own. The function is called when answers are scored, and never
    when a record is read (F8)."""

    view = "benchbook.views.answers.terms:SCORER"
    has_outcomes = True

    def __init__(self, metric: ScorerMetric) -> None:
        self.id = metric.id
        self._metric = metric

    @property
    def metric(self) -> ScorerMetric:
        return self._metric

    def reopen(self, record: Record, config: RunConfig) -> Opened:
        if self._metric.scorer is None:
            raise UsageError(
                f"{record.path}: is scored by a function, {self.id}, that is not here (source sha256 "
                f"{self._metric.spec.source_sha256}): bb.resume(path, scorer=it), or `benchbook score FILE.py:function "
                "--resume`. The record keeps its source to be read, and never runs it"
            )
        return super().reopen(record, config)

    def not_computed_again(self, state: JournalState) -> str | None:
        if not len(state.outcomes):
            return None
        what = "1 outcome" if len(state.outcomes) == 1 else f"{len(state.outcomes):,} outcomes"
        source = f"inputs/{state.started.inputs[SOURCE]}"
        return (
            f"{what} of {self.id} can't be computed again: a Python function said them, and they are facts, held byte "
            f"for byte. All that follows from them was computed again. What scored stands in {source}, to be read; it "
            "is never run"
        )

    def derive_checked(self, record: Record, target: Path, state: JournalState) -> list[Discrepancy]:
        return [*_faults_of_outcomes(record, self._metric.spec), *super().derive_checked(record, target, state)]

    @property
    def compared(self) -> ComparedColumns:
        return replace(super().compared, reasons=("error", "miss_reason", "unscored", "candidate_error"))


def _faults_of_outcomes(record: Record, spec: ScorerSpec) -> list[Discrepancy]:
    """Outcomes of another scorer than the record's, and samples that have two (F6)."""
    found = []
    seen: set[int] = set()
    for line in read_journal(record.journal):
        if not isinstance(line.fact, Outcomes):
            continue
        where = (f"journal/{line.segment:06d}.jsonl", line.number)
        if (line.fact.scorer, line.fact.source_sha256) != (spec.id, spec.source_sha256):
            found.append(Discrepancy(*where, "these outcomes are of another scorer than the record's first fact names"))
        samples = [one.sample for one in line.fact.outcomes]
        if len({*samples}) < len(samples) or not seen.isdisjoint(samples):
            found.append(Discrepancy(*where, "a sample has two outcomes"))
        seen.update(samples)
    return found


def evaluator_over(scorer: Scorer) -> ScorerEvaluator:
    """The evaluator of a scorer that is here. Raises: UsageError where its source can't be kept."""
    return ScorerEvaluator(ScorerMetric(scorer.spec, scorer))


def evaluator_kept_in(record: Record, started: RunStarted) -> ScorerEvaluator:
    """The evaluator that a record was made under, by its first fact: the function may be nowhere."""
    return ScorerEvaluator(ScorerMetric(_spec_kept_in(record, started), None))


def evaluator_to_resume(record: Record, scorer: Scorer) -> ScorerEvaluator:
    """The evaluator that goes on with a record (F7).

    Raises: UsageError for another scorer than the record's, or one that was changed.
    """
    started = record.started()
    if started.identity.get("evaluator") != SOURCE:
        raise UsageError(f"{record.path}: is scored by {started.spec}, and by no function; resume it without one")
    kept = _spec_kept_in(record, started)
    if scorer.spec.id != kept.id:
        raise UsageError(f"{record.path}: is scored by {kept.id}, not by {scorer.spec.id}; resume it with that")
    if scorer.spec.source_sha256 != kept.source_sha256:
        raise UsageError(
            f"{record.path}: its {kept.id} has the source sha256 {kept.source_sha256}, and the one that is given "
            f"{scorer.spec.source_sha256}: a change is a new version, and a new run"
        )
    if scorer.spec != kept:
        found = f"passes_at {scorer.spec.passes_at:g}, function {scorer.spec.function}"
        expected = f"passes_at {kept.passes_at:g}, function {kept.function}"
        raise UsageError(f"{record.path}: its {kept.id} has {expected}, and the one that is given {found}")
    return evaluator_over(scorer)


def _spec_kept_in(record: Record, started: RunStarted) -> ScorerSpec:
    """The scorer that the first fact names. Raises: RecordError where it names none, or keeps another's source."""
    try:
        spec = msgspec.convert(started.identity.get("scorer"), ready(ScorerSpec))
    except msgspec.ValidationError:
        raise RecordError(f"{record.path}: was not scored by a function of a user's own") from None
    if spec.id != started.spec or started.inputs.get(SOURCE) != spec.source_sha256:
        raise RecordError(f"{record.path}: was made under {started.spec[:80]!r}, and keeps another scorer's source")
    return spec


def derived_types() -> DerivedTypes:
    return DerivedTypes(ScorerMetric.manifest_type, ScorerMetric.aggregates_type)
