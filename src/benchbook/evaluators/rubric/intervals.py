"""The confidence interval of each aggregate that can have one (SPEC R6.4; the methods are those of STATISTICS.md).

Computed from exact sums and rounded to nine decimals: shown, and where asked for (`confidence`) compared.

Means of scores are by Jeffreys, rates and means of clusters too (docs/decisions/0017-too-sure-intervals.md). Records
that name no derivation have Student's t there, as when they were made. From derivation 3 on, values that are all alike
have an interval too, and clusters are worth what their intraclass correlation says (0019-sure-means-sure.md).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator

from benchbook.evaluators.derivation import DERIVATION
from benchbook.evaluators.exact import NANO, order_statistic
from benchbook.evaluators.intervals import (
    BY_CORRELATION,
    BY_JEFFREYS,
    Interval,
    bounded_mean,
    interval_of,
    rate_interval,
    sums_of_rate,
)
from benchbook.evaluators.rubric.rows import Cases
from benchbook.evaluators.rubric.tally import ClusterSums, LatenciesOfClusters, RubricTally
from benchbook.statistics import Estimate, percentile_ranks
from benchbook.statistics._inputs import FEW_CLUSTERS
from benchbook.statistics.from_sums import (
    clustered_jeffreys_of_sums,
    clustered_mean_of_sums,
    jeffreys_of_sums,
    t_interval_of_sums,
)
from benchbook.statistics.one_sided import SIDES
from benchbook.statistics.percentiles import percentile_bound_of_clusters

__all__ = ["cases_of", "further_intervals_of", "intervals_of"]


_OfCluster = Callable[[ClusterSums], tuple[int, int, int]]  # its size, its sum and its squares, of one aggregate


def intervals_of(tally: RubricTally, confidence: float, derivation: int = DERIVATION) -> dict[str, Interval]:
    """Of the gated aggregates, and the median latency. Where samples share a group or an item, they are clustered."""
    n_faithfulness = tally.faithfulness_counts.total()
    return {
        "aggregate_score": _score(tally, confidence, derivation),
        "pass_rate": _rate(
            tally,
            tally.n_passed,
            tally.n_samples,
            lambda sums: sums_of_rate(sums.n_samples, sums.n_passed),
            confidence,
            derivation,
        ),
        "faithfulness_failure_rate": _rate(
            tally,
            tally.faithfulness_counts[0],
            n_faithfulness,
            lambda sums: sums_of_rate(sums.n_faithfulness, sums.n_unfaithful),
            confidence,
            derivation,
        ),
        "latency_e2e_p50_ms": _percentile(tally.latencies_e2e_ms, tally.e2e_of_clusters, 0.5, confidence, derivation),
        "latency_e2e_p95_ms": _percentile(tally.latencies_e2e_ms, tally.e2e_of_clusters, 0.95, confidence, derivation),
    }


def further_intervals_of(tally: RubricTally, confidence: float, derivation: int = DERIVATION) -> dict[str, Interval]:
    """Of the other means, rates and percentiles of R4. Sums have none, nor has a quotient of two of them."""
    accuracy, n_samples = tally.accuracy_counts, tally.n_samples
    return {
        "accuracy_mean": _grade(
            tally,
            accuracy,
            lambda sums: (sums.n_accuracy, sums.accuracy, sums.accuracy_squared),
            confidence,
            derivation,
        ),
        "accuracy_full_credit_rate": _rate(
            tally,
            accuracy[2],
            accuracy.total(),
            lambda sums: sums_of_rate(sums.n_accuracy, sums.n_full_credit),
            confidence,
            derivation,
        ),
        "faithfulness_mean": _grade(
            tally,
            tally.faithfulness_counts,
            lambda sums: (sums.n_faithfulness, sums.faithfulness, sums.faithfulness_squared),
            confidence,
            derivation,
        ),
        "latency_model_p50_ms": _percentile(
            tally.latencies_model_ms, tally.model_of_clusters, 0.5, confidence, derivation
        ),
        "latency_model_p95_ms": _percentile(
            tally.latencies_model_ms, tally.model_of_clusters, 0.95, confidence, derivation
        ),
        "token_efficiency_ratio_mean": _token_ratio(tally, confidence),
        "evaluator_error_rate": _rate(
            tally,
            tally.n_evaluator_errors,
            n_samples,
            lambda sums: sums_of_rate(sums.n_samples, sums.n_errors),
            confidence,
            derivation,
        ),
    }


def cases_of(tally: RubricTally) -> dict[str, Cases]:
    """Worst and best case of every aggregate that unscored samples leave open (R6.3)."""
    return {
        name: Cases(worst=getattr(worst, name), best=getattr(best, name))
        for worst, best in (tally.bounds(), tally.judged_bounds())
        for name in worst.__struct_fields__
        if not name.startswith("latency")  # a latency is known, whoever scores the answer
    }


def _score(tally: RubricTally, confidence: float, derivation: int) -> Interval:
    sums = (tally.n_scored, tally.score_nano, tally.spread.squares)

    def of_cluster(one: ClusterSums) -> tuple[int, int, int]:
        return one.n_scored, one.score_nano, one.score_nano_squared

    found = (
        _by_student(tally, sums, of_cluster, confidence)
        if derivation < BY_JEFFREYS
        else _by_jeffreys(tally, sums, of_cluster, NANO, confidence, derivation)
    )
    return interval_of(found, unit=NANO)


def _grade(
    tally: RubricTally, counts: Counter[int], of_cluster: _OfCluster, confidence: float, derivation: int
) -> Interval:
    """Of a mean of scores of 0, 1 and 2."""
    total = sum(score * count for score, count in counts.items())
    squares = sum(score**2 * count for score, count in counts.items())
    sums = (counts.total(), total, squares)
    return interval_of(_by_jeffreys(tally, sums, of_cluster, 2, confidence, derivation), most=2.0)


def _token_ratio(tally: RubricTally, confidence: float) -> Interval:
    """By Student's t: a ratio has no greatest value."""
    found = _by_student(
        tally, (tally.n_ratios, tally.ratio_nano, tally.ratio_nano_squared),
        lambda sums: (sums.n_ratios, sums.ratio_nano, 0), confidence,
    )  # fmt: skip
    return interval_of(found, unit=NANO, most=None)


