"""Deciding on a part of an eval set's items, asked in an order drawn by chance, with at most a stated error.

What is decided is what asking every item would show (R6.1, R6.3). For each gate there are two bets (`FiniteBet`): that
it holds with every unscored sample at its worst, and that it fails with every one at its best.

READY takes that all gates are shown to hold. Were it wrong, one gate at least would fail, and its own bet alone would
have to be won: so each may be made at the whole error. NOT_READY takes one gate that is shown to fail; were it wrong,
any of the gates' bets could have been won by chance: so they share the error evenly. A run can be wrong in one of the
two ways only, whichever its set's decision is.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Generic, Literal, TypeVar

import msgspec

from benchbook.evaluators.exact import NANO
from benchbook.evaluators.gates import DecisionName, Threshold
from benchbook.evaluators.rubric.aggregate_kinds import Aggregate, OfSamples, Percentile
from benchbook.evaluators.rubric.aggregates import table_of
from benchbook.evaluators.rubric.scoring import RubricScore, SampleOutcome, score_sample
from benchbook.evaluators.rubric.spec import RubricSpec

_Value = TypeVar("_Value")


class InOrder(Generic[_Value]):
    """Takes items in the drawn order, once all before are finished: what comes back soon is not drawn by chance.

    `order` lists the items' numbers. `n_taken` counts those that were taken.
    """

    def __init__(self, order: Sequence[int], repeats: int) -> None:
        self.n_taken = 0
        self._order = order
        self._repeats = repeats
        self._finished: dict[int, list[_Value]] = {}  # items beyond the ones that were taken

    @property
    def n_items(self) -> int:
        return len(self._order)

    def add(self, sample: int, value: _Value) -> None:
        """Add a finished sample, `repeat * n_items + item`: each once, in any order."""
        self._finished.setdefault(sample % len(self._order), []).append(value)

    def take(self) -> Iterator[tuple[int, list[_Value]]]:
        """Each next item whose samples are all finished, with their values; none twice."""
        while self.n_taken < len(self._order):
            item = self._order[self.n_taken]
            if len(self._finished.get(item, ())) < self._repeats:
                return
            self.n_taken += 1
            yield item, self._finished.pop(item)


METHOD = "betting_without_replacement"


class ClaimOfGate(msgspec.Struct, frozen=True, kw_only=True):
    """The claim that was shown of one gate, and after how many items; `open` where none was."""

    aggregate: str
    claim: Literal["holds", "fails", "open"]
    after_items: int | None


class EarlyDecision(msgspec.Struct, frozen=True, kw_only=True):
    """A decision before all items were asked. `by` are the gates that fail; all of them hold where it is READY."""

    decision: DecisionName
    after_items: int
    n_items: int
    error: float
    by: tuple[str, ...]
    gates: tuple[ClaimOfGate, ...]

    @property
    def words(self) -> str:
        return f"decided after {self.after_items} of {self.n_items} items"


@dataclass(frozen=True, slots=True)
class SampleValues:
    """One sample under one gate in billionths, such that more is better: at its worst and its best."""

    worst: int
    best: int


def values_of(outcome: SampleOutcome, spec: RubricSpec) -> tuple[SampleValues, ...]:
    """The values by gate, in their order. What an aggregate leaves out counts as the limit, and so moves nothing."""
    table = table_of(spec)
    gates = [(table[gate.aggregate], gate) for gate in spec.gates]
    if outcome.unanswered:  # neither its scores nor its latency and tokens are known (R1.3a)
        return tuple(SampleValues(0, _most(one)) for one, _ in gates)
    at_ends = _at_ends(outcome, spec)
    ends = ([_value(one, gate, *end) for end in at_ends] for one, gate in gates)
    return tuple(SampleValues(min(both), max(both)) for both in ends)


def passes_of(outcome: SampleOutcome, spec: RubricSpec) -> SampleValues:
    """A sample's passing (R5.1) as values: where its missing scores are the worst, and where they are the best."""
    if outcome.unanswered:
        return SampleValues(0, NANO)
    worst, best = (scored.passed for _, scored in _at_ends(outcome, spec))
    return SampleValues(NANO * worst, NANO * best)


_Scored = tuple[SampleOutcome, RubricScore]


def _at_ends(outcome: SampleOutcome, spec: RubricSpec) -> tuple[_Scored, _Scored]:
    """The sample with its missing scores at their worst, and at their best (R6.3)."""
    if not outcome.unscored:
        scored = outcome, score_sample(outcome, spec)
        return scored, scored
    worst, best = (msgspec.structs.replace(outcome, scores=scores) for scores in (spec.lowest, spec.highest))
    return (worst, score_sample(worst, spec)), (best, score_sample(best, spec))


