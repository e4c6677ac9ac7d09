"""The confidence interval of each aggregate that can have one (SPEC R6.4; the methods are those of STATISTICS.md).

Computed from exact sums and rounded to nine decimals: shown, and where asked for (`confidence`) compared.

Means of scores are by Jeffreys, rates and means of clusters too (docs/decisions/0017-too-sure-intervals.md). Records
that name no derivation have Student's t there, as when they were made. From derivation 3 on, values that are all alike
have an interval too, and clusters are worth what their intraclass correlation says (0019-sure-means-sure.md).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import msgspec

from benchbook.evaluators.derivation import DERIVATION
from benchbook.evaluators.exact import NANO, order_statistic
from benchbook.evaluators.intervals import (
    BY_CORRELATION,
    BY_JEFFREYS,
    Interval,
    bounded_mean,
    interval_of,
    rate_interval,
)
from benchbook.evaluators.rubric.aggregate_kinds import Aggregate, Exact, OfSamples, Percentile, TokenRatio
from benchbook.evaluators.rubric.aggregates import table_of
from benchbook.evaluators.rubric.rows import Cases
from benchbook.evaluators.rubric.spec import RubricSpec
from benchbook.evaluators.rubric.tally import ClusterSums, LatenciesOfClusters, RubricTally
from benchbook.statistics import Estimate, percentile_ranks
from benchbook.statistics.binomial import percentile_bound_of_clusters
from benchbook.statistics.clusters import SIDES
from benchbook.statistics.ground import FEW_CLUSTERS
from benchbook.statistics.means import (
    clustered_jeffreys_of_sums,
    clustered_mean_of_sums,
    jeffreys_of_sums,
    t_interval_of_sums,
)


def intervals_of(tally: RubricTally, confidence: float, derivation: int = DERIVATION) -> dict[str, Interval]:
    """The intervals of gated aggregates and the median latency. Samples that share a group or an item are clustered."""
    return _intervals(tally, confidence, derivation, first=True)


def further_intervals_of(tally: RubricTally, confidence: float, derivation: int = DERIVATION) -> dict[str, Interval]:
    """The intervals of the other means, rates and percentiles of R4. Sums have none, nor has a quotient of two."""
    return _intervals(tally, confidence, derivation, first=False)


def _intervals(tally: RubricTally, confidence: float, derivation: int, *, first: bool) -> dict[str, Interval]:
    table, names_first = table_of(tally.spec), _gated(tally.spec)
    names = names_first if first else [name for name in table if name not in names_first]
    found = ((name, _interval(table[name], tally, confidence, derivation)) for name in names)
    return {name: one for name, one in found if one is not None}


def _gated(spec: RubricSpec) -> list[str]:
    """The gated aggregates, in the gates' order, a latency's median before its percentile."""
    table = table_of(spec)
    names: list[str] = []
    for gate in spec.gates:
        one = table[gate.aggregate]
        names += [one.median, one.name] if isinstance(one, Percentile) else [one.name]
    return list(dict.fromkeys(names))


def _interval(one: Aggregate, tally: RubricTally, confidence: float, derivation: int) -> Interval | None:
    match one:
        case Exact():
            return None
        case TokenRatio():
            return _token_ratio(tally, confidence)
        case Percentile():
            return _percentile(one.counts(tally), one.of_clusters(tally), one.q, confidence, derivation)
        case OfSamples() if one.is_rate:
            sums = one.sums(tally, "scored")
            clusters = [one.of_cluster(each)[:2] for each in tally.clusters.values()]
            return rate_interval(sums.total, sums.n, clusters, confidence, derivation)
        case OfSamples():
            return _mean(one, tally, confidence, derivation)


def cases_of(tally: RubricTally) -> dict[str, Cases]:
    """Worst and best case of every aggregate that unscored samples leave open (R6.3)."""
    table = table_of(tally.spec)
    names = dict.fromkeys([*_gated(tally.spec), *table])
    return {
        name: Cases(worst=one.value(tally, "worst"), best=one.value(tally, "best"))
        for name in names
        if isinstance(one := table[name], OfSamples) and one.is_open  # a latency is known, whoever scores the answer
    }


def _mean(one: OfSamples, tally: RubricTally, confidence: float, derivation: int) -> Interval:
    """The interval of a mean of scores. That of sample scores was once by Student's t."""
    found = one.sums(tally, "scored")
    sums = (found.n, found.total, found.squares)
    if derivation < BY_JEFFREYS and one.unit == NANO:
        estimate = _by_student(tally, sums, one.of_cluster, confidence)
    else:
        estimate = _by_jeffreys(tally, sums, one, confidence, derivation)
    interval = interval_of(estimate, unit=one.unit // one.span, most=float(one.span))
    return interval if one.lowest == 0 else _moved(interval, one.lowest)


def _moved(interval: Interval, lowest: int) -> Interval:
    """An interval of steps from the lowest score on, as one of scores."""
    low, high = (None if end is None else end + lowest for end in (interval.low, interval.high))
    return msgspec.structs.replace(interval, low=low, high=high)


def _token_ratio(tally: RubricTally, confidence: float) -> Interval:
    """The interval of the token ratio, by Student's t: a ratio has no greatest value."""
    found = _by_student(
        tally, (tally.n_ratios, tally.ratio_nano, tally.ratio_nano_squared),
        lambda sums: (sums.n_ratios, sums.ratio_nano, 0), confidence,
    )  # fmt: skip
    return interval_of(found, unit=NANO, most=None)


def _by_jeffreys(
    tally: RubricTally, sums: tuple[int, int, int], one: OfSamples, confidence: float, derivation: int
) -> Estimate:
    """An estimate by `sums`: how many values, their sum, the sum of their squares."""
    if derivation >= BY_CORRELATION:
        clusters = [one.of_cluster(each) for each in tally.clusters.values()] if tally.clusters else None
        return bounded_mean(sums, clusters, one.unit, confidence)
    if tally.clusters:
        return clustered_jeffreys_of_sums(_pairs(tally, one.of_cluster), sums[2], one.unit, confidence)
    return jeffreys_of_sums(*sums, one.unit, confidence)


def _by_student(
    tally: RubricTally,
    sums: tuple[int, int, int],
    of_cluster: Callable[[ClusterSums], tuple[int, int, int]],
    confidence: float,
) -> Estimate:
    if tally.clusters:
        return clustered_mean_of_sums(_pairs(tally, of_cluster), confidence)
    return t_interval_of_sums(*sums, confidence)


def _pairs(tally: RubricTally, of_cluster: Callable[[ClusterSums], tuple[int, int, int]]) -> list[tuple[int, int]]:
    return [of_cluster(each)[:2] for each in tally.clusters.values()]


def _percentile(
    counts: Counter[int], of_clusters: LatenciesOfClusters, q: float, confidence: float, derivation: int
) -> Interval:
    if derivation >= BY_CORRELATION and of_clusters.values:
        return _percentile_of_clusters(of_clusters, q, confidence)
    ranks = percentile_ranks(counts.total(), q, confidence)
    return Interval(
        low=None if ranks.low_rank is None else float(order_statistic(counts, ranks.low_rank)),
        high=None if ranks.high_rank is None else float(order_statistic(counts, ranks.high_rank)),
        confidence=confidence,
        method="order_statistics",
        n=ranks.n,
        reason=ranks.reason,
    )


def _percentile_of_clusters(found: LatenciesOfClusters, q: float, confidence: float) -> Interval:
    level = (1 + confidence) / 2
    low, high = (percentile_bound_of_clusters(side, found.values, found.clusters, q, level) for side in SIDES)
    n_clusters = len(set(found.clusters))
    reason = "one_cluster" if n_clusters == 1 else "sample_too_small" if low is None or high is None else None
    return Interval(
        low=low,
        high=high,
        confidence=confidence,
        method="order_statistics_by_correlation",
        n=len(found.values),
        reason=reason,
        warnings=("few_clusters",) if n_clusters < FEW_CLUSTERS else (),
    )
