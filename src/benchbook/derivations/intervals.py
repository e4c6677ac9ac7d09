"""The confidence interval of each aggregate that can have one (SPEC R6.4; the methods are those of STATISTICS.md).

Computed from exact sums and rounded to nine decimals: shown, and where asked for (`confidence`) compared.

Means of scores are by Jeffreys, rates and means of clusters too (docs/decisions/0017-too-sure-intervals.md). Records
that name no derivation have Student's t there, as when they were made.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence

import msgspec

from benchbook.decisions import Interval
from benchbook.derivations.derivation import DERIVATION
from benchbook.derivations.rows import Cases
from benchbook.scorers.exact import NANO, order_statistic
from benchbook.scorers.rubric_aggregates import ClusterSums, RubricTally
from benchbook.statistics import Estimate, percentile_ranks, wilson
from benchbook.statistics.from_sums import (
    clustered_jeffreys_of_sums,
    clustered_mean_of_sums,
    jeffreys_of_sums,
    t_interval_of_sums,
)

__all__ = ["cases_of", "further_intervals_of", "intervals_of", "rate_interval"]

_BY_JEFFREYS = 2  # from this derivation on; before, means and clusters were by Student's t

_OfCluster = Callable[[ClusterSums], tuple[int, int]]  # its size and its sum, of one aggregate


def intervals_of(tally: RubricTally, confidence: float, derivation: int = DERIVATION) -> dict[str, Interval]:
    """Of the gated aggregates, and the median latency. Where samples share a group or an item, they are clustered."""
    n_faithfulness = tally.faithfulness_counts.total()
    return {
        "aggregate_score": _score(tally, confidence, derivation),
        "pass_rate": _rate(
            tally, tally.n_passed, tally.n_samples, lambda sums: (sums.n_samples, sums.n_passed), confidence, derivation
        ),
        "faithfulness_failure_rate": _rate(
            tally,
            tally.faithfulness_counts[0],
            n_faithfulness,
            lambda sums: (sums.n_faithfulness, sums.n_unfaithful),
            confidence,
            derivation,
        ),
        "latency_e2e_p50_ms": _percentile(tally.latencies_e2e_ms, 0.5, confidence),
        "latency_e2e_p95_ms": _percentile(tally.latencies_e2e_ms, 0.95, confidence),
    }


def further_intervals_of(tally: RubricTally, confidence: float) -> dict[str, Interval]:
    """Of the other means, rates and percentiles of R4. Sums have none, nor has a quotient of two of them."""
    accuracy, n_samples = tally.accuracy_counts, tally.n_samples
    return {
        "accuracy_mean": _grade(tally, accuracy, lambda sums: (sums.n_accuracy, sums.accuracy), confidence),
        "accuracy_full_credit_rate": _rate(
            tally, accuracy[2], accuracy.total(), lambda sums: (sums.n_accuracy, sums.n_full_credit), confidence
        ),
        "faithfulness_mean": _grade(
            tally, tally.faithfulness_counts, lambda sums: (sums.n_faithfulness, sums.faithfulness), confidence
        ),
        "latency_model_p50_ms": _percentile(tally.latencies_model_ms, 0.5, confidence),
        "latency_model_p95_ms": _percentile(tally.latencies_model_ms, 0.95, confidence),
        "token_efficiency_ratio_mean": _token_ratio(tally, confidence),
        "evaluator_error_rate": _rate(
            tally, tally.n_evaluator_errors, n_samples, lambda sums: (sums.n_samples, sums.n_errors), confidence
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
    sums = (tally.n_scored, tally.score_nano, tally.score_nano_squared)

    def of_cluster(one: ClusterSums) -> tuple[int, int]:
        return one.n_scored, one.score_nano

    found = (
        _by_student(tally, sums, of_cluster, confidence)
        if derivation < _BY_JEFFREYS
        else _by_jeffreys(tally, sums, of_cluster, NANO, confidence)
    )
    return _interval(found, unit=NANO)


def _grade(tally: RubricTally, counts: Counter[int], of_cluster: _OfCluster, confidence: float) -> Interval:
    """Of a mean of scores of 0, 1 and 2."""
    total = sum(score * count for score, count in counts.items())
    squares = sum(score**2 * count for score, count in counts.items())
    return _interval(_by_jeffreys(tally, (counts.total(), total, squares), of_cluster, 2, confidence), most=2.0)


def _token_ratio(tally: RubricTally, confidence: float) -> Interval:
    """By Student's t: a ratio has no greatest value."""
    found = _by_student(
        tally, (tally.n_ratios, tally.ratio_nano, tally.ratio_nano_squared),
        lambda sums: (sums.n_ratios, sums.ratio_nano), confidence,
    )  # fmt: skip
    return _interval(found, unit=NANO, most=None)


