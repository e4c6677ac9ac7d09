"""How many samples would settle a gate that its bounds leave open, and how few can be READY at all (SPEC R6.4)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import ceil, sqrt
from typing import Literal

from benchbook.evaluators.exact import NANO
from benchbook.evaluators.gates import Gate, Threshold, ToSettle, thresholds
from benchbook.evaluators.intervals import Interval
from benchbook.evaluators.rubric.gate_sums import GateSums, asks_for, gate_sums, is_latency
from benchbook.evaluators.rubric.tally import ClusterSums, RubricTally
from benchbook.statistics.bounded_means import design_of
from benchbook.statistics.from_sums import (
    clustered_jeffreys_of_sums,
    clustered_mean_of_sums,
    spread_of_sums,
    t_interval_of_sums,
)
from benchbook.statistics.one_sided import Side, least_to_show
from benchbook.statistics.planning import (
    MOST_VALUES,
    n_to_settle_bounded_mean,
    n_to_settle_mean,
    n_to_settle_percentile,
    n_to_settle_rate,
)
from benchbook.statistics.results import Estimate

__all__ = ["FEWEST", "METHOD", "WHY_NOT", "least_by_gate", "least_for_ready", "needed", "to_settle"]


FEWEST = 10  # samples, or clusters of them: fewer say too little of how far the next ones will lie apart
_P95 = 0.95

WHY_NOT: Mapping[str, str] = {
    "on_the_limit": "its value is the limit itself, so no number of samples is enough",
    "too_few": f"fewer than {FEWEST} samples, or clusters of samples, say too little of what more of them would show",
    "too_many": "more than a million samples would not be enough",
    "unscored_alone": "more samples are not what it lacks: it depends on those that have no score",
    "no_variance": "all samples score alike, so nothing tells how far others would lie apart",
    "no_data": "there is no value to go by",
}
"""Every `reason` for which no number can be told, with its sentence."""


def to_settle(gate: Gate, interval: Interval, tally: RubricTally) -> ToSettle:
    """What would settle `gate`, whose interval leaves it open, by the method that made the interval."""
    would: Literal["hold", "fail"] = "hold" if gate.holds else "fail"
    n_unscored = 0 if gate.aggregate.startswith("latency") else tally.n_samples - tally.n_scored
    needed: int | None = None
    reason: str | None = None
    if gate.value is None:
        reason = "no_data"
    elif _is_settled(gate, interval):
        reason = "unscored_alone"
    elif gate.margin == 0:
        reason = "on_the_limit"
    elif min(interval.n, _n_clusters(gate.aggregate, tally) or interval.n) < FEWEST:
        reason = "too_few"
    else:
        needed, reason = _needed(gate, interval, tally)
    # Counts are whole: at this very number the bound does not keep the limit yet, whatever the formula says of it.
    needed = None if needed is None else max(needed, interval.n + 1)
    return ToSettle(
        would=None if reason == "unscored_alone" else would,
        n=interval.n,
        n_in_all=needed,
        n_more=None if needed is None else needed - interval.n,
        n_unscored=n_unscored,
        method=interval.method,
        reason=reason,
    )


def _is_settled(gate: Gate, interval: Interval) -> bool:
    """Whether the interval lies on one side of the limit already: then only unscored samples leave the gate open."""
    if gate.holds:
        return gate.bound_holds is True
    far = interval.high if gate.direction == "at_least" else interval.low
    return far is not None and (far < gate.limit if gate.direction == "at_least" else far > gate.limit)


def _needed(gate: Gate, interval: Interval, tally: RubricTally) -> tuple[int | None, str | None]:
    """`(samples in all, None)`, or `(None, why not)`."""
    match gate.aggregate:
        case "aggregate_score":
            return _for_mean(tally, gate.limit, interval)
        case "pass_rate":
            return _for_rate(
                tally.n_passed, tally.n_samples, gate, interval, tally, lambda sums: (sums.n_samples, sums.n_passed)
            )
        case "faithfulness_failure_rate":
            counts = tally.faithfulness_counts
            return _for_rate(
                counts[0], counts.total(), gate, interval, tally,
                lambda sums: (sums.n_faithfulness, sums.n_unfaithful),
            )  # fmt: skip
        case _:
            return _for_percentile(gate, interval, tally)


def _for_mean(tally: RubricTally, limit: float, interval: Interval) -> tuple[int | None, str | None]:
    n, total, squares = tally.n_scored, tally.score_nano, tally.spread.squares
    clusters = [(one.n_scored, one.score_nano) for one in tally.clusters.values()]
    if interval.method in ("jeffreys", "clustered_jeffreys"):
        return _for_bounded_mean(_Sums(n, total, squares, NANO), clusters, limit, interval)
    if clusters:
        found = clustered_mean_of_sums(clusters, interval.confidence)
        return _for_clusters(found, clusters, limit * NANO, interval.confidence)
    found = t_interval_of_sums(n, total, squares, interval.confidence)
    if found.estimate is None or found.standard_error is None:
        return None, found.reason
    distance = found.estimate - limit * NANO
    return _told(n_to_settle_mean(distance, found.standard_error * sqrt(n), interval.confidence))


@dataclass(frozen=True, slots=True)
class _Sums:
    n: int
    total: int
    squares: int
    highest: int  # what a value can be at most


def _for_bounded_mean(
    sums: _Sums, clusters: list[tuple[int, int]], limit: float, interval: Interval
) -> tuple[int | None, str | None]:
    if interval.reason is not None:
        return None, interval.reason
    mean = sums.total / (sums.n * sums.highest)
    spread = spread_of_sums(sums.n, sums.total, sums.squares, sums.highest)
    if interval.method == "jeffreys":
        return _told(n_to_settle_bounded_mean(mean, spread, limit, interval.confidence))
    sizes = [size for size, _ in clusters if size]
    found = clustered_jeffreys_of_sums(clusters, sums.squares, sums.highest, interval.confidence)
    design = design_of(sizes, spread, ((found.standard_error or 0.0) / sums.highest) ** 2)
    needed = n_to_settle_bounded_mean(
        mean,
        spread,
        limit,
        interval.confidence,
        size=sums.n / len(sizes),
        effect=design.effect,
        evenness=(design.degrees + 1) / len(sizes),
    )
    return _in_samples(needed, sums.n, len(sizes))


def _for_rate(
    successes: int,
    n: int,
    gate: Gate,
    interval: Interval,
    tally: RubricTally,
    of_cluster: Callable[[ClusterSums], tuple[int, int]],
) -> tuple[int | None, str | None]:
    if not tally.clusters:
        return _told(n_to_settle_rate(successes, n, gate.limit, interval.confidence))
    sizes = [of_cluster(sums) for sums in tally.clusters.values()]
    if interval.method == "clustered_jeffreys":
        return _for_bounded_mean(_Sums(n, successes, successes, 1), sizes, gate.limit, interval)
    if interval.method == "clustered_t":
        found = clustered_mean_of_sums(sizes, interval.confidence)
        return _for_clusters(found, sizes, gate.limit, interval.confidence)
    n_clusters = sum(1 for size, _ in sizes if size)
    alike = n_clusters if successes else 0
    return _in_samples(n_to_settle_rate(alike, n_clusters, gate.limit, interval.confidence), n, n_clusters)


def _for_clusters(
    found: Estimate, sizes: list[tuple[int, int]], limit: float, confidence: float
) -> tuple[int | None, str | None]:
    """More clusters, of the sizes that there are."""
    n_clusters = sum(1 for size, _ in sizes if size)
    if found.estimate is None or found.standard_error is None:
        return None, found.reason
    needed = n_to_settle_mean(found.estimate - limit, found.standard_error * sqrt(n_clusters), confidence)
    return _in_samples(needed, found.n, n_clusters)


def _for_percentile(gate: Gate, interval: Interval, tally: RubricTally) -> tuple[int | None, str | None]:
    counts = tally.latencies_e2e_ms
    within = sum(count for value, count in counts.items() if value <= gate.limit)
    beyond = within < _P95 * counts.total()
    if gate.holds == beyond:  # the percentile lies between two values, one on each side of the limit
        return None, "on_the_limit"
    needed = n_to_settle_percentile(
        within, counts.total(), _P95, interval.confidence, above=not gate.holds, at_least=interval.n + 1
    )
    return (needed, None) if needed is not None else (None, "too_many")


def _in_samples(n_clusters: int | None, n: int, of_clusters: int) -> tuple[int | None, str | None]:
    return _told(None if n_clusters is None else ceil(n_clusters * n / of_clusters))


def _told(needed: int | None) -> tuple[int | None, str | None]:
    return (needed, None) if needed is not None else (None, "on_the_limit")


def _n_clusters(aggregate: str, tally: RubricTally) -> int | None:
    """How many clusters count for an aggregate; None where samples stand alone, or clusters don't matter."""
    if not tally.clusters or aggregate.startswith("latency"):
        return None
    sums = tally.clusters.values()
    match aggregate:
        case "aggregate_score":
            return sum(1 for one in sums if one.n_scored)
        case "faithfulness_failure_rate":
            return sum(1 for one in sums if one.n_faithfulness)
        case _:
            return len(sums)


