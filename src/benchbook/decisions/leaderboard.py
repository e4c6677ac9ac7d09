"""Runs over one eval set, from best to worst, and which of them can't be told from the best."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from benchbook.decisions.comparison_items import ComparedRun
from benchbook.decisions.history import common_items
from benchbook.errors import UsageError
from benchbook.scorers.exact import NANO, as_float, mean

__all__ = ["Leaderboard", "Place", "leaderboard", "measured_by"]


class Place(msgspec.Struct, frozen=True, kw_only=True):
    """A run's place. Ranks count from 1, ties share one; `p_against_best` is Holm's, None for the best itself."""

    run: str
    model: str | None
    score: float | None
    rank: int
    rank_low: int | None
    rank_high: int | None
    p_against_best: float | None
    among_best: bool  # it can't be told from the best


class Leaderboard(msgspec.Struct, frozen=True, kw_only=True):
    """Places over the `n_items` items that every run has a score for; `n_left_out` others are not counted."""

    spec: str
    evalset: str | None
    n_items: int
    n_left_out: int
    confidence: float
    method: str
    seed: int
    places: tuple[Place, ...]
    n_clusters: int | None = None
    reason: str | None = None
    warnings: tuple[str, ...] = ()


def measured_by(run: ComparedRun) -> tuple[str, str]:
    """What runs on one leaderboard share: the scorer's version, and the hash of the eval set."""
    return run.spec, str(run.manifest.get("dataset_version_or_hash"))


def leaderboard(runs: Sequence[ComparedRun], *, confidence: float = 0.95, seed: int = 0) -> Leaderboard:
    """Rank runs by their mean score over the same items; items of one group are resampled together.

    Raises: UsageError without runs, and where they are over several eval sets or under several scorers.
    """
    if not runs:
        raise UsageError("a leaderboard needs a run")
    for run in runs[1:]:
        if measured_by(run) != measured_by(runs[0]):
            raise UsageError(
                f"{run.name} was scored under {' on eval set '.join(measured_by(run))}, {runs[0].name} under "
                f"{' on eval set '.join(measured_by(runs[0]))}; a leaderboard is over one eval set and one scorer"
            )
    from benchbook.statistics import rank_runs

    common, n_left_out = common_items(runs)
    scores = [common[f"score_nano_{place}"] for place in range(len(runs))]
    groups = common["group"]
    clusters = None
    if groups.null_count() < len(groups):  # an item without a group stands alone
        clusters = [place if group is None else group for place, group in enumerate(groups)]
    ranking = rank_runs(
        {str(place): one.to_numpy() / NANO for place, one in enumerate(scores)},
        clusters=clusters,
        confidence=confidence,
        seed=seed,
    )
    return Leaderboard(
        spec=runs[0].spec,
        evalset=runs[0].manifest.get("dataset_id"),
        n_items=len(common),
        n_left_out=n_left_out,
        confidence=confidence,
        method=ranking.method,
        seed=seed,
        n_clusters=ranking.n_clusters,
        reason=ranking.reason,
        warnings=ranking.warnings,
        places=tuple(
            Place(
                run=runs[int(one.name)].name,
                model=runs[int(one.name)].manifest.get("model_id"),
                score=as_float(mean(int(scores[int(one.name)].sum()), len(common))),
                rank=one.rank,
                rank_low=one.rank_low,
                rank_high=one.rank_high,
                p_against_best=one.p_against_best,
                among_best=one.among_best,
            )
            for one in ranking.runs
        ),
    )
