"""The confidence interval of each headline aggregate (SPEC R6.4; the methods are those of STATISTICS.md).

Computed in binary floating point and rounded to nine decimals: shown, and where asked for (`confidence`) compared.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence

import msgspec

from benchbook.decisions import Interval
from benchbook.scorers.rubric_aggregates import RubricTally
from benchbook.statistics import Estimate, clustered_mean, percentile_ranks, t_interval, wilson

__all__ = ["intervals_of"]


def intervals_of(tally: RubricTally, confidence: float) -> dict[str, Interval]:
    """Intervals by aggregate. Where samples share a group or an item, they are clustered."""
    full_credit = tally.accuracy_counts[2]
    return {
        "aggregate_score": _mean(tally.scores_nano, tally.scores_clusters, confidence, unit=1e9),
        "pass_rate": _rate(tally.passed, tally.passed_clusters, confidence),
        "faithfulness_failure_rate": _rate(tally.unfaithful, tally.unfaithful_clusters, confidence),
        "accuracy_full_credit_rate": _interval(wilson(full_credit, tally.accuracy_counts.total(), confidence)),
        "latency_e2e_p50_ms": _percentile(tally.latencies_e2e_ms, 0.5, confidence),
        "latency_e2e_p95_ms": _percentile(tally.latencies_e2e_ms, 0.95, confidence),
    }


def _mean(values: array[int], clusters: Sequence[int], confidence: float, *, unit: float) -> Interval:
    """The mean of scores between 0 and 1; so are its bounds."""
    import numpy as np

    x = np.asarray(values, dtype=np.float64) / unit
    return _interval(clustered_mean(x, clusters, confidence) if clusters else t_interval(x, confidence))


def _rate(flags: array[int], clusters: Sequence[int], confidence: float) -> Interval:
    """Wilson, or by clusters where there are some."""
    if not clusters:
        return _interval(wilson(sum(flags), len(flags), confidence))
    found = _mean(flags, clusters, confidence, unit=1.0)
    if found.reason != "no_variance":
        return found
    # All alike: their spread can't tell how sure that is. Wilson over the clusters, each counted once, can.
    n_clusters = len(set(clusters))
    alike = _interval(wilson(n_clusters if flags[0] else 0, n_clusters, confidence))
    return msgspec.structs.replace(alike, method="wilson_over_clusters")


def _percentile(values: array[int], q: float, confidence: float) -> Interval:
    ranks = percentile_ranks(len(values), q, confidence)
    ordered = sorted(values) if values else []
    return Interval(
        low=None if ranks.low_rank is None else float(ordered[ranks.low_rank - 1]),
        high=None if ranks.high_rank is None else float(ordered[ranks.high_rank - 1]),
        confidence=confidence,
        method="order_statistics",
        n=ranks.n,
        reason=ranks.reason,
    )


def _interval(found: Estimate) -> Interval:
    """Of a rate or a mean of scores: cut at 0 and 1."""
    return Interval(
        low=None if found.low is None else max(0.0, round(found.low, 9)),
        high=None if found.high is None else min(1.0, round(found.high, 9)),
        confidence=found.confidence,
        method=found.method,
        n=found.n,
        reason=found.reason,
        warnings=found.warnings,
    )
