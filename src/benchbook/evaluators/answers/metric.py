"""Metrics that score answers: the little in which evaluators without a judge differ."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import msgspec

from benchbook.ask.limits import Stop
from benchbook.ask.work import Tell
from benchbook.evalsets import EvalSet, Item
from benchbook.evaluators.answers.scorecard import UNANSWERED, ScorecardTally
from benchbook.evaluators.exact import as_float
from benchbook.evaluators.gates import Decision, RunVerdict, Verdict
from benchbook.record.folder import Record
from benchbook.record.journal import JournalWriter
from benchbook.record.state import JournalState

NO_FIELDS: Mapping[str, Any] = {}
UNSCORED = "unscored"  # of an item that was answered and has no score: in `Counted.missed`, by why


@dataclass(frozen=True, slots=True)
class Scored:
    """A metric's score of one item. `score_nano` is in billionths; `reason` says why it did not pass.

    `columns` are those of the row that are the metric's own, `measured` its further numbers by name: 0 or 1 for a
    share, else billionths. `missed`: where the metric has several parts, the reason of each that is not full.
    """

    score_nano: int
    passed: bool
    reason: str | None
    has_prediction: bool = True
    columns: Mapping[str, Any] = field(default_factory=dict)
    measured: Mapping[str, int] = field(default_factory=dict)
    missed: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Unscored:
    """An item that was answered and has no score, by no fault of the model's; `columns` of its row tell more."""

    why: str
    columns: Mapping[str, Any] = field(default_factory=dict)


class Metric(ABC):
    """A frozen spec, or a user's own, that scores an item by its expected answer and the text that was predicted.

    `is_rate`: a score is 0 or 1. `rates` says of each name that is `measured` whether it is, `columns` are those of its
    row beside score and passing. `identity` is added to a record's first fact, `inputs` are the files that it keeps.
    """

    id: str
    sha256: str
    name: str  # of the score, among the scorecard's `metrics`
    reasons: tuple[str, ...]
    shows_all_reasons: bool = True
    is_rate: bool = True
    rates: Mapping[str, bool] = {}
    columns: Sequence[str] = ()
    may_lack: bool = False  # answers may have no score, by no fault of the model's
    needs_expected_answer: bool = True
    was_asked_elsewhere: bool = False  # by a tool that says of each item whether it was answered
    keeps_fields: bool = False  # it asks for fields of the item's line that `Item` does not have
    identity: Mapping[str, Any] = {}
    inputs: Mapping[str, Path | bytes] = {}

    aggregates_type: ClassVar[type[msgspec.Struct]]
    manifest_type: ClassVar[type[msgspec.Struct]]

    @abstractmethod
    def row_type(self, derivation: int) -> type[msgspec.Struct]:
        """The type of a row of samples.parquet: the columns of `rows.shared_values`, and its own."""

    @abstractmethod
    def score(self, item: Item, fields: Mapping[str, Any], predicted: str | None) -> Scored:
        """Score one item; `fields` is the content of its line, where the metric keeps that.

        Raises: UsageError where the item lacks what is needed: an error in the eval set, not a score (A3).
        """

    def of_run(self, state: JournalState) -> Metric:
        """The metric of one run, where its scores of items stand in the journal."""
        del state
        return self

    def score_sample(
        self, sample: int, item: Item, fields: Mapping[str, Any], predicted: str | None
    ) -> Scored | Unscored:
        """Score one sample of a run; raises as `score`."""
        del sample
        return self.score(item, fields, predicted)

    def add_facts(self, record: Record, journal: JournalWriter, tell: Tell) -> None:  # noqa: B027 - most need none
        """Append further facts once all predictions are in the journal, and tell the progress."""

    async def add_facts_of_sitting(self, record: Record, journal: JournalWriter, stop: Stop, tell: Tell) -> bool:
        """The same once a sitting has asked what it could. True if nothing is left, False if `stop` interrupted."""
        del record, journal, stop, tell
        return True

    def unanswered(self, sample: int) -> Scored | Unscored:
        """The score of an item that no answer came for, once its run was ended as it is (A3); or none."""
        del sample
        return self.counted_zero()

    def counted_zero(self) -> Scored:
        """The score of an item that counts 0.0 for want of an answer."""
        return Scored(0, passed=False, reason=UNANSWERED, has_prediction=False, measured=dict.fromkeys(self.rates, 0))

    def own_columns(self, scored: Scored | None, *, failed: bool) -> Mapping[str, Any]:
        """Its columns of a row. `scored` is None where an item is not answered yet; in a failed run, the score is 0.0
        whatever its texts (A3)."""
        columns: dict[str, Any] = dict.fromkeys(self.columns)
        if scored is None:
            return columns | {"score": None, "passed": None}
        score = 0.0 if failed else as_float(scored.score_nano)
        return columns | {**scored.columns, "score": score, "passed": scored.passed and not failed}

    def check_items(self, evalset: EvalSet) -> None:  # noqa: B027 - most need nothing beyond what opening a set asks
        """Check that every item has what it needs. Raises: InputError naming the line."""

    def tally(self, *, asked: bool = False) -> ScorecardTally:
        """Counts of items, none yet. `asked`: a model was asked, so items may be unanswered."""
        shows_all, may_lack = self.shows_all_reasons, self.may_lack
        return ScorecardTally(self.name, self.reasons, shows_all=shows_all, asked=asked, may_lack=may_lack)

    def first_warnings(self, counted: Any) -> Iterable[str]:
        """The warnings to show before any number, for a `counted.Counted`."""
        del counted
        return ()

    @abstractmethod
    def aggregates(self, values: Mapping[str, Any], counted: Any) -> msgspec.Struct:
        """aggregates.json: `values` are those that all metrics have, `counted` is the `counted.Counted` of a run."""

    def why_failed(self, counted: Any) -> str | None:
        """Why the run failed, where something beyond its own state and its items says so (A3); None where not."""
        del counted
        return None

    def decision(self, verdict: Verdict, reason: str | None, aggregates: Any, counted: Any) -> Decision | RunVerdict:
        """decision.json: the verdict on the run itself (A3); where there are gates, the decision by the aggregates."""
        del aggregates, counted
        return RunVerdict(verdict=verdict, reason=reason)
