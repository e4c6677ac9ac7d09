"""A run's samples in parts: ranges of them in the order of the plan, each with its facts and its items.

An evaluator derives each part by itself, its rows and its sums, and merges the sums in the order of the parts: the same
bytes come of it however a run is cut (SPEC C2). A part can be sent to another process (`workers.py`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from benchbook.evalsets import EvalSet, Item
from benchbook.evaluators.candidate import CandidatePlan
from benchbook.record.facts import SampleFact
from benchbook.record.state import JournalState

SampleFacts = tuple[int, list[SampleFact]]
_MOST_SAMPLES = 4_096  # that are held at once
_ITEM_BYTES = 12 << 20  # of their items


class FactsInOrder(Protocol):
    """Gives the facts of samples in the order of the plan. It can be sent to another process with those of a range."""

    def ranges(self) -> Iterator[tuple[int, int]]:
        """Ranges of samples, one after the other, each with few enough facts to be held at once."""

    def between(self, first: int, end: int) -> list[SampleFacts]:
        """Each sample from `first` to before `end` that has facts, with these in the order of the journal."""

    def alone(self, first: int, end: int) -> FactsInOrder:
        """The facts of these samples, to be sent to another process."""


@dataclass(frozen=True, slots=True)
class SamplePart:
    """The samples from `first` to before `end`, few enough to be held at once. With `fills`, those without facts, too.

    `items` are those of the whole set; or of the samples from `items_from` on, in their order.
    """

    first: int
    end: int
    facts: FactsInOrder
    items: EvalSet
    n_items: int
    fills: bool = False
    items_from: int | None = None

    def read(self) -> tuple[list[SampleFacts], list[Item]]:
        """The samples with their facts, and the item of each."""
        found = self.facts.between(self.first, self.end)
        if self.fills:
            by_sample = dict(found)
            found = [(sample, by_sample.get(sample, [])) for sample in range(self.first, self.end)]
        if self.items_from is not None:
            return found, self.items.items_at([sample - self.items_from for sample, _ in found])
        return found, self.items.items_at([sample % self.n_items for sample, _ in found])


def alone(parts: Sequence[SamplePart]) -> list[SamplePart]:
    """Parts of one run that follow each other, to be sent to another process: with nothing of the others."""
    first, end, one = parts[0].first, parts[-1].end, parts[0]
    items = one.items.alone([sample % one.n_items for sample in range(first, end)])
    facts = one.facts.alone(first, end)
    return [replace(part, facts=facts, items=items, items_from=first) for part in parts]


def parts_of_run(state: JournalState, items: EvalSet, plan: CandidatePlan, *, fills: bool) -> Iterator[SamplePart]:
    """A run's samples in parts: those that have facts, or with `fills` all of the plan's."""
    at_once = min(_MOST_SAMPLES, max(_ITEM_BYTES // max(items.mean_bytes, 1), 1))
    for first, end in _ranges(state.index, plan.n_samples, fills=fills):
        for start in range(first, end, at_once):
            if state.index.on_sample is not None:
                state.index.on_sample(start)
            yield SamplePart(start, min(start + at_once, end), state.index, items, plan.n_items, fills)


def _ranges(facts: FactsInOrder, n_samples: int, *, fills: bool) -> Iterator[tuple[int, int]]:
    following = 0
    for first, end in facts.ranges():
        yield following if fills else first, end
        following = end
    if fills and following < n_samples:
        yield following, n_samples
