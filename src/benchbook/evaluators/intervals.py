"""An interval as every evaluator shows one, and that of a share (docs/decisions/0017)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

from benchbook.evaluators.derivation import DERIVATION
from benchbook.statistics import Estimate, wilson
from benchbook.statistics.clusters import mean_of_clusters
from benchbook.statistics.means import clustered_jeffreys_of_sums, clustered_mean_of_sums, jeffreys_of_sums


class Interval(msgspec.Struct, frozen=True, kw_only=True):
    """A confidence interval; a bound is null where nothing can be said, and `reason` says why."""

    low: float | None
    high: float | None
    confidence: float
    method: str
    n: int
    reason: str | None = None
    warnings: tuple[str, ...] = ()


BY_JEFFREYS = 2  # from this derivation on; before, means and clusters were by Student's t
BY_CORRELATION = 3  # from this derivation on: clusters by how alike their values are, and always an interval


def sums_of_rate(n: int, true: int) -> tuple[int, int, int]:
    """The sums of values that are 0 or 1."""
    return n, true, true


def counted_clusters(clusters: Iterable[tuple[int, int, int]]) -> Counter[tuple[int, int, int]]:
    return Counter(one for one in clusters if one[0])


def rate_interval(
    successes: int, n: int, clusters: Sequence[tuple[int, int]], confidence: float, derivation: int = DERIVATION
) -> Interval:
    """The interval of a share: Wilson's, or by `clusters` (size, successes) where there are some."""
    if not clusters:
        return interval_of(wilson(successes, n, confidence))
    if derivation < BY_JEFFREYS:
        found = clustered_mean_of_sums(clusters, confidence)
    elif derivation >= BY_CORRELATION and (successes not in (0, n) or sum(1 for size, _ in clusters if size) == 1):
        return interval_of(mean_of_clusters(counted_clusters(sums_of_rate(*one) for one in clusters), 1, confidence))
    else:
        found = clustered_jeffreys_of_sums(clusters, successes, confidence=confidence)
    if found.reason != "no_variance" or successes not in (0, n):
        return interval_of(found)
    # All alike: their spread can't tell how sure that is. Wilson over the clusters, each counted once, can.
    n_clusters = sum(1 for size, _ in clusters if size)
    alike = interval_of(wilson(n_clusters if successes else 0, n_clusters, confidence))
    return msgspec.structs.replace(alike, method="wilson_over_clusters")


def bounded_mean(
    sums: tuple[int, int, int], clusters: Iterable[tuple[int, int, int]] | None, highest: int, confidence: float
) -> Estimate:
    """The mean of scores from 0 to `highest`: by Jeffreys, or by `clusters` where there are some.

    `sums`, and each cluster: how many values, their sum, the sum of their squares.
    """
    if clusters is not None:
        return mean_of_clusters(counted_clusters(clusters), highest, confidence)
    return jeffreys_of_sums(*sums, highest, confidence, unseen=True)


def interval_of(found: Estimate, unit: int = 1, most: float | None = 1.0) -> Interval:
    """The interval of an estimate, cut at 0 and at `most`: no rate or mean of scores lies beyond."""
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


def bounds_in(content: Mapping[str, Any], aggregate: str) -> tuple[float | None, float | None]:
    """The bounds of an aggregate in an aggregates.json: by its name among several, or of the only interval there is.

    None for what is no number: a file may hold anything.
    """
    found = _part(_part(content, "intervals"), aggregate) or _part(content, "interval")
    low, high = (value if type(value) in (int, float) else None for value in (found.get("low"), found.get("high")))
    return low, high


def _part(content: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    part = content.get(name)
    return part if isinstance(part, dict) else {}
