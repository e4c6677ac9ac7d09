"""How many samples would settle a gate that its bounds leave open, and how few can be READY at all (SPEC R6.4)."""

from __future__ import annotations

from math import ceil, sqrt
from typing import Literal

from benchbook.evaluators.gates import FEWEST, Gate, Threshold, ToSettle
from benchbook.evaluators.intervals import Interval
from benchbook.evaluators.rubric.aggregate_kinds import Bounded, OfSamples, Percentile
from benchbook.evaluators.rubric.aggregates import bounded, is_unmeasured, table_of
from benchbook.evaluators.rubric.spec import RubricSpec
from benchbook.evaluators.rubric.tally import RubricTally
from benchbook.statistics.bounded import design_of
from benchbook.statistics.clusters import least_to_show
from benchbook.statistics.ground import Estimate
from benchbook.statistics.means import (
    clustered_jeffreys_of_sums,
    clustered_mean_of_sums,
    spread_of_sums,
    t_interval_of_sums,
)
from benchbook.statistics.planning import (
    n_to_settle_bounded_mean,
    n_to_settle_mean,
    n_to_settle_percentile,
    n_to_settle_rate,
)


def to_settle(gate: Gate, interval: Interval, tally: RubricTally) -> ToSettle:
    """The samples that would settle `gate`, whose interval leaves it open, by the method that made the interval."""
    one = bounded(tally.spec, gate.aggregate)
    would: Literal["hold", "fail"] = "hold" if gate.holds else "fail"
    n_unscored = 0 if isinstance(one, Percentile) else tally.n_samples - tally.n_scored
    needed: int | None = None
    reason: str | None = None
    if gate.value is None:
        reason = "no_data"
    elif _is_settled(gate, interval):
        reason = "unscored_alone"
    elif gate.margin == 0:
        reason = "on_the_limit"
    elif min(interval.n, _n_clusters(one, tally) or interval.n) < FEWEST:
        reason = "too_few"
    else:
        needed, reason = _needed(one, gate, interval, tally)
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
    """True if the interval lies on one side of the limit already: then only unscored samples leave the gate open."""
    if gate.holds:
        return gate.bound_holds is True
    far = interval.high if gate.direction == "at_least" else interval.low
    return far is not None and (far < gate.limit if gate.direction == "at_least" else far > gate.limit)


def _needed(one: Bounded, gate: Gate, interval: Interval, tally: RubricTally) -> tuple[int | None, str | None]:
    """`(samples in all, None)`, or `(None, why not)`."""
    if isinstance(one, Percentile):
        return _for_percentile(one, gate, interval, tally)
    limit = (gate.limit - one.lowest) / one.span
    return (_for_rate if one.is_rate else _for_mean)(one, tally, limit, interval)


def _for_mean(one: OfSamples, tally: RubricTally, limit: float, interval: Interval) -> tuple[int | None, str | None]:
    clusters, sums = _pairs(one, tally), one.sums(tally, "scored")
    if interval.method in ("jeffreys", "clustered_jeffreys"):
        return _for_bounded_mean(one, tally, clusters, limit, interval)
    if clusters:
        found = clustered_mean_of_sums(clusters, interval.confidence)
        return _for_clusters(found, clusters, limit * one.unit, interval.confidence)
    found = t_interval_of_sums(sums.n, sums.total, sums.squares, interval.confidence)
    if found.estimate is None or found.standard_error is None:
        return None, found.reason
    distance = found.estimate - limit * one.unit
    return _told(n_to_settle_mean(distance, found.standard_error * sqrt(sums.n), interval.confidence))


def _pairs(one: OfSamples, tally: RubricTally) -> list[tuple[int, int]]:
    return [one.of_cluster(each)[:2] for each in tally.clusters.values()]


def _for_bounded_mean(
    one: OfSamples, tally: RubricTally, clusters: list[tuple[int, int]], limit: float, interval: Interval
) -> tuple[int | None, str | None]:
    if interval.reason is not None:
        return None, interval.reason
    sums, highest = one.sums(tally, "scored"), one.unit
    mean = sums.total / (sums.n * highest)
    spread = spread_of_sums(sums.n, sums.total, sums.squares, highest)
    if interval.method == "jeffreys":
        return _told(n_to_settle_bounded_mean(mean, spread, limit, interval.confidence))
    sizes = [size for size, _ in clusters if size]
    found = clustered_jeffreys_of_sums(clusters, sums.squares, highest, interval.confidence)
    design = design_of(sizes, spread, ((found.standard_error or 0.0) / highest) ** 2)
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


