"""The folder of runs whose answers a judge compares in pairs: its plan, and a record for each order of each pair.

PAIRS/pairs.json     the plan
PAIRS/sources/1/, …  a copy of each run whose answers they are
PAIRS/pairs@v1/      the rubric, unless it is one of the user's own
PAIRS/1-2/, PAIRS/2-1/, …   a record for each order: the first number's answers are shown first

Rankings are no files: they follow from the records.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import combinations
from pathlib import Path
from typing import Any

import msgspec

from benchbook.errors import RecordError
from benchbook.evaluators.registry import is_complete
from benchbook.record.folder import Record, is_record
from benchbook.record.planned_folders import PlannedFolders

RULES = "pairs_shown@v1"
PLAN, SOURCES, PAIRS = "pairs.json", "sources", "pairs"
MOST_RUNS = 100  # of one comparison: 9,900 records
RUBRIC = "pairs"  # the name of the rubric that is used where none is given: pairs@v1


class PairSource(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A run whose answers are compared. `model` names it in rankings: its model, or the run where several have that."""

    model: str
    run_id: str
    run_sha256: str


class PairsPlan(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Everything that the records follow from, beside the answers and the judge.

    `baseline` is the place, from 0, of the run that the others are held against; None: each against each. `n` are the
    items to draw, None all that two runs share. `settings` are those of the judge and its limits, without keys.
    """

    pairs_id: str
    rules: str
    sources: tuple[PairSource, ...]
    baseline: int | None
    n: int | None
    seed: int
    settings: Mapping[str, Any]

    @property
    def pairs(self) -> list[tuple[int, int]]:
        """The places of the runs that are compared, from 0, the smaller first."""
        every = combinations(range(len(self.sources)), 2)
        return [pair for pair in every if self.baseline is None or self.baseline in pair]

    @property
    def orders(self) -> list[tuple[int, int]]:
        """Both orders of each pair, one after the other."""
        return [order for one, other in self.pairs for order in ((one, other), (other, one))]


class PairsFolder:
    """Runs in pairs, in a folder. Nothing but its plan is read until it is asked for."""

    def __init__(self, path: Path, plan: PairsPlan) -> None:
        self.path, self.plan = path, plan

    @property
    def sources(self) -> list[Record]:
        return [Record(self.path / SOURCES / str(number + 1)) for number in range(len(self.plan.sources))]

    @property
    def spec(self) -> str:
        """The rubric that is asked by: the user's, or the one that the folder has."""
        return str(self.plan.settings.get("spec") or self.path / f"{RUBRIC}@v1")

    def order(self, first: int, second: int) -> Record:
        """The record in which `first`'s answers are shown first, whether it is there or not; both count from 0."""
        return Record(self.path / f"{first + 1}-{second + 1}")

    def asked(self) -> Iterator[Record]:
        """The records that are there and that the judge was asked for."""
        return (one for order in self.plan.orders if is_record((one := self.order(*order)).path))

    def lacking(self) -> str | None:
        """The name of the first record that is not complete; None where all are."""
        every = (self.order(*order) for order in self.plan.orders)
        return next((one.path.name for one in every if not is_complete(one)), None)


PLANNED = PlannedFolders(PLAN, PairsPlan, RULES, "runs in pairs")


def is_pairs(path: str | Path) -> bool:
    """True if the folder is one of runs in pairs."""
    return PLANNED.is_one(path)


def open_pairs(path: str | Path) -> PairsFolder:
    """The runs in pairs of a folder. Raises: UsageError for another; RecordError for a plan that can't be read."""
    plan = PLANNED.plan_in(path)
    n = len(plan.sources)
    if not 2 <= n <= MOST_RUNS or not (plan.baseline is None or 0 <= plan.baseline < n):
        expected = f"2 to {MOST_RUNS} sources, and the place of one of them as the baseline"
        raise RecordError(f"{Path(path) / PLAN}: found {n:,} and {plan.baseline}; expected {expected}")
    return PairsFolder(Path(path), plan)


def pairs_named(name: str, folder: str | Path) -> PairsFolder:
    """The runs in pairs that a user means: a path, or an id in `folder`. Raises: as `open_pairs`."""
    return open_pairs(PLANNED.named(name, folder))


def pairs_in(folder: str | Path) -> list[PairsFolder]:
    """The runs in pairs in a folder, by their names; those that can't be read are passed over."""
    return [open_pairs(path) for path in PLANNED.paths_in(folder)]
