"""Runs over one eval set, from best to worst, and which of them can't be told from the best."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal, get_args

import msgspec

from benchbook.comparison.contenders import ASKED, Contender, RankMetric, contenders, on_scale, rows_in_common
from benchbook.comparison.items import GROUPINGS, ComparedRun
from benchbook.comparison.measures import SCORE
from benchbook.errors import UsageError
from benchbook.evaluators.exact import NANO, as_float, mean

if TYPE_CHECKING:
    import polars

    from benchbook.statistics import RankedRun

HistoryName = Literal["learned", "forgotten", "flipping", "always_correct", "never_correct"]
HISTORIES: tuple[HistoryName, ...] = get_args(HistoryName)
Mark = Literal["correct", "contained"]


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

    Facts are the first run's; `correct` and `contained` have the run's place behind their names.
    """
    import polars as pl

    scored = [run.items.filter(pl.col("n_scored") > 0) for run in runs]
    rows, n_left_out = rows_in_common(scored)
    outcomes = [
        items[chosen].select(pl.col("correct", "contained").name.suffix(f"_{place}"))
        for place, (items, chosen) in enumerate(zip(scored, rows, strict=True))
    ]
    return pl.concat([scored[0][rows[0]].select(*ASKED, *GROUPINGS), *outcomes], how="horizontal"), n_left_out


RankStanding = Literal["best", "among_best", "behind", "alone", "not_told"]
"""The meaning of a rank. `best`: better than all others here; `among_best`: no other is shown to be better; `behind`:
another is; `alone`: it is the only run that is ranked; `not_told`: ranks can't be told apart here."""


BestIs = Literal["one", "several", "none", "not_told"]
"""Of two ranked runs or more: `one` is better than all others; `several` may be the best; `none` scores above 0;
`not_told`: ranks can't be told apart."""


class Place(msgspec.Struct, frozen=True, kw_only=True):
    """A run's place, and the mean that it is ranked by.

    Ranks count from 1, ties share one; `p_against_best` is Holm's over all pairs of runs, None for the best itself.
    Rank intervals are null where ranks can't be told (`Leaderboard.reason`).

    `n_unanswered` of the run's items are not among those ranked, for a reason that is not the model's (R1.3a); `note`
    says so, and whether no item of it scores above 0.
    """

    run: str
    model: str | None
    score: float | None
    rank: int
    rank_low: int | None
    rank_high: int | None
    p_against_best: float | None
    among_best: bool  # no run is shown to be better
    standing: RankStanding
    n_unanswered: int = 0
    note: str | None = None


class Apart(msgspec.Struct, frozen=True, kw_only=True):
    """A run that is not ranked: it failed as a whole (A3), has not come to its end, or has no score. `score` is what it
    came to."""

    run: str
    model: str | None
    score: float | None
    reason: str


