"""All runs of a comparison by one metric: each one's own number, how it differs from the baseline's, and its rank."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import msgspec

from benchbook.comparison.contenders import measured_by
from benchbook.comparison.difference import Difference, Verdict
from benchbook.comparison.items import ComparedRun
from benchbook.comparison.leaderboard import Leaderboard, leaderboard
from benchbook.comparison.measures import SCORE, OwnNumber, metrics_of, own_number
from benchbook.errors import UsageError
from benchbook.text import did_you_mean

if TYPE_CHECKING:
    from benchbook.comparison.compared import Comparison, ComparisonSet

SEVERAL_SETS = "the runs are not over one eval set under one evaluator"
NO_UPPER_END = "it has no upper end, by which all pairs of runs could be tested at once"
OF_WHOLE_RUNS = "it is a number of each run as a whole: no test of two runs is known for it, item by item"


class RunByMetric(msgspec.Struct, frozen=True, kw_only=True):
    """A run among others by one metric. `value` is its own, over the `n` that it has.

    `difference` is the run's less the baseline's, over the items of both; with `p_holm` and `verdict`, which is by it,
    null of the baseline itself. Ranks count from 1, and are null where runs can't be ranked; `note` says what is to be
    known of the run, `reason` why there is no interval.
    """

    run: str
    model: str | None
    value: float | None
    low: float | None
    high: float | None
    n: int | None
    difference: Difference | None
    p_holm: float | None
    verdict: Verdict | None
    rank: int | None = None
    rank_low: int | None = None
    rank_high: int | None = None
    among_best: bool | None = None
    note: str | None = None
    reason: str | None = None


class RunsByMetric(msgspec.Struct, frozen=True, kw_only=True):
    """The rows, in the order of the runs. Ranks are over the `n_ranked` items that every run has; `unranked` says why
    there are none.
    """

    metric: str
    rows: tuple[RunByMetric, ...]
    n_ranked: int | None
    unranked: str | None


class MetricChoice(msgspec.Struct, frozen=True, kw_only=True):
    """A metric that runs can be shown by. `by_items`: the runs are tested by it, item by item; else it is an aggregate
    of each run as a whole, and nobody says which way is better.
    """

    name: str
    higher_is_better: bool | None
    by_items: bool


def choices(runs: Sequence[ComparedRun]) -> tuple[MetricChoice, ...]:
    """The metrics that these runs can be shown by: those of items, then each one's aggregates, of gates first."""
    of_items = metrics_of(runs)
    taken = {one.name for one in of_items} | {run.whole.primary for run in runs}  # that is the score
    gated = (name for run in runs for name in run.whole.gated)
    others = (name for run in runs for name in run.whole.aggregates)
    whole = [name for name in dict.fromkeys([*gated, *others]) if name not in taken and _is_known(name, runs)]
    return (
        *(MetricChoice(name=one.name, higher_is_better=one.higher_is_better, by_items=True) for one in of_items),
        *(MetricChoice(name=name, higher_is_better=None, by_items=False) for name in whole),
    )


def _is_known(name: str, runs: Sequence[ComparedRun]) -> bool:
    return any((number := run.whole.aggregates.get(name)) is not None and number.value is not None for run in runs)


def chosen(name: str, runs: Sequence[ComparedRun]) -> MetricChoice:
    """Raises: UsageError for a metric that these runs can't be shown by."""
    known = {one.name: one for one in choices(runs)}
    if name not in known:
        raise UsageError(
            f"metric {name}: these runs have none of that name{did_you_mean(name, known)}; expected {', '.join(known)}"
        )
    return known[name]


def differences_by_metric(pair: Comparison) -> Mapping[str, Difference]:
    """Every difference of a pair, by its metric's name."""
    found = {SCORE.name: pair.score}
    if pair.passing is not None:
        found["passing"] = pair.passing
    if pair.containment is not None:
        found["contained"] = pair.containment.difference
    return found | {one.name: one.difference for one in pair.metrics}


def by_metric(found: ComparisonSet) -> RunsByMetric:
    """All runs of a set by the metric that it was asked for."""
    against = {
        pair.b.name: difference
        for pair in found.pairs
        if (difference := differences_by_metric(pair).get(found.by)) is not None
    }
    return runs_by_metric(found.runs, against, found.by, confidence=found.pairs[0].score.confidence)


def runs_by_metric(
    runs: Sequence[ComparedRun],
    against: Mapping[str, Difference],
    name: str = SCORE.name,
    *,
    confidence: float = 0.95,
) -> RunsByMetric:
    """The runs by a metric. `against` has, by a run's name, its difference from the baseline.

    Raises: UsageError for a metric that they can't be shown by.
    """
    choice = chosen(name, runs)
    if not choice.by_items:
        whole = (_whole(run, name) for run in runs)
        rows = tuple(_row(run, number, None) for run, number in zip(runs, whole, strict=True))
        return RunsByMetric(metric=name, rows=rows, n_ranked=None, unranked=OF_WHOLE_RUNS)
    metric = next(one for one in metrics_of(runs) if one.name == name)
    own = (own_number(run, metric, confidence) for run in runs)
    rows = tuple(_row(run, number, against.get(run.name)) for run, number in zip(runs, own, strict=True))
    if len({measured_by(run) for run in runs}) > 1:
        return RunsByMetric(metric=name, rows=rows, n_ranked=None, unranked=SEVERAL_SETS)
    if metric.highest is None:
        return RunsByMetric(metric=name, rows=rows, n_ranked=None, unranked=NO_UPPER_END)
    return _placed(rows, leaderboard(runs, metric=name, confidence=confidence))


def _whole(run: ComparedRun, name: str) -> OwnNumber:
    return OwnNumber(*run.whole.aggregates.get(name, (None, None, None)))


def _row(run: ComparedRun, own: OwnNumber, difference: Difference | None) -> RunByMetric:
    return RunByMetric(
        run=run.name,
        model=run.manifest.get("model_id"),
        value=own.value,
        low=own.low,
        high=own.high,
        n=own.n,
        difference=difference,
        p_holm=None if difference is None else difference.p_adjusted,
        verdict=None if difference is None else difference.verdict,
        reason=own.reason,
    )


def _placed(rows: Sequence[RunByMetric], board: Leaderboard) -> RunsByMetric:
    places = {place.run: place for place in board.places}
    apart = {one.run: one.reason for one in board.apart}
    return RunsByMetric(
        metric=board.metric,
        rows=tuple(
            msgspec.structs.replace(
                row,
                rank=place.rank,
                rank_low=place.rank_low,
                rank_high=place.rank_high,
                among_best=place.among_best,
                note=place.note,
            )
            if (place := places.get(row.run)) is not None
            else msgspec.structs.replace(row, note=apart.get(row.run))
            for row in rows
        ),
        n_ranked=board.n_items,
        unranked=None,
    )
