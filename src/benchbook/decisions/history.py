"""Each item's way through three or more runs, in the order they are given: learned, forgotten, flipping (SPEC A11)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Literal, get_args

from benchbook.decisions.comparison_items import GROUPINGS, ComparedRun
from benchbook.errors import UsageError

if TYPE_CHECKING:
    import polars

__all__ = ["HISTORIES", "History", "HistoryName", "Mark", "common_items", "history"]

HistoryName = Literal["learned", "forgotten", "flipping", "always_correct", "never_correct"]
HISTORIES: tuple[HistoryName, ...] = get_args(HistoryName)
Mark = Literal["correct", "contained"]

_ASKED = ("item_id", "prompt", "expected", "context")


@dataclass(frozen=True, slots=True)
class History:
    """`items` has a row for each item with a score in every run: item_id, section, category, difficulty, prompt,
    expected, `history` (one of HISTORIES) and `marks`, a 1 or 0 a run, such as `0011`.

    `by` says what a 1 is: `correct` (in most of its repeats), or `contained`, the diagnosis of A7.
    """

    runs: tuple[str, ...]
    by: Mark
    items: polars.DataFrame
    counts: Mapping[HistoryName, int]
    n_right: tuple[int, ...]  # a run: how many of these items have a 1
    n_left_out: int  # items that not every run has, asks alike and scored


def history(runs: Sequence[ComparedRun], by: Mark = "correct") -> History:
    """Learned: wrong, and from some run on right. Forgotten: right, and from some run on wrong. Flipping: both ways.

    Raises: UsageError for fewer than three runs: two have a comparison.
    """
    import polars as pl

    if len(runs) < 3:
        raise UsageError(f"{len(runs)} runs have no history; expected three or more")
    common, n_left_out = common_items(runs)
    names = [f"{by}_{place}" for place in range(len(runs))]
    right = [pl.col(name).cast(pl.Int64) for name in names]
    n_changes = pl.sum_horizontal(before != after for before, after in pairwise(right))
    first, last = pl.col(names[0]), pl.col(names[-1])
    items = common.select(
        "item_id",
        *GROUPINGS,
        "prompt",
        "expected",
        history=pl.when(n_changes > 1)
        .then(pl.lit("flipping"))
        .when(first & last)
        .then(pl.lit("always_correct"))
        .when(first)
        .then(pl.lit("forgotten"))
        .when(last)
        .then(pl.lit("learned"))
        .otherwise(pl.lit("never_correct"))
        .cast(pl.Enum(HISTORIES)),
        marks=pl.concat_str(right),
    )
    sizes = dict(items["history"].value_counts().iter_rows())
    return History(
        runs=tuple(run.name for run in runs),
        by=by,
        items=items,
        counts={name: sizes.get(name, 0) for name in HISTORIES},
        n_right=tuple(int(common[name].sum()) for name in names),
        n_left_out=n_left_out,
    )


def common_items(runs: Sequence[ComparedRun]) -> tuple[polars.DataFrame, int]:
    """The items that every run has, asks alike and scored, in the first run's order; and how many others there are.

    Facts are the first run's; `score_nano`, `correct` and `contained` have the run's place behind their names.
    """
    import polars as pl

    outcomes = ("score_nano", "correct", "contained")
    scored = [run.items.filter(pl.col("n_scored") > 0) for run in runs]
    common = scored[0].select(*_ASKED, *GROUPINGS, "group", *(pl.col(name).alias(f"{name}_0") for name in outcomes))
    for place, items in enumerate(scored[1:], 1):
        columns = items.select(*_ASKED, *(pl.col(name).alias(f"{name}_{place}") for name in outcomes))
        common = common.join(columns, on=_ASKED, how="inner", nulls_equal=True, maintain_order="left")
    every = pl.concat([run.items.select(_ASKED) for run in runs]).n_unique()
    return common, every - len(common)