def _by_jeffreys(
    tally: RubricTally, sums: tuple[int, int, int], of_cluster: _OfCluster, highest: int, confidence: float
) -> Estimate:
    """`sums`: how many values, their sum, the sum of their squares."""
    if tally.clusters:
        return clustered_jeffreys_of_sums(_of_clusters(tally, of_cluster), sums[2], highest, confidence)
    return jeffreys_of_sums(*sums, highest, confidence)


def _by_student(tally: RubricTally, sums: tuple[int, int, int], of_cluster: _OfCluster, confidence: float) -> Estimate:
    if tally.clusters:
        return clustered_mean_of_sums(_of_clusters(tally, of_cluster), confidence)
    return t_interval_of_sums(*sums, confidence)


def _rate(
    tally: RubricTally,
    successes: int,
    n: int,
    of_cluster: _OfCluster,
    confidence: float,
    derivation: int = DERIVATION,
) -> Interval:
    return rate_interval(successes, n, list(_of_clusters(tally, of_cluster)), confidence, derivation)


def _of_clusters(tally: RubricTally, of_cluster: _OfCluster) -> Iterable[tuple[int, int]]:
    return (of_cluster(sums) for sums in tally.clusters.values())


def rate_interval(
    successes: int, n: int, clusters: Sequence[tuple[int, int]], confidence: float, derivation: int = DERIVATION
) -> Interval:
    """The interval of a share: Wilson's, or by `clusters` (size, successes) where there are some."""
    if not clusters:
        return _interval(wilson(successes, n, confidence))
    if derivation < _BY_JEFFREYS:
        found = clustered_mean_of_sums(clusters, confidence)
    else:
        found = clustered_jeffreys_of_sums(clusters, successes, confidence=confidence)
    if found.reason != "no_variance" or successes not in (0, n):
        return _interval(found)
    # All alike: their spread can't tell how sure that is. Wilson over the clusters, each counted once, can.
    n_clusters = sum(1 for size, _ in clusters if size)
    alike = _interval(wilson(n_clusters if successes else 0, n_clusters, confidence))
    return msgspec.structs.replace(alike, method="wilson_over_clusters")


def _percentile(counts: Counter[int], q: float, confidence: float) -> Interval:
    ranks = percentile_ranks(counts.total(), q, confidence)
    return Interval(
        low=None if ranks.low_rank is None else float(order_statistic(counts, ranks.low_rank)),
        high=None if ranks.high_rank is None else float(order_statistic(counts, ranks.high_rank)),
        confidence=confidence,
        method="order_statistics",
        n=ranks.n,
        reason=ranks.reason,
    )


def _interval(found: Estimate, unit: int = 1, most: float | None = 1.0) -> Interval:
    """Cut at 0, and at `most`: no rate or mean of scores lies beyond."""
    low = None if found.low is None else max(0.0, round(found.low / unit, 9))
    high = None if found.high is None else round(found.high / unit, 9)
    return Interval(
        low=low,
        high=high if high is None or most is None else min(most, high),
        confidence=found.confidence,
        method=found.method,
        n=found.n,
        reason=found.reason,
        warnings=found.warnings,
    )