def _value(one: Aggregate, gate: Threshold, outcome: SampleOutcome, scored: RubricScore) -> int:
    """One sample's value under one gate; more is better. An exact aggregate is known of the whole set alone."""
    match one:
        case Percentile():
            value: int | None = getattr(outcome, f"latency_{one.field}_ms")
            if value is None:
                return NANO - one.beyond_nano
            return 0 if value * NANO > gate.limit_nano else NANO
        case OfSamples():
            found = one.of_sample(outcome, scored)
            return _limit(one, gate) if found is None else _upward(one, gate, found * (_most(one) // one.unit))
        case _:
            return 0


def _most(one: Aggregate) -> int:
    """The most that a sample is worth: billionths of what the aggregate counts in, so that every limit is whole."""
    return NANO * one.span if isinstance(one, OfSamples) else NANO


def _limit(one: OfSamples, gate: Threshold) -> int:
    return _upward(one, gate, gate.limit_nano - one.lowest * NANO)


def _upward(one: OfSamples, gate: Threshold, value: int) -> int:
    return value if gate.direction == "at_least" else _most(one) - value


class _GateBets:
    """The two bets on one gate over `n_items` items; an item's value is the sum over its repeats.

    There are none on what is exact: it stays open until all items were asked.
    """

    def __init__(self, gate: Threshold, one: Aggregate, n_items: int, repeats: int) -> None:
        from benchbook.statistics.sequences import FiniteBet  # loads NumPy

        self.aggregate = gate.aggregate
        self.claim: Literal["holds", "fails", "open"] = "open"
        self.after_items: int | None = None
        self._most = repeats * _most(one)
        self._is_told = isinstance(one, OfSamples | Percentile)
        n_samples = max(n_items * repeats, 1)
        enough = short = 0
        if isinstance(one, Percentile):
            # The type-7 percentile lies between two of M values. Over the limit for sure, of the 95th: 0.05 M + 1.95 of
            # them; under it for sure: 0.05 M - 1.05. In between it depends on the two, and nothing is claimed.
            enough = NANO - one.beyond_nano + _rounded_up(NANO + one.beyond_nano, n_samples)
            short = NANO - one.beyond_nano - _rounded_up(2 * NANO - one.beyond_nano, n_samples)
        elif isinstance(one, OfSamples):
            enough = short = _limit(one, gate)
        self._holds = FiniteBet(n_items, repeats * enough)
        # That more than 1 - limit is lacking on average: the limit itself still holds.
        lacking = repeats * (_most(one) - short)
        self._fails = FiniteBet(n_items, lacking, or_more=isinstance(one, Percentile))

    def add(self, worst: int, best: int, after_items: int, *, error: float, share: float) -> None:
        if self.claim != "open" or not self._is_told:
            return  # what was shown once stays shown
        self._holds.add(worst)
        self._fails.add(self._most - best)
        if self._holds.shows(error):
            self.claim, self.after_items = "holds", after_items
        elif self._fails.shows(share):
            self.claim, self.after_items = "fails", after_items

    def told(self) -> ClaimOfGate:
        return ClaimOfGate(aggregate=self.aggregate, claim=self.claim, after_items=self.after_items)


def _rounded_up(value: int, n: int) -> int:
    return -(-value // n)


class EarlyStopping:
    """Looks at finished items in the order in which they were to be asked. `order` lists the items' numbers."""

    def __init__(self, order: Sequence[int], repeats: int, error: float, spec: RubricSpec) -> None:
        self._items: InOrder[tuple[SampleValues, ...]] = InOrder(order, repeats)
        self._error = error
        table = table_of(spec)
        self._gates = [_GateBets(gate, table[gate.aggregate], len(order), repeats) for gate in spec.gates]
        self._spec = spec
        self.decision: EarlyDecision | None = None

    def add(self, sample: int, outcome: SampleOutcome) -> None:
        """Add a finished sample, `repeat * n_items + item`: each once, in any order."""
        if self.decision is not None:
            return
        self._items.add(sample, values_of(outcome, self._spec))
        for _, samples in self._items.take():
            self.decision = self._look_at(samples)
            if self.decision is not None:
                return

    def _look_at(self, samples: list[tuple[SampleValues, ...]]) -> EarlyDecision | None:
        position, n_items = self._items.n_taken, self._items.n_items
        for bets, values in zip(self._gates, zip(*samples, strict=True), strict=True):
            bets.add(
                sum(one.worst for one in values),
                sum(one.best for one in values),
                position,
                error=self._error,
                share=self._error / len(self._gates),
            )
        failing = tuple(one.aggregate for one in self._gates if one.claim == "fails")
        all_hold = all(one.claim == "holds" for one in self._gates)
        if position == n_items or not (failing or all_hold):
            return None
        return EarlyDecision(
            decision="NOT_READY" if failing else "READY",
            after_items=position,
            n_items=n_items,
            error=self._error,
            by=failing,
            gates=tuple(one.told() for one in self._gates),
        )
