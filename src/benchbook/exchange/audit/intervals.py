"""The mean of a scorer's values with its interval: clustered where samples share a group, or an item has repeats.

The methods are those of the house (docs/explanation/statistics.md): Wilson's for shares, Jeffreys' carried over where
the scale is known, Student's t else; clusters by how alike their values are.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Sequence
from math import fsum, isnan
from typing import Literal

from benchbook.evaluators.intervals import Interval, rate_interval
from benchbook.exchange.audit.kept import DOUBLED, KeptSamples, ScoreColumn, numbered
from benchbook.exchange.log import LogScorer
from benchbook.statistics import Estimate
from benchbook.statistics.clusters import mean_of_clusters
from benchbook.statistics.means import clustered_mean_of_sums, jeffreys_of_sums, t_interval_of_sums

Clustered = Literal["groups", "items"]
_LARGEST = 1e60  # as in `statistics`
_DIGITS = 12  # of the largest value that are counted: sums of whole numbers are exact, in any order


def clustering(kept: KeptSamples) -> Clustered | None:
    """By what samples belong together: groups, of which one has several samples, or the items of repeats."""
    if kept.groups.n:
        codes = _cluster_codes(kept, "groups")
        if len(set(codes)) < kept.n:
            return "groups"
    return "items" if kept.most_repeats > 1 else None


def mean_of(
    kept: KeptSamples, column: ScoreColumn, scorer: LogScorer | None, by: Clustered | None, confidence: float = 0.95
) -> tuple[float | None, Interval | None]:
    """`(mean, interval)` over the scored samples; None where there are none, or they can't be computed with."""
    places = [at for at, flag in enumerate(kept.flags) if not flag & DOUBLED and not isnan(column.values[at])]
    if not places or column.has_parts or any(abs(column.values[at]) > _LARGEST for at in places):
        return None, None
    values = array("d", (column.values[at] for at in places))
    codes = None if by is None else _cluster_codes(kept, by)
    labels = None if codes is None else [codes[at] for at in places]
    mean = fsum(values) / len(values)
    if all(one in (0.0, 1.0) for one in values):
        return mean, _of_a_share(values, labels, confidence)
    low, high = _scale(values, scorer)
    if low is None or high is None or not low < high:
        return mean, _of_any_values(values, labels, confidence)
    highest = 10**_DIGITS
    shares = [round((one - low) / (high - low) * highest) for one in values]
    return mean, _bounded(shares, labels, (low, high), confidence)


def _cluster_codes(kept: KeptSamples, by: Clustered) -> array[int]:
    """The cluster of each sample; one without a group is on its own, but for its repeats."""
    if by == "items":
        return kept.items
    n = kept.groups.n + 1
    return numbered(array("q", (code or n + item for code, item in zip(kept.groups.codes, kept.items, strict=True))))[0]


def _scale(values: Sequence[float], scorer: LogScorer | None) -> tuple[float | None, float | None]:
    """The ends of the scale, where it is known and holds: no value lies outside."""
    if scorer is None or scorer.lowest is None or scorer.highest is None:
        return None, None
    if min(values) < scorer.lowest or max(values) > scorer.highest:
        return None, None
    return scorer.lowest, scorer.highest


def _of_a_share(values: Sequence[float], labels: Sequence[int] | None, confidence: float) -> Interval:
    ones = round(sum(values))
    sizes = _sums([int(one) for one in values], labels)
    clusters = [] if labels is None else [(size, total) for size, total, _ in sizes]
    return rate_interval(ones, len(values), clusters, confidence)


def _bounded(
    values: Sequence[int], labels: Sequence[int] | None, scale: tuple[float, float], confidence: float
) -> Interval:
    low, high = scale
    highest = 10**_DIGITS
    sums = _sums(values, labels)
    if labels is None:
        found = jeffreys_of_sums(*sums[0], highest, confidence, unseen=True)
    else:
        found = mean_of_clusters(Counter(sums), highest, confidence)
    return _interval(found, low, (high - low) / highest)


def _of_any_values(values: Sequence[float], labels: Sequence[int] | None, confidence: float) -> Interval:
    largest = max(abs(one) for one in values) or 1.0
    sums = _sums([round(one / largest * 10**_DIGITS) for one in values], labels)
    if labels is None:
        found = t_interval_of_sums(*sums[0], confidence)
    else:
        found = clustered_mean_of_sums([(size, total) for size, total, _ in sums], confidence)
    return _interval(found, 0.0, largest / 10**_DIGITS)


def _sums(values: Sequence[int], labels: Sequence[int] | None) -> list[tuple[int, int, int]]:
    """How many, their sum, and the sum of their squares: of all, or of each cluster."""
    if labels is None:
        return [(len(values), sum(values), sum(one * one for one in values))]
    found: dict[int, list[int]] = {}
    for value, label in zip(values, labels, strict=True):
        sums = found.setdefault(label, [0, 0, 0])
        sums[0] += 1
        sums[1] += value
        sums[2] += value * value
    return [(size, total, squares) for size, total, squares in found.values()]


def _interval(found: Estimate, low: float, unit: float) -> Interval:
    """An estimate of whole numbers in the unit of the values."""

    def scaled(value: float | None) -> float | None:
        return None if value is None else float(f"{low + unit * value:.12g}")

    return Interval(
        low=scaled(found.low),
        high=scaled(found.high),
        confidence=found.confidence,
        method=found.method,
        n=found.n,
        reason=found.reason,
        warnings=found.warnings,
    )
