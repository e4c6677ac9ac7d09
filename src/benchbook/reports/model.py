"""What a report is made of."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol

from benchbook.decisions import Decision
from benchbook.derivations.rows import AggregatesFile, Manifest, RubricRow

__all__ = ["AnyReport", "RunReport"]


class AnyReport(Protocol):
    """A report of a run of any spec: parts that are alike take it."""

    @property
    def manifest(self) -> Any: ...


@dataclass(frozen=True)
class RunReport:
    """One `rubric@v1` run, ready to be shown.

    `rows` starts a new pass over the samples, in the plan's order; a report never holds them all. `decision` is None
    where the manifest lacks metadata of R7.1, and a decision is refused.
    """

    manifest: Manifest
    aggregates: AggregatesFile
    decision: Decision | None
    rows: Callable[[], Iterator[RubricRow]]
