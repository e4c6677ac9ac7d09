"""The data of one gate as sums, and the bounds that follow from it.

A gate is a mean of values from 0 to 1: a score, or a sample that passes or not. A percentile keeps its limit if no more
than its share of the samples are beyond it, so its value is whether a sample is. That is the interval by order
statistics, read the other way.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from benchbook.statistics.clusters import (
    ClusterCounts,
    Side,
    one_sided_bound,
    one_sided_bound_of_clusters,
    worth_of_clusters,
)


@dataclass(frozen=True, slots=True)
class GateSums:
    """`n` integers from 0 to `unit`, their sum, the sum of their squares, the least and the greatest of them; the
    clusters they come in, none where every value stands alone."""

    n: int
    total: int
    squares: int
    least: int
    most: int
    unit: int
    clusters: ClusterCounts

    @property
    def mean(self) -> float:
        return self.total / (self.n * self.unit)

    @property
    def spread(self) -> float:
        """The mean squared deviation, as a share of the scale; exact until the end."""
        return (self.n * self.squares - self.total**2) / (self.n * self.unit) ** 2

    @property
    def n_clusters(self) -> int | None:
        """The number of clusters; None where values stand alone."""
        return int(sum(self.clusters.values())) if self.clusters else None

    def bound(self, side: Side, confidence: float, times: float = 1.0) -> float | None:
        """The mean's one-sided bound, or what it would be with so many `times` the data.

        None without a value, and where all belong to one cluster.
        """
        if self.n == 0 or self.n_clusters == 1:
            return None
        furthest = (self.most if side == "low" else self.least) / self.unit
        if not self.clusters:
            return one_sided_bound(side, self.n * times, self.mean, self.spread, furthest, confidence)
        worth = worth_of_clusters({one: times * count for one, count in self.clusters.items()}, self.unit)
        return one_sided_bound_of_clusters(side, worth, self.mean, furthest, confidence)


def share_of(true: int, n: int, clusters: Iterable[tuple[int, int]]) -> GateSums:
    """The sums of values that are 0 or 1; `clusters` has the size of each, and how many of it are 1."""
    counted = Counter((size, found, found) for size, found in clusters if size)
    return GateSums(
        n=n, total=true, squares=true, least=int(0 < n == true), most=int(true > 0), unit=1, clusters=counted
    )
