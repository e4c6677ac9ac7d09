"""The metrics that runs are compared by: the score, passing, the diagnosis of A7, and what else their samples have.

Each is a mean over items. Beside these, a run has aggregates of its own, such as a percentile of latency: no test of a
pair of runs is known for them, item by item.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from benchbook.comparison.items import ComparedRun
from benchbook.comparison.pairing import common_metrics
from benchbook.errors import UsageError
from benchbook.evaluators.contract import ComparedMetric
from benchbook.evaluators.intervals import rate_interval
from benchbook.statistics import Estimate, bounded_mean, mean_interval
from benchbook.statistics.bounded import jeffreys, rescaled
from benchbook.text import did_you_mean

# Their columns are those of `compared_items`.
SCORE = ComparedMetric("score", "score_nano", "score", 0, 1)
PASSING = ComparedMetric("passing", "correct", "score", 0, 1)
CONTAINED = ComparedMetric("contained", "contained", "score", 0, 1)
_OWN = frozenset({SCORE.name, PASSING.name, CONTAINED.name})


class OwnNumber(NamedTuple):
    """A run's own number, over all that it has, with its interval; `reason` says why there is no interval."""

    value: float | None
    low: float | None = None
    high: float | None = None
    n: int | None = None  # what it is the mean of: scored samples, or items
    reason: str | None = None


def metrics_of(runs: Sequence[ComparedRun]) -> tuple[ComparedMetric, ...]:
    """The metrics that all of these runs have, the score first."""
    columns = [run.columns for run in runs]
    found = [SCORE]
    if all(one.is_graded for one in columns):
        found.append(PASSING)
    if all(one.tells_containment for one in columns):
        found.append(CONTAINED)
    shared = columns[0].metrics
    for one in columns[1:]:
        shared = tuple(metric for metric in shared if metric in common_metrics(columns[0], one))
    return (*found, *(one for one in shared if any(_has(run, one.name) for run in runs)))


def _has(run: ComparedRun, name: str) -> bool:
    return name in run.items.columns and run.items[name].null_count() < len(run.items)


def metric_named(name: str, runs: Sequence[ComparedRun]) -> ComparedMetric:
    """Raises: UsageError for a metric that not all of the runs have."""
    known = {one.name: one for one in metrics_of(runs)}
    if name not in known:
        raise UsageError(
            f"{name}: no metric that all of these runs have{did_you_mean(name, known)}; expected {', '.join(known)}"
        )
    return known[name]


def in_nano(metric: ComparedMetric) -> bool:
    """True of what is compared exactly, in billionths: the score, and what is true or not of an item."""
    return metric.name in _OWN


def column_of(metric: ComparedMetric) -> str:
    """Its column in `compared_items`; in paired items, with `_a` or `_b` behind it."""
    return metric.column if in_nano(metric) else metric.name


def own_number(run: ComparedRun, metric: ComparedMetric, confidence: float = 0.95) -> OwnNumber:
    """A run's mean of a metric. The score is the aggregate that stands for the run, with the interval it has there."""
    if metric == SCORE:
        return OwnNumber(run.score, run.whole.score.low, run.whole.score.high, int(run.items["n_scored"].sum()))
    if column_of(metric) not in run.items.columns:
        return OwnNumber(None)
    rows = run.items.select("group", value=column_of(metric)).drop_nulls("value")
    if rows.is_empty():
        return OwnNumber(None, n=0)
    groups = rows["group"]
    clusters = None
    if groups.null_count() < len(groups):  # an item without a group stands alone
        clusters = [place if group is None else group for place, group in enumerate(groups)]
    if in_nano(metric):
        return _share([bool(one) for one in rows["value"]], clusters, confidence)
    return _mean(rows["value"].to_numpy(), metric, clusters, confidence)


def _share(values: Sequence[bool], clusters: Sequence[object] | None, confidence: float) -> OwnNumber:
    sizes: dict[object, list[int]] = {}
    for value, cluster in zip(values, clusters or (), strict=False):
        size = sizes.setdefault(cluster, [0, 0])
        size[0] += 1
        size[1] += value
    k, n = sum(values), len(values)
    found = rate_interval(k, n, [(size, true) for size, true in sizes.values()], confidence)
    return OwnNumber(round(k / n, 9), found.low, found.high, n, found.reason)


def _mean(values: Any, metric: ComparedMetric, clusters: Sequence[object] | None, confidence: float) -> OwnNumber:
    found: Estimate
    if metric.highest is None:
        found = mean_interval(values, clusters=clusters, confidence=confidence)
    elif clusters is None:  # as an evaluator has it for its aggregates
        width = metric.highest - metric.lowest
        share = (values - metric.lowest) / width
        alone = jeffreys(len(share), float(share.mean()), float(share.var()), confidence, unseen=True)
        found = rescaled(alone, metric.lowest, width)
    else:
        found = bounded_mean(
            values, lowest=metric.lowest, highest=metric.highest, clusters=clusters, confidence=confidence
        )
    low, high = (None if one is None else round(one, 9) for one in (found.low, found.high))
    low = low if low is None else max(low, metric.lowest)
    return OwnNumber(round(float(values.mean()), 9), low, high, len(values), found.reason)
