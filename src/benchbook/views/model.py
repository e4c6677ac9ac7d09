"""What a report is made of."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from typing import Any, Protocol

from benchbook.evalsets import Item
from benchbook.evaluators.rubric.release import Decision
from benchbook.evaluators.rubric.rows import AggregatesFile, Manifest, RubricRow
from benchbook.labels.panel import PanelAnalysis

__all__ = ["AnyReport", "Items", "RunReport"]


# Finds `(sample, item)` for samples by their numbers, one at a time: an item may be long.
Items = Callable[[Collection[int]], Iterator[tuple[int, Item]]]


class AnyReport(Protocol):
    """A report of a run of any spec: parts that are alike take it."""

    @property
    def manifest(self) -> Any: ...


@dataclass(frozen=True)
class RunReport:
    """One `rubric@v1` run, ready to be shown.

    `rows` starts a new pass over the samples, in the plan's order; a report never holds them all. `decision` is None
    where the manifest lacks metadata of R7.1, and a decision is refused. `items` finds what samples were asked.
    """

    manifest: Manifest
    aggregates: AggregatesFile
    decision: Decision | None
    rows: Callable[[], Iterator[RubricRow]]
    items: Items
    panel: PanelAnalysis | None = None  # None where one judge judged
