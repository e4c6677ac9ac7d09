"""Runs over one eval set, from best to worst, and which of them can't be told from the best."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Literal, get_args

import msgspec

from benchbook.comparison.items import GROUPINGS, ComparedRun
from benchbook.errors import UsageError
from benchbook.evaluators.exact import NANO, as_float, mean

if TYPE_CHECKING:
    import polars

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
    """The way of each item, such as learned (right from some run on), forgotten (the reverse) or flipping (both ways).

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


class Place(msgspec.Struct, frozen=True, kw_only=True):
    """A run's place. Ranks count from 1, ties share one; `p_against_best` is Holm's over all pairs of runs, None for
    the best itself.

    `n_unanswered` of the run's items are not among those ranked, for a reason that is not the model's (R1.3a); `note`
    says so, and whether the run has come to its end.
    """

    run: str
    model: str | None
    score: float | None
    rank: int
    rank_low: int | None
    rank_high: int | None
    p_against_best: float | None
    among_best: bool  # no run is shown to be better
    n_unanswered: int = 0
    note: str | None = None


class Apart(msgspec.Struct, frozen=True, kw_only=True):
    """A run that is not ranked, since it failed as a whole (A3) or has no score at all; `score` is what it came to."""

    run: str
    model: str | None
    score: float | None
    reason: str


class Leaderboard(msgspec.Struct, frozen=True, kw_only=True):
    """Places over the `n_items` items that every ranked run has a score for; `n_left_out` others are not counted.

    Rank intervals hold all at once with `confidence`: `method` says by which test of all `n_pairs` pairs of runs.
    """

    spec: str
    evalset: str | None
    n_items: int
    n_left_out: int
    confidence: float
    method: str
    n_pairs: int
    places: tuple[Place, ...]
    apart: tuple[Apart, ...] = ()
    n_clusters: int | None = None
    reason: str | None = None
    warnings: tuple[str, ...] = ()


def measured_by(run: ComparedRun) -> tuple[str, str, str]:
    """The identity of a leaderboard: the scorer's version, the hash of its files, and that of the eval set."""
    return run.spec, str(run.manifest.get("spec_sha256")), str(run.manifest.get("dataset_version_or_hash"))


def leaderboard(runs: Sequence[ComparedRun], *, confidence: float = 0.95) -> Leaderboard:
    """Rank runs by their mean score over the same items; items of one group vary together.

    Raises: UsageError without runs, and where they are over several eval sets or under several scorers.
    """
    if not runs:
        raise UsageError("a leaderboard needs a run")
    for run in runs[1:]:
        if measured_by(run) != measured_by(runs[0]):
            first, other = _measured_words(runs[0], run)
            raise UsageError(
                f"{run.name} was scored under {other}, {runs[0].name} under {first}; "
                "a leaderboard is over one eval set and one scorer"
            )
    from benchbook.statistics import rank_runs

    apart = [(run, why) for run in runs if (why := _why_apart(run)) is not None]
    names = {run.name for run, _ in apart}
    ranked = [run for run in runs if run.name not in names]
    common, n_left_out = common_items(ranked) if ranked else (None, 0)
    n_items = 0 if common is None else len(common)
    scores = [] if common is None else [common[f"score_nano_{place}"] for place in range(len(ranked))]
    clusters = None
    if common is not None and common["group"].null_count() < n_items:  # an item without a group stands alone
        clusters = [place if group is None else group for place, group in enumerate(common["group"])]
    ranking = rank_runs(
        {str(place): one.to_numpy() / NANO for place, one in enumerate(scores)},
        clusters=clusters,
        confidence=confidence,
    )
    return Leaderboard(
        spec=runs[0].spec,
        evalset=runs[0].manifest.get("dataset_id"),
        n_items=n_items,
        n_left_out=n_left_out,
        confidence=confidence,
        method=ranking.method,
        n_pairs=ranking.n_pairs,
        n_clusters=ranking.n_clusters,
        reason=ranking.reason,
        warnings=ranking.warnings,
        apart=tuple(
            Apart(run=run.name, model=run.manifest.get("model_id"), score=run.score, reason=why) for run, why in apart
        ),
        places=tuple(
            Place(
                run=ranked[int(one.name)].name,
                model=ranked[int(one.name)].manifest.get("model_id"),
                score=as_float(mean(int(scores[int(one.name)].sum()), n_items)),
                rank=one.rank,
                rank_low=one.rank_low,
                rank_high=one.rank_high,
                p_against_best=one.p_against_best,
                among_best=one.among_best,
                n_unanswered=ranked[int(one.name)].unanswered.n_items,
                note=_note(ranked[int(one.name)]),
            )
            for one in ranking.runs
        ),
    )


def _measured_words(*runs: ComparedRun) -> list[str]:
    """The scorer and eval set of each run, in words. Scorers of one name are told apart by their hashes."""
    measured = [measured_by(run) for run in runs]
    same_name = len({spec for spec, _, _ in measured}) == 1 < len({sha256 for _, sha256, _ in measured})
    return [f"{spec}{f' ({sha256})' if same_name else ''} on eval set {evalset}" for spec, sha256, evalset in measured]


def _why_apart(run: ComparedRun) -> str | None:
    """Why a run has no place among the others; None where it has one."""
    if run.why_failed is not None:
        return f"the run itself failed: {run.why_failed}"
    if run.score_nano is None:
        lacking = run.unanswered
        return f"nothing was answered ({', '.join(lacking.why)})" if lacking.n_items else "no item has a score"
    return None


def _note(run: ComparedRun) -> str | None:
    found = [] if run.not_complete is None else [f"not complete: {run.not_complete}"]
    lacking = run.unanswered
    if lacking.n_items:
        found.append(f"{lacking.n_items:,} of {len(run.items):,} items not answered ({', '.join(lacking.why)})")
    return "; ".join(found) or None