METHOD = "one_sided"


def needed(gate: Gate, threshold: Threshold, tally: RubricTally, *, to_hold: float, to_fail: float) -> ToSettle:
    """What would settle `gate`, with as many more samples like those that there are.

    `to_hold` and `to_fail` are the confidences that the two claims ask for.
    """
    n_unscored = tally.worst.n_unanswered if is_latency(gate.aggregate) else tally.n_samples - tally.n_scored
    would: Literal["hold", "fail"] | None = None
    found, reason = None, None
    worst, best = gate_sums(tally, threshold, "worst"), gate_sums(tally, threshold, "best")
    if worst.n == 0:
        reason = "no_data"
    elif _keeps(worst, threshold):
        would = "hold"
        found, reason = _samples(worst, threshold, to_hold, fails=False)
    elif not _keeps(best, threshold) and not _is_on_limit(best, threshold):
        would = "fail"
        found, reason = _samples(best, threshold, to_fail, fails=True)
    else:
        reason = "on_the_limit" if worst.mean == best.mean else "unscored_alone"
    return ToSettle(
        would=would,
        n=worst.n,
        n_in_all=found,
        n_more=None if found is None else found - worst.n,
        n_unscored=n_unscored,
        method=METHOD,
        reason=reason,
    )


def _keeps(sums: GateSums, threshold: Threshold) -> bool:
    """Whether the value is on the good side of the limit, and not on it."""
    side, limit = asks_for(threshold)
    return not _is_on_limit(sums, threshold) and (sums.mean > limit if side == "low" else sums.mean < limit)


