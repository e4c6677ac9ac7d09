"""A user's function as a metric: while it runs, and from the outcomes that a journal has of it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

from benchbook.ask.limits import Stop
from benchbook.ask.work import Tell
from benchbook.canonical import canonical_json
from benchbook.errors import RecordError, UsageError
from benchbook.evalsets import Item
from benchbook.evaluators.answers.counted import Counted
from benchbook.evaluators.answers.metric import UNSCORED, Metric, Scored, Unscored
from benchbook.evaluators.answers.rows import AnswerRow, NamedMean, Unscoreds
from benchbook.evaluators.answers.scorecard import NO_PREDICTION
from benchbook.evaluators.exact import as_float, in_nano, mean
from benchbook.evaluators.scorers.rows import (
    ScorerAggregates,
    ScorerManifest,
    ScorerRow,
    ScorerSaid,
)
from benchbook.evaluators.scorers.scorer import ScoredItem, Scorer, ScorerSpec
from benchbook.evaluators.scorers.scoring import has_text, outcome_by, score_answers, score_answers_of_sitting
from benchbook.record.facts import Outcome
from benchbook.record.folder import Record
from benchbook.record.imported_scores import ImportedOutcome
from benchbook.record.journal import JournalWriter
from benchbook.record.state import JournalState

SOURCE = "scorer"  # what a record calls the source, among its inputs
NOT_PASSED = "not_passed"
NOT_SCORED = "not scored yet"  # of an answer without an outcome: the run was stopped before
OTHER_REASONS = "other reasons"
_MOST_REASONS = 20  # that are listed
_MOST_KINDS = 1_000  # of them that are counted apart: a message may hold the answer, and be another each time
_MOST_NAMES = 50  # of numbers that are added up


class ScorerMetric(Metric):
    """The metric over a scorer. `scorer` is None where a record is read: its outcomes are there, and it need not be."""

    name = "score"
    reasons = (NO_PREDICTION, NOT_PASSED)
    shows_all_reasons = False
    may_lack = True
    is_rate = False
    rates: Mapping[str, bool] = {"pass_rate": True}
    columns = ("unscored", "values")
    needs_expected_answer = False
    aggregates_type = ScorerAggregates
    manifest_type = ScorerManifest

    def __init__(self, spec: ScorerSpec, scorer: Scorer | None) -> None:
        self.spec = spec
        self.scorer = scorer
        self.id, self.sha256 = spec.id, spec.sha256
        self.identity = {"evaluator": SOURCE, "scorer": msgspec.to_builtins(spec)}
        self.inputs = {} if scorer is None else {SOURCE: scorer.source.encode("utf-8", "backslashreplace")}

    def row_type(self, derivation: int) -> type[AnswerRow]:
        del derivation
        return ScorerRow

    # ── while it runs ────────────────────────────────────────────────────────────────────────────────────────

    def add_facts(self, record: Record, journal: JournalWriter, tell: Tell) -> None:
        score_answers(self._here(), record, journal, tell)

    async def add_facts_of_sitting(self, record: Record, journal: JournalWriter, stop: Stop, tell: Tell) -> bool:
        return await score_answers_of_sitting(self._here(), record, journal, stop, tell)

    def _here(self) -> Scorer:
        if self.scorer is None:
            raise RecordError(f"{self.id}: the function is not here")
        return self.scorer

    # ── as a run has it ──────────────────────────────────────────────────────────────────────────────────────

    def of_run(self, state: JournalState) -> ScorerMetric:
        return _OfRun(self, state)

    def score(self, item: Item, fields: Mapping[str, Any], predicted: str | None) -> Scored:
        """Call the function. Raises: UsageError where it gives no score, or is to be awaited."""
        if predicted is None or not has_text(predicted):
            return _without_text()
        scorer = self._here()
        if scorer.is_async:
            raise UsageError(f"{self.id}: is awaited; score a set with bb.score")
        outcome = outcome_by(scorer, 0, ScoredItem(item, fields), predicted)
        if outcome.score is None:
            raise UsageError(f"{self.id}: item {item.id}: {outcome.fault}")
        return self._scored(outcome, outcome.score)

    def _scored(self, outcome: Outcome, score: float) -> Scored:
        nano = in_nano(score)
        passed = nano >= in_nano(self.spec.passes_at) if outcome.passed is None else outcome.passed
        return Scored(
            nano,
            passed,
            None if passed else NOT_PASSED,
            columns={"values": canonical_json(outcome.values).decode() if outcome.values else None},
            measured={"pass_rate": int(passed)},
        )

    def first_warnings(self, counted: Counted) -> Iterator[str]:
        """The reasons why answers have no score: a fault of the scorer, so they are left out."""
        missed, n_items = counted.missed[UNSCORED], counted.plan.n_samples
        faults = {why: n for why, n in missed.items() if why != NOT_SCORED}
        if n := sum(faults.values()):
            says = "; ".join(f"{why} ({n})" for why, n in _most(faults)[:3]) + ("; …" if len(faults) > 3 else "")
            yield (
                f"{n:,} of {n_items:,} items {'is' if n == 1 else 'are'} unscored by a fault of the scorer {self.id}, "
                f"not of the model, and left out of the score: {says}."
            )
        if n := missed.get(NOT_SCORED, 0):
            yield f"{n:,} of {n_items:,} items {'is' if n == 1 else 'are'} answered and not scored yet, and left out."

    def aggregates(self, values: Mapping[str, Any], counted: Counted) -> ScorerAggregates:
        means = counted.metric.named.means() if isinstance(counted.metric, _OfRun) else {}
        said = (
            f"{self.id} is a Python function, and what it said of each answer is a fact: `benchbook verify` holds it, "
        )
        said += "and all that follows from it, and can't compute it again."
        return ScorerAggregates(
            **(dict(values) | {"warnings": [*values["warnings"], said]}),
            **counted.passing(),
            unscored=[Unscoreds(why=why, n_items=n) for why, n in _most(counted.missed[UNSCORED])[:_MOST_REASONS]],
            values=means,
        )


class _OfRun(ScorerMetric):
    """The same with the outcomes of one run. A score is 0 or 1 where each was given as true or false."""

    def __init__(self, metric: ScorerMetric, state: JournalState) -> None:
        super().__init__(metric.spec, metric.scorer)
        self._outcomes = state.outcomes
        self._failed = state.started.identity["run_status"] != "completed"
        self.is_rate = state.outcomes.are_truths
        self.named = _Named()
        self._whys: set[str] = set()
        said = ScorerSaid(**msgspec.structs.asdict(self.spec), python=sorted(state.outcomes.pythons))
        self.identity = {"evaluator": SOURCE, "scorer": said}

    def score_sample(
        self, sample: int, item: Item, fields: Mapping[str, Any], predicted: str | None
    ) -> Scored | Unscored:
        del item, fields
        if not has_text(predicted):
            return _without_text()
        outcome = self._outcomes.of(sample)
        if isinstance(outcome, ImportedOutcome):
            raise RecordError(f"sample {sample}: its outcome is of an imported log, and of no function")
        if outcome is not None and outcome.score is not None:
            if not 0 <= outcome.score <= 1:
                raise RecordError(f"sample {sample}: its outcome has a score beyond 0 to 1, which no scorer gives")
            self.named.add(outcome.values)
            return self._scored(outcome, outcome.score)
        why = NOT_SCORED if outcome is None else outcome.fault or "no score"
        if self._failed:  # such a run scores 0.0 in all, whatever its texts (A3)
            return Scored(0, passed=False, reason=NOT_PASSED, columns={"unscored": why}, measured={"pass_rate": 0})
        return Unscored(self._counted_as(why), {"unscored": why})

    def _counted_as(self, why: str) -> str:
        if why not in self._whys and len(self._whys) >= _MOST_KINDS:
            return OTHER_REASONS
        self._whys.add(why)
        return why


def _without_text() -> Scored:
    """The score of an item without a text, or with nothing but white space (A3, A7): the function is not called."""
    return Scored(0, passed=False, reason=NO_PREDICTION, has_prediction=False, measured={"pass_rate": 0})


@dataclass(slots=True)
class _Sum:
    n: int = 0
    total_nano: int = 0


class _Named:
    """The numbers that a scorer names beside the score, added up exactly, by name."""

    def __init__(self) -> None:
        self._sums: defaultdict[str, _Sum] = defaultdict(_Sum)

    def add(self, values: Mapping[str, bool | int | float | str]) -> None:
        for name, value in values.items():
            if isinstance(value, str) or (name not in self._sums and len(self._sums) >= _MOST_NAMES):
                continue
            one = self._sums[name]
            one.n += 1
            one.total_nano += in_nano(value)

    def means(self) -> dict[str, NamedMean]:
        return {
            name: NamedMean(mean=as_float(mean(one.total_nano, one.n)), n=one.n) for name, one in self._sums.items()
        }


def _most(counts: Mapping[str, int]) -> list[tuple[str, int]]:
    """The counts by name, the most frequent first, then by name."""
    return sorted(counts.items(), key=lambda one: (-one[1], one[0]))
