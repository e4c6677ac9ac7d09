"""Some of a rubric's samples, derived by themselves: their rows, their sums, and what was found about their facts."""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, NamedTuple

from benchbook.evalsets import Item
from benchbook.evaluators.derivation import ONLY_THE_MODEL, derivation_of
from benchbook.evaluators.held_facts import FactsOfPart
from benchbook.evaluators.parts import SampleFacts, SamplePart
from benchbook.evaluators.rubric.asking import was_asked
from benchbook.evaluators.rubric.held import RubricPartCheck
from benchbook.evaluators.rubric.outcomes import outcome_of
from benchbook.evaluators.rubric.plain import PlainPicker, PlainSamples
from benchbook.evaluators.rubric.plan import Panel, Plan, plan_of
from benchbook.evaluators.rubric.reading import spec_of
from benchbook.evaluators.rubric.row import Rows, row_type
from benchbook.evaluators.rubric.rows import RubricRow
from benchbook.evaluators.rubric.scoring import score_sample
from benchbook.evaluators.rubric.spec import RubricSpec
from benchbook.evaluators.rubric.steps import SampleHistory, read_history
from benchbook.evaluators.rubric.sums import SampleSums, is_clustered
from benchbook.record.facts import RunStarted, SampleFact
from benchbook.record.folder import Record
from benchbook.record.tables import TablePart, in_order, table_parts, table_schema


@dataclass(slots=True)
class RubricPart:
    """The derivation of some samples. `held` is None where their facts were not held against the plan."""

    sums: SampleSums
    rows: list[TablePart]
    held: FactsOfPart | None = None
    n_outputs: int = 0  # of those that were made elsewhere


class RubricJob(NamedTuple):
    """The derivation of one run's parts, to be sent to another process. `checks`: facts are held against the plan."""

    record: Record
    started: RunStarted
    config: Mapping[str, Any]
    checks: bool

    def begin(self) -> Callable[[SamplePart], RubricPart]:
        plan = plan_of(self.started)
        deriving = RubricParts(self.started, self.config, plan, spec_of(self.record, plan), None)
        check = RubricPartCheck(self.record, self.started, None) if self.checks else None
        return lambda part: deriving.derive(part, check)


class RubricParts:
    """Derives parts of one run. `items` are those that count, None for all; `config` is the last sitting's."""

    def __init__(
        self,
        started: RunStarted,
        config: Mapping[str, Any],
        plan: Plan,
        spec: RubricSpec,
        items: Container[int] | None,
    ) -> None:
        self._plan = plan
        self._spec = spec
        self._config = config
        self._items = items
        self._derivation = derivation_of(started)
        self._clustered = is_clustered(started, plan)
        caused = self._derivation >= ONLY_THE_MODEL
        self._rows = Rows(plan, spec, caused=caused)
        self._schema = table_schema(row_type(spec, panel=isinstance(plan.panel, Panel), caused=caused))
        self._plain: PlainPicker | None = None

    def derive(self, part: SamplePart, check: RubricPartCheck | None) -> RubricPart:
        """The rows and sums of a part. With `check`, its facts are held against the plan."""
        sums = SampleSums(self._plan, self._spec, self._derivation, self._config, clustered=self._clustered)
        found = RubricPart(sums, [])
        if check is not None:
            check.begin()
        if self._plain is None and self._may_be_plain(check):
            requests = None if check is None else check.requests
            self._plain = PlainPicker(self._plan, self._spec, self._derivation, requests)
        self._add(*part.read(), found, check)
        if check is not None:
            found.held, found.n_outputs = check.held, check.n_outputs
        return found

    def _may_be_plain(self, check: RubricPartCheck | None) -> bool:
        asks_all = check is None or check.asks_all
        return asks_all and self._items is None and PlainPicker.may_be(self._plan, self._spec)

    def _add(
        self, samples: list[SampleFacts], items: Sequence[Item], found: RubricPart, check: RubricPartCheck | None
    ) -> None:
        """Add some samples: the plain ones at once, then the others one by one."""
        if self._items is None:
            found.sums.begin((sample, item) for (sample, _), item in zip(samples, items, strict=True))
        plain: PlainSamples | None = None
        places: list[int] = list(range(len(samples)))  # of the others
        if self._plain is not None:
            plain, places = self._plain.pick(samples, items)
        parts = self._of_plain(plain)
        if plain is not None and parts:
            found.sums.add_plain(plain)
            if check is not None:
                check.held.n_finished += len(plain)
        else:
            places = list(range(len(samples)))
        rows = (self._row(*samples[place], items[place], found.sums, check) for place in places)
        parts += table_parts(self._schema, (row for row in rows if row is not None))
        found.rows += in_order(parts, "sample")

    def _of_plain(self, plain: PlainSamples | None) -> list[TablePart]:
        """The rows of plain samples; none where some of them have to be made one by one."""
        if plain is not None and self._plain is not None:
            with suppress(UnicodeEncodeError, OverflowError):
                return [self._plain.rows(plain)]
        return []

    def _row(
        self, sample: int, facts: list[SampleFact], item: Item, sums: SampleSums, check: RubricPartCheck | None
    ) -> RubricRow | None:
        """The row of a sample, which is counted; None where it does not count."""
        history = self._history(sample, facts, item, check)
        sums.add_paid(history)
        if self._items is not None and sample % self._plan.n_items not in self._items:
            sums.sums["after_the_decision"] += was_asked(facts)
            return None
        outcome = outcome_of(history)
        score = score_sample(outcome, self._spec)
        row = self._rows.row(sample, item, history, outcome, score)
        sums.add(sample, item, history, outcome, score, row)
        return row

    def _history(
        self, sample: int, facts: list[SampleFact], item: Item, check: RubricPartCheck | None
    ) -> SampleHistory:
        if check is not None:
            return check.look_at(sample, item, facts)
        return read_history(facts, self._plan, self._spec, self._derivation, item)
