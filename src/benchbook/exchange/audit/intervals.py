"""The mean of a scorer's values with its interval: clustered where samples share a group, or an item has repeats.

The methods are those of the house (docs/explanation/statistics.md): Wilson's for shares, Jeffreys' carried over where
the scale is known, Student's t else; clusters by how alike their values are.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable
from math import fsum, isnan
from typing import Literal

from benchbook.evaluators.intervals import Interval, rate_interval
from benchbook.exchange.audit.kept import DOUBLED, Grouped, KeptSamples, ScoreColumn, numbered
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
    codes = None if by is None else _cluster_codes(kept, by)
    values, labels = array("d"), array("I")
    for at, (value, flag) in enumerate(zip(column.values, kept.flags, strict=True)):
        if not flag & DOUBLED and not isnan(value):
            values.append(value)
            if codes is not None:
                labels.append(codes[at])
    if not values or column.has_parts or max(values) > _LARGEST or min(values) < -_LARGEST:
        return None, None
    return fsum(values) / len(values), _interval_of(
        values, None if codes is None else labels, column.scale(scorer), confidence
    )


def _interval_of(
    values: array[float], labels: array[int] | None, scale: tuple[float, float] | None, confidence: float
) -> Interval:
    if all(one in (0.0, 1.0) for one in values):
        sums = _sums(map(int, values), labels)
        ones = sum(total for _, total, _ in sums)
        pairs = {one: one[:2] for one in sums}
        clusters = [] if labels is None else [pairs[one] for one in sums]
        return rate_interval(ones, len(values), clusters, confidence)
    unit = 10**_DIGITS
    if scale is not None and scale[0] < scale[1] and scale[0] <= min(values) and max(values) <= scale[1]:
        low, high = scale
        shares = (round((one - low) / (high - low) * unit) for one in values)
        sums = _sums(shares, labels)
        if labels is None:
            found = jeffreys_of_sums(*sums[0], unit, confidence, unseen=True)
        else:
            found = mean_of_clusters(Counter(sums), unit, confidence)
        return _in_the_unit_of_values(found, low, (high - low) / unit)
    largest = max(max(values), -min(values))
    sums = _sums((round(one / largest * unit) for one in values), labels)
    if labels is None:
        found = t_interval_of_sums(*sums[0], confidence)
    else:
        found = clustered_mean_of_sums([(size, total) for size, total, _ in sums], confidence)
    return _in_the_unit_of_values(found, 0.0, largest / unit)


def _cluster_codes(kept: KeptSamples, by: Clustered) -> array[int]:
    """The cluster of each sample; one without a group is on its own, but for its repeats."""
    if by == "items":
        return kept.items
    n = kept.groups.n + 1
    return numbered(array("q", (code or n + item for code, item in zip(kept.groups.codes, kept.items, strict=True))))[0]


def _sums(values: Iterable[int], labels: array[int] | None) -> list[tuple[int, int, int]]:
    """How many, their sum, and the sum of their squares: of all, or of each cluster."""
    if labels is None:
        n = total = squares = 0
        for value in values:
            n, total, squares = n + 1, total + value, squares + value * value
        return [(n, total, squares)]
    whole = list(values)
    clusters = ([whole[at] for at in places] for places in Grouped(labels, max(labels) + 1) if places)
    sums = ((len(one), sum(one), sum(value * value for value in one)) for one in clusters)
    alike: dict[tuple[int, int, int], tuple[int, int, int]] = {}  # most clusters are as another is: kept once
    return [alike.setdefault(one, one) for one in sums]


def _in_the_unit_of_values(found: Estimate, low: float, unit: float) -> Interval:
    """The interval of an estimate that was made of whole numbers."""

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
