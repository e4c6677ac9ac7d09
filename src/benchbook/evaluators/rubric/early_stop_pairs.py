"""Better or worse than another run, decided on a part of the items that both were asked, with at most a stated error.

The question is that of `compare`: whether items like these are passed more often, or less, than by the other run. Of
two models that are alike, one is always ahead on the set itself, by chance. So the bets (`FiniteBet`) are on a mean
difference above or below 0 of as many items as could ever be written, of which the set's are drawn. There are two, each
at half the error: where there is no difference either could be won. A sample without a score, in either run, counts at
its worst for what is bet on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import msgspec

from benchbook.evaluators.contract import PairVerdict
from benchbook.evaluators.exact import NANO
from benchbook.evaluators.rubric.early_stop_gates import InOrder, passes_of
from benchbook.evaluators.rubric.scoring import SampleOutcome
from benchbook.evaluators.rubric.spec import RubricSpec

PAIRED_METHOD = "paired_betting"

_POPULATION = 1 << 60  # items like these


class OtherRun(msgspec.Struct, frozen=True, kw_only=True):
    """The run that a plan's own is held against: all that the end is derived from, without that run's record.

    `passes` has a character a sample, in their order (`repeat * n_items + item`): `1` passed, `0` did not, `?` may
    have, for it has no score. The run is named by its id and by the last hash of its journal.
    """

    run_id: str
    journal_sha256: str
    repeats: int
    passes: str


class EarlyDifference(msgspec.Struct, frozen=True, kw_only=True):
    """Better or worse than the run `against`, before all items were asked.

    The counts are of the items that showed it: higher here, lower, alike, and those of which that is not known.
    """

    verdict: PairVerdict
    against: str
    after_items: int
    n_items: int
    error: float
    n_won: int
    n_lost: int
    n_same: int
    n_open: int

    @property
    def words(self) -> str:
        return f"decided after {self.after_items:,} of {self.n_items:,} items: {self.verdict} than {self.against}"


@dataclass(frozen=True, slots=True)
class PairValues:
    """An item's difference at its worst and at its best: 0 is all lost, `most` all won, half of that no difference."""

    worst: int
    best: int
    most: int


def pass_mark(outcome: SampleOutcome, spec: RubricSpec) -> Literal["1", "0", "?"]:
    """The mark of a sample by its passing (R5.1), as in `OtherRun.passes`. One that no score could save has `0`."""
    passes = passes_of(outcome, spec)
    return "1" if passes.worst == NANO else "?" if passes.best == NANO else "0"


def pair_values(here: str, there: str) -> PairValues:
    """The values of one item, by the marks of its repeats in both runs; exact, whatever their numbers."""
    n, m = len(here), len(there)

    def moved(passed_here: int, passed_there: int) -> int:
        return n * m + passed_here * m - passed_there * n

    return PairValues(
        worst=moved(here.count("1"), m - there.count("0")),
        best=moved(n - here.count("0"), there.count("1")),
        most=2 * n * m,
    )


class PairedStopping:
    """Looks at finished items in the order in which they were to be asked, each beside the other run's.

    `order` lists the items' numbers. Raises: ValueError where the other run has not a mark for every sample.
    """

    def __init__(self, order: Sequence[int], repeats: int, error: float, other: OtherRun, spec: RubricSpec) -> None:
        from benchbook.statistics.sequences import FiniteBet  # loads NumPy

        if len(other.passes) != len(order) * other.repeats or set(other.passes) - set("10?"):
            raise ValueError(f"against {other.run_id}: not one of 1, 0 and ? for each of its samples")
        self._items: InOrder[str] = InOrder(order, repeats)
        self._error = error
        self._other = other
        self._spec = spec
        no_difference = repeats * other.repeats
        self._better, self._worse = (FiniteBet(_POPULATION, no_difference, or_more=False) for _ in range(2))
        self._n_won = self._n_lost = self._n_same = self._n_open = 0
        self.decision: EarlyDifference | None = None

    def add(self, sample: int, outcome: SampleOutcome) -> None:
        """Add a finished sample, `repeat * n_items + item`: each once, in any order."""
        if self.decision is not None:
            return
        self._items.add(sample, pass_mark(outcome, self._spec))
        for item, marks in self._items.take():
            there = self._other.passes[item :: self._items.n_items]
            self.decision = self._look_at(pair_values("".join(marks), there))
            if self.decision is not None:
                return

    def _look_at(self, values: PairValues) -> EarlyDifference | None:
        self._count(values)
        self._better.add(values.worst)
        self._worse.add(values.most - values.best)
        if self._items.n_taken == self._items.n_items:
            return None
        if self._better.shows(self._error / 2):
            return self._decided("better")
        return self._decided("worse") if self._worse.shows(self._error / 2) else None

    def _count(self, values: PairValues) -> None:
        none = values.most // 2
        self._n_won += values.worst > none
        self._n_lost += values.best < none
        self._n_same += values.worst == none == values.best
        self._n_open += values.worst <= none <= values.best and values.worst != values.best

    def _decided(self, verdict: PairVerdict) -> EarlyDifference:
        return EarlyDifference(
            verdict=verdict,
            against=self._other.run_id,
            after_items=self._items.n_taken,
            n_items=self._items.n_items,
            error=self._error,
            n_won=self._n_won,
            n_lost=self._n_lost,
            n_same=self._n_same,
            n_open=self._n_open,
        )
