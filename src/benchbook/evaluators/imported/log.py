"""An imported log, as a record's first fact describes it."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable

import msgspec

from benchbook.canonical import canonical_json

IMPORTED = "imported"  # what a record's first fact calls its evaluator
SPEC = "imported@v1"
_NO_COLUMN = re.compile(r"[^A-Za-z0-9]+")
_LONGEST = 60  # characters of a column's name
_NOT_ENDED = {
    "being_written": "its log is still being written, or was cut off",
    "failed": "its log says that it failed",
    "cancelled": "its log says that it was cancelled",
}


class ImportedScorer(msgspec.Struct, frozen=True, kw_only=True):
    """One of the log's scorers. `column` begins the names of its columns in samples.parquet.

    `lowest` and `highest` are the ends of its scale, as the log or whoever imported it has it; None: not known.
    `is_rate`: every score that it gave is an end of that scale.
    """

    name: str
    column: str
    lowest: float | None
    highest: float | None
    higher_is_better: bool
    judge: str | None
    passes_at: float | None
    is_rate: bool


class ImportedLog(msgspec.Struct, frozen=True, kw_only=True):
    """All that the log says of itself. `headline` is the scorer whose values are the record's score; None for none.

    `n_claimed` is how many samples it says it has, `n_held` how many are in it; `notes` are sentences about it.
    """

    tool: str
    tool_version: str | None
    form: str
    task: str
    status: str
    scorers: tuple[ImportedScorer, ...]
    headline: str | None
    n_claimed: int | None
    n_held: int
    created_at: str | None = None
    dataset: str | None = None
    dataset_version: str | None = None
    error: str | None = None
    notes: tuple[str, ...] = ()

    @property
    def headline_scorer(self) -> ImportedScorer | None:
        return next((one for one in self.scorers if one.name == self.headline), None)

    @property
    def not_ended(self) -> str | None:
        """How an eval stands that did not come to its end, by what its log says; None for any other."""
        return _NOT_ENDED.get(self.status)

    @property
    def scored_by(self) -> str:
        """The tool, and the scorer that stands first: by this a run's scores are told from another's."""
        return f"{self.tool}: {self.headline or 'no scorer'}"

    @property
    def sha256(self) -> str:
        """The hash of what the scores mean: the tool, the scorers with their scales, and which stands first."""
        said = {"tool": self.tool, "scorers": msgspec.to_builtins(self.scorers), "headline": self.headline}
        return hashlib.sha256(canonical_json(said)).hexdigest()


def columns_of(names: Iterable[str]) -> list[str]:
    """A column's name for each scorer's, of letters, digits and `_`; no two are alike."""
    taken: set[str] = set()
    columns = []
    for name in names:
        plain = "scorer_" + (_NO_COLUMN.sub("_", name).strip("_").lower()[:_LONGEST] or "unnamed")
        column, n = plain, 1
        while column in taken:
            n += 1
            column = f"{plain}_{n}"
        taken.add(column)
        columns.append(column)
    return columns
