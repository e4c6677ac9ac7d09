"""The evaluator of an imported record, by the log that its first fact describes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import msgspec

from benchbook.canonical import ready
from benchbook.errors import RecordError
from benchbook.evalsets import Item
from benchbook.evaluators.answers.evaluator import AnswersEvaluator
from benchbook.evaluators.answers.tables import derive_answers
from benchbook.evaluators.contract import ComparedColumns, ComparedMetric, DerivedTypes
from benchbook.evaluators.held_facts import HeldFacts
from benchbook.evaluators.imported.log import IMPORTED, SPEC, ImportedLog
from benchbook.evaluators.imported.metric import ImportedMetric
from benchbook.record.derived_files import Discrepancy
from benchbook.record.facts import Failure, LogOutcomes, Reply, RunStarted
from benchbook.record.folder import Record
from benchbook.record.reading import read_journal
from benchbook.record.state import JournalState
from benchbook.text import plural


class ImportedEvaluator(AnswersEvaluator):
    """Answers that another tool asked for and scored."""

    id = SPEC
    command = "import"
    view = "benchbook.views.answers.terms:IMPORTED"
    has_outcomes = True
    repeats_in_record = True

    def __init__(self, log: ImportedLog) -> None:
        self._metric = ImportedMetric(log)

    @property
    def metric(self) -> ImportedMetric:
        return self._metric

    def nothing_to_resume(self, started: RunStarted) -> str | None:
        del started
        return f"{self._metric.log.tool} asked, and its log was imported"

    def derive_checked(self, record: Record, target: Path, state: JournalState) -> list[Discrepancy]:
        check = _ImportCheck(record, state)
        derive_answers(record, target, self._metric, check=check.look_at, state=state)
        return [*_faults_of_outcomes(record, self._metric.log), *check.held.findings]

    def not_computed_again(self, state: JournalState) -> str | None:
        log, source = self._metric.log, sorted(name for name in state.started.inputs if name.startswith("log/"))
        kept = ", ".join(f"inputs/{state.started.inputs[name]}" for name in source[:3])
        return (
            f"what the log of {log.tool} says of {plural(len(state.outcomes), 'sample')} can't be computed again: they "
            f"are facts, held byte for byte. All that follows from them was computed again. The log stands in {kept}"
        )

    @property
    def compared(self) -> ComparedColumns:
        log = self._metric.log
        others = tuple(
            ComparedMetric(
                one.name,
                one.column,
                "score",
                lowest=0.0 if one.lowest is None else one.lowest,
                highest=one.highest,
                higher_is_better=one.higher_is_better,
            )
            for one in log.scorers
            if one.name != log.headline  # the score is its own
        )
        return replace(
            super().compared,
            reasons=("error", "miss_reason", "unscored", "candidate_error"),
            metrics=(*others, *super().compared.metrics),
            asked_elsewhere=True,
            not_ended=log.not_ended,
        )


class _ImportCheck:
    """Holds the facts of each sample to what an import makes: one answer, or one failure, and nobody was asked."""

    def __init__(self, record: Record, state: JournalState) -> None:
        self.held = HeldFacts(record, state)

    def look_at(self, sample: int, item: Item, facts: list[Reply | Failure]) -> None:
        del sample, item
        if self.held.are_enough:
            return
        for fact in facts[1:]:
            self.held.add(fact, "has two facts, and an import makes one")
        if facts[0].role != "candidate" or facts[0].request_sha256 is not None:
            self.held.add(facts[0], "is no answer that an import makes")


def _faults_of_outcomes(record: Record, log: ImportedLog) -> list[Discrepancy]:
    """Outcomes that name scorers whom the first fact does not name, and samples that have two."""
    found = []
    seen: set[int] = set()
    names = {one.name for one in log.scorers}
    for line in read_journal(record.journal):
        if not isinstance(line.fact, LogOutcomes):
            continue
        where = (f"journal/{line.segment:06d}.jsonl", line.number)
        if any(not names.issuperset(one.scores) for one in line.fact.outcomes):
            found.append(Discrepancy(*where, "has scores of a scorer whom the record's first fact does not name"))
        samples = [one.sample for one in line.fact.outcomes]
        if _are_again(samples, seen):
            found.append(Discrepancy(*where, "a sample has two outcomes"))
        seen.update(samples)
    return found


def _are_again(samples: Sequence[int], seen: set[int]) -> bool:
    return len({*samples}) < len(samples) or not seen.isdisjoint(samples)


def evaluator_kept_in(record: Record, started: RunStarted) -> ImportedEvaluator:
    """The evaluator of a record, by the log that its first fact describes. Raises: RecordError for none."""
    try:
        return ImportedEvaluator(msgspec.convert(started.identity.get(IMPORTED), ready(ImportedLog)))
    except msgspec.ValidationError as error:
        raise RecordError(f"{record.path}: its first fact describes no imported log ({error})") from None


def derived_types() -> DerivedTypes:
    return DerivedTypes(ImportedMetric.manifest_type, ImportedMetric.aggregates_type)
