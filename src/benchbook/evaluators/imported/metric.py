"""Another tool's scores as a metric, from the facts that a journal has of them."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

from benchbook.errors import RecordError, UsageError
from benchbook.evalsets import Item
from benchbook.evaluators.answers.counted import Counted
from benchbook.evaluators.answers.metric import UNSCORED, Metric, Scored, Unscored
from benchbook.evaluators.answers.rows import AnswerRow, Unscoreds
from benchbook.evaluators.answers.scorecard import NO_PREDICTION
from benchbook.evaluators.exact import NANO, as_float, in_nano, mean
from benchbook.evaluators.gates import Decision, RunVerdict, Verdict
from benchbook.evaluators.imported.log import IMPORTED, SPEC, ImportedLog, ImportedScorer
from benchbook.evaluators.imported.rows import (
    SCORER_COLUMNS,
    ImportedAggregates,
    ImportedManifest,
    ScorerMean,
    row_type_of,
)
from benchbook.record.imported_scores import ImportedOutcome, ImportedScore
from benchbook.record.state import JournalState
from benchbook.text import plural, shorten

NOT_PASSED = "not_passed"
NOT_SAID = "the log says nothing of it"
NO_SCALE = "no scorer of the log has a scale from 0 to 1"
_MOST_REASONS = 20  # that are listed
_MOST_KINDS = 1_000  # of them that are counted apart: a message may be another each time
_OTHER = "other reasons"
_OF_SAMPLE = ("unscored", "limit", "failure")


class ImportedMetric(Metric):
    """The metric over a log that a record's first fact describes."""

    id = SPEC
    name = "score"
    reasons = (NO_PREDICTION, NOT_PASSED)
    shows_all_reasons = False
    may_lack = True
    was_asked_elsewhere = True
    needs_expected_answer = False
    rates: Mapping[str, bool] = {"pass_rate": True}
    aggregates_type = ImportedAggregates
    manifest_type = ImportedManifest

    def __init__(self, log: ImportedLog) -> None:
        self.log = log
        self.sha256 = log.sha256
        self.identity = {"evaluator": IMPORTED, IMPORTED: msgspec.to_builtins(log)}
        self.headline = log.headline_scorer
        self.is_rate = self.headline is not None and self.headline.is_rate
        self.columns = (*_OF_SAMPLE, *(f"{one.column}{ending}" for one in log.scorers for ending in SCORER_COLUMNS))
        self._row_type = row_type_of(log.scorers)

    def row_type(self, derivation: int) -> type[AnswerRow]:
        del derivation
        return self._row_type

    def score(self, item: Item, fields: Mapping[str, Any], predicted: str | None) -> Scored:
        del item, fields, predicted
        raise UsageError(f"{self.id}: another tool scored, and it is not here: import its log")

    def of_run(self, state: JournalState) -> ImportedMetric:
        return _OfRun(self.log, state)

    def unanswered(self, sample: int) -> Unscored:
        del sample
        return Unscored("unanswered")

    def why_failed(self, counted: Counted) -> str | None:
        del counted
        log = self.log
        if log.not_ended is None:
            return None
        return log.not_ended + (f": {shorten(log.error, 200)}" if log.error else "")

    def first_warnings(self, counted: Counted) -> Iterator[str]:
        """The samples that the log lacks, and all that was noticed about it, before any number."""
        log = self.log
        if log.n_claimed is not None and log.n_claimed > log.n_held:
            yield (
                f"The log says that it has {plural(log.n_claimed, 'sample')}, and {log.n_held:,} are in it: every "
                "number here is of these alone."
            )
        yield from log.notes
        missed = counted.missed[UNSCORED]
        if n := sum(missed.values()):
            says = "; ".join(f"{why} ({k:,})" for why, k in _most(missed)[:3]) + ("; …" if len(missed) > 3 else "")
            yield f"{n:,} of {counted.plan.n_samples:,} samples are unscored, and in no mean: {says}."
        if isinstance(counted.metric, _OfRun) and (guessed := counted.metric.n_guessed):
            yield f"{plural(guessed, 'reply', 'replies')} of a judge can be read by guess alone."

    def aggregates(self, values: Mapping[str, Any], counted: Counted) -> ImportedAggregates:
        run = counted.metric
        assert isinstance(run, _OfRun)  # noqa: S101 - `of_run` makes it
        said = (
            f"The scores were given by {self.log.tool} ({self.log.form}): `benchbook verify` holds what its log says, "
            "and can't compute it again; `benchbook audit` holds the log against its own numbers."
        )
        return ImportedAggregates(
            **(dict(values) | {"warnings": [*values["warnings"], said]}),
            **counted.passing(),
            unscored=[Unscoreds(why=why, n_items=n) for why, n in _most(counted.missed[UNSCORED])[:_MOST_REASONS]],
            scorers=run.means(),
            limits=dict(_most(run.limits)[:_MOST_REASONS]),
        )

    def decision(
        self, verdict: Verdict, reason: str | None, aggregates: Any, counted: Counted
    ) -> Decision | RunVerdict:
        if verdict == "fail" and self.log.status == "being_written":
            return RunVerdict(verdict="incomplete", reason=reason)
        if verdict == "fail" and self.headline is None and self.log.not_ended is None:
            gave = isinstance(counted.metric, _OfRun) and counted.metric.gave_values
            held = "answers" if counted.tally.whole.n_unscored else "no answer"
            return RunVerdict(verdict="unavailable", reason=NO_SCALE if gave else f"the log has {held}, and no scores")
        return super().decision(verdict, reason, aggregates, counted)