class Leaderboard(msgspec.Struct, frozen=True, kw_only=True):
    """Places over the `n_items` items that every ranked run has a score for; `n_left_out` others are not counted. All
    runs are in `places`, from the best on, or `apart`. They are ranked by `metric`, one of `metrics`.

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
    best: BestIs | None = None
    metric: str = SCORE.name
    metrics: tuple[RankMetric, ...] = ()
    n_clusters: int | None = None
    reason: str | None = None
    warnings: tuple[str, ...] = ()


def leaderboard(runs: Iterable[ComparedRun], *, metric: str = SCORE.name, confidence: float = 0.95) -> Leaderboard:
    """Rank runs by their mean score over the same items, or by another metric; items of one group vary together.

    Raises: UsageError without runs, where they are over several eval sets or under several scorers, and for a metric
    that they can't be ranked by.
    """
    return board(contenders(runs, metric), confidence=confidence)


def board(contenders: Iterable[Contender], *, confidence: float = 0.95) -> Leaderboard:
    """As `leaderboard`."""
    from benchbook.statistics import rank_runs

    every = list(contenders)
    _check(every)
    apart = [(run, run.why_apart) for run in every if run.why_apart is not None]
    ranked = [run for run in every if run.why_apart is None]
    rows, n_left_out = rows_in_common([run.asked for run in ranked]) if ranked else ([], 0)
    n_items = len(rows[0]) if rows else 0
    if not n_items:
        apart += [(run, "no item has a score in every run") for run in ranked]
        ranked = []
    shares = [run.share_nano[chosen.to_numpy()] for run, chosen in zip(ranked, rows, strict=False)]
    ranking = rank_runs(
        {str(place): one / NANO for place, one in enumerate(shares)},
        clusters=_clusters(ranked[0].asked["group"][rows[0]]) if ranked else None,
        higher_is_better=every[0].metric.higher_is_better,
        confidence=confidence,
    )
    n_best = sum(one.among_best for one in ranking.runs)

    def place(found: RankedRun) -> Place:
        at = int(found.name)
        return _place(ranked[at], found, shares[at], _standing(found, n_best, len(ranked)))

    places = tuple(map(place, ranking.runs))
    return Leaderboard(
        spec=every[0].measured[0],
        evalset=every[0].evalset,
        n_items=n_items,
        n_left_out=n_left_out,
        confidence=confidence,
        method=ranking.method,
        n_pairs=ranking.n_pairs,
        n_clusters=ranking.n_clusters,
        reason=ranking.reason,
        warnings=ranking.warnings,
        apart=tuple(Apart(run=run.name, model=run.model, score=run.score, reason=why) for run, why in apart),
        places=places,
        best=_best_of(places),
        metric=every[0].metric.name,
        metrics=every[0].metrics,
    )


def _check(runs: Sequence[Contender]) -> None:
    if not runs:
        raise UsageError("a leaderboard needs a run")
    for run in runs[1:]:
        if run.measured != runs[0].measured:
            first, other = _measured_words(runs[0], run)
            raise UsageError(
                f"{run.name} was scored under {other}, {runs[0].name} under {first}; "
                "a leaderboard is over one eval set and one scorer"
            )


def _clusters(groups: polars.Series) -> list[str | int] | None:
    """An item's group, or its own place: an item without a group stands alone. None where no item has one."""
    if groups.null_count() == len(groups):
        return None
    return [place if group is None else group for place, group in enumerate(groups)]


def _place(run: Contender, found: RankedRun, share_nano: Any, standing: RankStanding) -> Place:
    return Place(
        run=run.name,
        model=run.model,
        score=on_scale(as_float(mean(int(share_nano.sum()), len(share_nano))), run.metric),
        rank=found.rank,
        rank_low=found.rank_low,
        rank_high=found.rank_high,
        p_against_best=found.p_against_best,
        among_best=found.among_best,
        standing=standing,
        n_unanswered=run.n_unanswered,
        note=run.note,
    )


def _standing(found: RankedRun, n_best: int, n_ranked: int) -> RankStanding:
    if found.rank_low is None:
        return "not_told"
    if not found.among_best:
        return "behind"
    if n_best > 1:
        return "among_best"
    return "best" if n_ranked > 1 else "alone"


def _best_of(places: Sequence[Place]) -> BestIs | None:
    if len(places) < 2:
        return None
    if places[0].rank_low is None:
        return "not_told"
    if not places[0].score:
        return "none"
    return "one" if places[0].standing == "best" else "several"


def _measured_words(*runs: Contender) -> list[str]:
    """The scorer and eval set of each run, in words. Scorers of one name are told apart by their hashes."""
    measured = [run.measured for run in runs]
    same_name = len({spec for spec, _, _ in measured}) == 1 < len({sha256 for _, sha256, _ in measured})
    return [f"{spec}{f' ({sha256})' if same_name else ''} on eval set {evalset}" for spec, sha256, evalset in measured]