def _by_jeffreys(
    tally: RubricTally,
    sums: tuple[int, int, int],
    of_cluster: _OfCluster,
    highest: int,
    confidence: float,
    derivation: int,
) -> Estimate:
    """`sums`: how many values, their sum, the sum of their squares."""
    if derivation >= BY_CORRELATION:
        clusters = _of_clusters(tally, of_cluster) if tally.clusters else None
        return bounded_mean(sums, clusters, highest, confidence)
    if tally.clusters:
        return clustered_jeffreys_of_sums(_pairs(tally, of_cluster), sums[2], highest, confidence)
    return jeffreys_of_sums(*sums, highest, confidence)


def _by_student(tally: RubricTally, sums: tuple[int, int, int], of_cluster: _OfCluster, confidence: float) -> Estimate:
    if tally.clusters:
        return clustered_mean_of_sums(_pairs(tally, of_cluster), confidence)
    return t_interval_of_sums(*sums, confidence)


def _rate(
    tally: RubricTally,
    successes: int,
    n: int,
    of_cluster: _OfCluster,
    confidence: float,
    derivation: int = DERIVATION,
) -> Interval:
    return rate_interval(successes, n, _pairs(tally, of_cluster), confidence, derivation)


def _of_clusters(tally: RubricTally, of_cluster: _OfCluster) -> Iterator[tuple[int, int, int]]:
    return (of_cluster(sums) for sums in tally.clusters.values())


def _pairs(tally: RubricTally, of_cluster: _OfCluster) -> list[tuple[int, int]]:
    return [(size, total) for size, total, _ in _of_clusters(tally, of_cluster)]


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
