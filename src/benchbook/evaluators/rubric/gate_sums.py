"""The data of one gate as sums, as scored or in the worst or best case (SPEC R6.3), and the bounds that follow from it.

A gate is a mean of values from 0 to 1: a score, or a sample that passes or not. `latency_e2e_p95_ms` keeps its limit if
at most 5 % of the samples are beyond it, so its value is whether a sample is. That is the interval by order statistics,
read the other way.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from benchbook.evaluators.exact import NANO
from benchbook.evaluators.gates import Threshold
from benchbook.evaluators.rubric.tally import ClusterSums, RubricTally
from benchbook.statistics.intraclass import ClusterCounts, worth_of_clusters
from benchbook.statistics.one_sided import Side, one_sided_bound, one_sided_bound_of_clusters

__all__ = ["P95_BEYOND", "Case", "GateSums", "asks_for", "gate_sums", "is_latency"]


Case = Literal["scored", "worst", "best"]

P95_BEYOND = 0.05
"""The share of samples that may be beyond the limit of a 95th percentile."""


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
        """None where values stand alone."""
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


def is_latency(aggregate: str) -> bool:
    return aggregate.startswith("latency")


def asks_for(threshold: Threshold) -> tuple[Side, float]:
    """What a gate asks of the mean of its sums: a low bound of at least, or a high bound of at most, so much."""
    if is_latency(threshold.aggregate):
        return "high", P95_BEYOND
    return ("low" if threshold.direction == "at_least" else "high"), threshold.limit


def gate_sums(tally: RubricTally, threshold: Threshold, case: Case) -> GateSums:
    """The gate's data; in the worst and best case with what unscored samples would add."""
    extra = {"scored": None, "worst": tally.worst, "best": tally.best}[case]
    n_extra = 0 if extra is None else extra.n_scored
    match threshold.aggregate:
        case "aggregate_score":
            return _score(tally, case)
        case "pass_rate":
            passed = tally.n_passed + (0 if extra is None else extra.n_passed)
            return _share(passed, tally.n_samples, _clusters(tally, case, lambda one: (one.n_samples, one.n_passed)))
        case "faithfulness_failure_rate":
            counts = tally.faithfulness_counts
            failed = counts[0] + (n_extra if extra is not None and extra.score == 0 else 0)
            clusters = _clusters(tally, case, lambda one: (one.n_faithfulness, one.n_unfaithful))
            return _share(failed, counts.total() + n_extra, clusters)
        case _:
            return _beyond(tally, threshold.limit, case)


def _score(tally: RubricTally, case: Case) -> GateSums:
    extra = {"scored": None, "worst": tally.worst, "best": tally.best}[case]
    parts = [tally.spread] if extra is None else [tally.spread, extra.spread]
    counted = Counter[tuple[int, int, int]]()
    for one in _merged(tally, case):
        if one.n_scored:
            counted[one.n_scored, one.score_nano, one.score_nano_squared] += 1
    return GateSums(
        n=tally.n_scored + (0 if extra is None else extra.n_scored),
        total=tally.score_nano + (0 if extra is None else extra.score_nano),
        squares=sum(part.squares for part in parts),
        least=min((part.least for part in parts if part.least is not None), default=0),
        most=max((part.most for part in parts if part.most is not None), default=0),
        unit=NANO,
        clusters=counted,
    )


def _share(true: int, n: int, clusters: Iterator[tuple[int, int]]) -> GateSums:
    counted = Counter((size, found, found) for size, found in clusters if size)
    return GateSums(
        n=n, total=true, squares=true, least=int(0 < n == true), most=int(true > 0), unit=1, clusters=counted
    )


def _clusters(
    tally: RubricTally, case: Case, of_cluster: Callable[[ClusterSums], tuple[int, int]]
) -> Iterator[tuple[int, int]]:
    return (of_cluster(one) for one in _merged(tally, case))


def _merged(tally: RubricTally, case: Case) -> Iterator[ClusterSums]:
    """Each cluster, with what its unscored samples would add."""
    added: Mapping[int, ClusterSums] = {}
    if case != "scored":
        added = (tally.worst if case == "worst" else tally.best).clusters
    for number, one in tally.clusters.items():
        more = added.get(number)
        yield one if more is None else one.with_added(more)


def _beyond(tally: RubricTally, limit: float, case: Case) -> GateSums:
    """Samples slower than the limit. Unanswered ones are so in the worst case, and not in the best."""
    n_unknown = 0 if case == "scored" else tally.worst.n_unanswered
    counts = tally.latencies_e2e_ms
    slow = sum(count for value, count in counts.items() if value > limit)
    sizes, beyond = Counter[int](), Counter[int]()
    for cluster, value in zip(tally.e2e_of_clusters.clusters, tally.e2e_of_clusters.values, strict=True):
        sizes[cluster] += 1
        beyond[cluster] += value > limit
    for cluster in tally.worst.unanswered_clusters if n_unknown else ():
        sizes[cluster] += 1
        beyond[cluster] += case == "worst"
    found = slow + (n_unknown if case == "worst" else 0)
    return _share(found, counts.total() + n_unknown, ((sizes[one], beyond[one]) for one in sizes))