@dataclass(slots=True)
class _Sum:
    n: int = 0
    total_nano: int = 0
    n_unscored: int = 0
    n_guessed: int = 0


class _OfRun(ImportedMetric):
    """The same with the scores of one run."""

    def __init__(self, log: ImportedLog, state: JournalState) -> None:
        super().__init__(log)
        self.identity = {"evaluator": IMPORTED, IMPORTED: log, "scored_by": log.scored_by}
        self._outcomes = state.outcomes
        self._sums: defaultdict[str, _Sum] = defaultdict(_Sum)
        self._whys: set[str] = set()
        self.limits: Counter[str] = Counter()

    @property
    def n_guessed(self) -> int:
        return sum(one.n_guessed for one in self._sums.values())

    @property
    def gave_values(self) -> bool:
        """True if any scorer gave a value to any sample."""
        return any(one.n for one in self._sums.values())

    def means(self) -> dict[str, ScorerMean]:
        """Each scorer's mean on its own scale, in the order of the log."""
        found = ((one.name, self._sums[one.name]) for one in self.log.scorers)
        return {
            name: ScorerMean(
                mean=as_float(mean(one.total_nano, one.n)),
                n=one.n,
                n_unscored=one.n_unscored,
                n_guessed=one.n_guessed,
            )
            for name, one in found
        }

    def unanswered(self, sample: int) -> Unscored:
        outcome = self._outcomes.of(sample)
        told = {"limit": outcome.limit, "failure": outcome.failure} if isinstance(outcome, ImportedOutcome) else {}
        return Unscored("unanswered", told)

    def score_sample(
        self, sample: int, item: Item, fields: Mapping[str, Any], predicted: str | None
    ) -> Scored | Unscored:
        del item, fields, predicted
        outcome = self._outcomes.of(sample)
        if not isinstance(outcome, ImportedOutcome):
            return Unscored(NOT_SAID, {"unscored": NOT_SAID})
        columns = self._columns_of(outcome)
        if outcome.limit is not None:
            self.limits[self._counted_as(outcome.limit)] += 1
        why = self._why_unscored(outcome)
        if why is not None:
            return Unscored(self._counted_as(why), columns | {"unscored": why})
        assert self.headline is not None  # noqa: S101 - without one, nothing is scored
        score = outcome.scores[self.headline.name]
        nano = _on_scale(score, self.headline)
        if self.is_rate and nano not in (0, NANO):
            raise RecordError(f"sample {sample}: {self.headline.name} is said to give ends of its scale alone")
        passed = nano >= self._passes_at if score.passed is None else score.passed
        return Scored(
            nano,
            passed,
            None if passed else NOT_PASSED,
            columns=columns,
            measured={"pass_rate": int(passed)},
        )

    @property
    def _passes_at(self) -> int:
        scorer = self.headline
        if scorer is None or scorer.passes_at is None:
            return NANO
        return _on_scale(ImportedScore(value=scorer.passes_at), scorer)

    def _columns_of(self, outcome: ImportedOutcome) -> dict[str, Any]:
        columns: dict[str, Any] = {"limit": outcome.limit, "failure": outcome.failure}
        for scorer in self.log.scorers:
            score = outcome.scores.get(scorer.name)
            if score is None:
                continue
            found = self._sums[scorer.name]
            found.n_guessed += score.guessed is not None
            if score.value is None:
                found.n_unscored += 1
            else:
                found.n += 1
                found.total_nano += in_nano(score.value)
            said = (score.value, score.said, score.answer, score.explanation or score.unscored)
            columns |= {f"{scorer.column}{ending}": value for ending, value in zip(SCORER_COLUMNS, said, strict=True)}
        return columns

    def _why_unscored(self, outcome: ImportedOutcome) -> str | None:
        if self.headline is None:
            has_values = any(one.value is not None for one in outcome.scores.values())
            return NO_SCALE if has_values else "the log has no score of it"
        score = outcome.scores.get(self.headline.name)
        if score is None:
            return f"{self.headline.name} says nothing of it"
        if score.value is None:
            together = "has a value of all samples together alone" if score.parts else "has no value for it"
            return score.unscored or f"{self.headline.name} {together}"
        if not 0 <= _on_scale(score, self.headline) <= NANO:
            return f"{self.headline.name} gave a value outside its scale"
        return None

    def _counted_as(self, why: str) -> str:
        if why not in self._whys and len(self._whys) >= _MOST_KINDS:
            return _OTHER
        self._whys.add(why)
        return why


def _on_scale(score: ImportedScore, scorer: ImportedScorer) -> int:
    """A value between the ends of its scorer's scale, in billionths of it."""
    assert score.value is not None  # noqa: S101 - asked of scored ones alone
    lowest = 0.0 if scorer.lowest is None else scorer.lowest
    highest = 1.0 if scorer.highest is None else scorer.highest
    if (lowest, highest) == (0.0, 1.0):
        return in_nano(score.value)
    place = in_nano(score.value) - in_nano(lowest)
    span = in_nano(highest) - in_nano(lowest)
    found = mean(place * NANO, span)
    assert found is not None  # noqa: S101 - no scale is empty
    return found


def _most(counts: Mapping[str, int]) -> list[tuple[str, int]]:
    """The counts by name, the most frequent first, then by name."""
    return sorted(counts.items(), key=lambda one: (-one[1], one[0]))