def _is_on_limit(sums: GateSums, threshold: Threshold) -> bool:
    return abs(sums.mean - asks_for(threshold)[1]) < 1e-9


def _samples(sums: GateSums, threshold: Threshold, confidence: float, *, fails: bool) -> tuple[int | None, str | None]:
    """`(samples in all, None)`, or `(None, why not)`."""
    side, limit = asks_for(threshold)
    if sums.n_clusters == 1:
        return None, "one_cluster"
    if min(sums.n, sums.n_clusters or sums.n) < FEWEST:
        return None, "too_few"
    asked: Side = ("high" if side == "low" else "low") if fails else side

    def settles(times: float) -> bool:
        bound = sums.bound(asked, confidence, times)
        return bound is not None and (bound >= limit if asked == "low" else bound <= limit)

    found = _first(settles, sums.n_clusters or sums.n)
    if found is None:
        return None, "too_many"
    return max(sums.n + 1, ceil(found * sums.n / (sums.n_clusters or sums.n))), None


def _first(settles: Callable[[float], bool], now: int) -> int | None:
    """The least number, above `now`, of which `settles(number / now)`; None beyond MOST_VALUES."""
    low, high = now, 2 * now
    while not settles(high / now):
        if high > MOST_VALUES:
            return None
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if settles(middle / now) else (middle, high)
    return high


def least_for_ready(confidence: float, *, unmeasured: frozenset[str] = frozenset()) -> int:
    """The least number of samples, or of clusters of them, with which every gate can be shown to hold: all of them as
    good as can be. `unmeasured` gates are left out."""
    return max(n for aggregate, n in least_by_gate(confidence).items() if aggregate not in unmeasured)


def least_by_gate(confidence: float) -> dict[str, int]:
    """The same, gate by gate."""
    asked = ((threshold.aggregate, asks_for(threshold)) for threshold in thresholds())
    return {
        aggregate: least_to_show(limit if side == "low" else 1 - limit, confidence)
        for aggregate, (side, limit) in asked
    }
