"""The confidence interval of each headline aggregate (SPEC R6.4; the methods are those of STATISTICS.md).

Computed from exact sums and rounded to nine decimals: shown, and where asked for (`confidence`) compared.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

import msgspec

from benchbook.decisions import Interval
from benchbook.scorers.exact import NANO, order_statistic
from benchbook.scorers.rubric_aggregates import ClusterSums, RubricTally
from benchbook.statistics import Estimate, percentile_ranks, wilson
from benchbook.statistics.from_sums import clustered_mean_of_sums, t_interval_of_sums

__all__ = ["intervals_of", "rate_interval"]


def intervals_of(tally: RubricTally, confidence: float) -> dict[str, Interval]:
    """Intervals by aggregate. Where samples share a group or an item, they are clustered."""
    n_faithfulness = tally.faithfulness_counts.total()
    return {
        "aggregate_score": _score(tally, confidence),
        "pass_rate": _rate(
            tally, tally.n_passed, tally.n_samples, lambda sums: (sums.n_samples, sums.n_passed), confidence
        ),
        "faithfulness_failure_rate": _rate(
            tally,
            tally.faithfulness_counts[0],
            n_faithfulness,
            lambda sums: (sums.n_faithfulness, sums.n_unfaithful),
            confidence,
        ),
        "latency_e2e_p50_ms": _percentile(tally.latencies_e2e_ms, 0.5, confidence),
        "latency_e2e_p95_ms": _percentile(tally.latencies_e2e_ms, 0.95, confidence),
    }


def _score(tally: RubricTally, confidence: float) -> Interval:
    if not tally.clusters:
        found = t_interval_of_sums(tally.n_scored, tally.score_nano, tally.score_nano_squared, confidence)
    else:
        sums = ((cluster.n_scored, cluster.score_nano) for cluster in tally.clusters.values())
        found = clustered_mean_of_sums(sums, confidence)
    return _interval(found, unit=NANO)


def _rate(
    tally: RubricTally,
    successes: int,
    n: int,
    of_cluster: Callable[[ClusterSums], tuple[int, int]],
    confidence: float,
) -> Interval:
    return rate_interval(successes, n, [of_cluster(sums) for sums in tally.clusters.values()], confidence)


def rate_interval(successes: int, n: int, clusters: Sequence[tuple[int, int]], confidence: float) -> Interval:
    """The interval of a share: Wilson's, or by `clusters` (size, successes) where there are some."""
    if not clusters:
        return _interval(wilson(successes, n, confidence))
    found = clustered_mean_of_sums(clusters, confidence)
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


def _interval(found: Estimate, unit: int = 1) -> Interval:
    """Of a rate or a mean of scores: cut at 0 and 1."""
    return Interval(
        low=None if found.low is None else max(0.0, round(found.low / unit, 9)),
        high=None if found.high is None else min(1.0, round(found.high / unit, 9)),
        confidence=found.confidence,
        method=found.method,
        n=found.n,
        reason=found.reason,
        warnings=found.warnings,
    )