def _for_rate(one: OfSamples, tally: RubricTally, limit: float, interval: Interval) -> tuple[int | None, str | None]:
    sums, sizes = one.sums(tally, "scored"), _pairs(one, tally)
    if not sizes:
        return _told(n_to_settle_rate(sums.total, sums.n, limit, interval.confidence))
    if interval.method == "clustered_jeffreys":
        return _for_bounded_mean(one, tally, sizes, limit, interval)
    if interval.method == "clustered_t":
        found = clustered_mean_of_sums(sizes, interval.confidence)
        return _for_clusters(found, sizes, limit, interval.confidence)
    n_clusters = sum(1 for size, _ in sizes if size)
    alike = n_clusters if sums.total else 0
    return _in_samples(n_to_settle_rate(alike, n_clusters, limit, interval.confidence), sums.n, n_clusters)


def _for_clusters(
    found: Estimate, sizes: list[tuple[int, int]], limit: float, confidence: float
) -> tuple[int | None, str | None]:
    """More clusters, of the sizes that there are."""
    n_clusters = sum(1 for size, _ in sizes if size)
    if found.estimate is None or found.standard_error is None:
        return None, found.reason
    needed = n_to_settle_mean(found.estimate - limit, found.standard_error * sqrt(n_clusters), confidence)
    return _in_samples(needed, found.n, n_clusters)


def _for_percentile(
    one: Percentile, gate: Gate, interval: Interval, tally: RubricTally
) -> tuple[int | None, str | None]:
    counts = one.counts(tally)
    within = sum(count for value, count in counts.items() if value <= gate.limit)
    beyond = within < one.q * counts.total()
    if gate.holds == beyond:  # the percentile lies between two values, one on each side of the limit
        return None, "on_the_limit"
    needed = n_to_settle_percentile(
        within, counts.total(), one.q, interval.confidence, above=not gate.holds, at_least=interval.n + 1
    )
    return (needed, None) if needed is not None else (None, "too_many")


def _in_samples(n_clusters: int | None, n: int, of_clusters: int) -> tuple[int | None, str | None]:
    return _told(None if n_clusters is None else ceil(n_clusters * n / of_clusters))


def _told(needed: int | None) -> tuple[int | None, str | None]:
    return (needed, None) if needed is not None else (None, "on_the_limit")


def _n_clusters(one: Bounded, tally: RubricTally) -> int | None:
    """How many clusters count for an aggregate; None where samples stand alone, or clusters don't matter."""
    if not tally.clusters or isinstance(one, Percentile):
        return None
    return sum(1 for size, _ in _pairs(one, tally) if size)


def least_for_ready(spec: RubricSpec, confidence: float) -> int:
    """The least number of samples, or of clusters of them, with which every gate can be shown to hold: all of them as
    good as can be. Gates on what is not measured are left out, and those that no number shows."""
    return max(least_by_gate(spec, confidence).values(), default=1)


def least_by_gate(spec: RubricSpec, confidence: float) -> dict[str, int]:
    """The same, gate by gate. A single sample is enough for what is exact, and for what can't be missed."""
    least: dict[str, int] = {}
    never = never_shown(spec)
    for gate in spec.gates:
        if is_unmeasured(spec, gate.aggregate) or gate.aggregate in never:
            continue
        share = _least_share(spec, gate)
        least[gate.aggregate] = 1 if share is None or share <= 0 else least_to_show(share, confidence)
    return least


def never_shown(spec: RubricSpec) -> tuple[str, ...]:
    """The aggregates whose gates ask for the best value that there is: no number of samples shows that all others are
    as good. Their values can decide, and no bound."""
    return tuple(gate.aggregate for gate in spec.gates if _least_share(spec, gate) == 1)


def _least_share(spec: RubricSpec, gate: Threshold) -> float | None:
    """How good, from 0 to 1, the mean behind a gate must be; None for what is exact."""
    one = table_of(spec)[gate.aggregate]
    if not isinstance(one, OfSamples | Percentile):
        return None
    side, limit = one.asks_for(gate)
    return limit if side == "low" else 1 - limit
