"""The sorts of aggregates, each with all that is made of one: value, cases, what a gate asks of it and of which data.

There are three: a mean of one value a sample (a score, or whether something holds), a percentile of what was measured,
and a number that is exact: a count, a total, a ratio without a bound. A gate may be on any of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, cast

from benchbook.evaluators.exact import NANO, as_float, divide, mean, percentile
from benchbook.evaluators.gate_sums import GateSums, share_of
from benchbook.evaluators.gates import Threshold
from benchbook.evaluators.rubric.criteria import MeasureName
from benchbook.evaluators.rubric.scoring import RubricScore, SampleOutcome
from benchbook.evaluators.rubric.tally import Case, ClusterSums, LatenciesOfClusters, RubricTally
from benchbook.statistics.clusters import Side


@dataclass(frozen=True, slots=True)
class _Named:
    name: str

    def ends(self, threshold: Threshold) -> tuple[Case, Case]:
        """The cases in which a gate on it is worst and best off."""
        del threshold
        return "worst", "best"


@dataclass(frozen=True, slots=True)
class Exact(_Named):
    """A count, a total, or a ratio without a bound: it is what it is, and no sample more would make it surer."""

    of: Callable[[RubricTally], float | int | None]
    kind: Any = int  # the type of its value
    measure: MeasureName | None = None  # what it is made of, where that may be declared unmeasured (R1.4)

    def value(self, tally: RubricTally, case: Case = "scored") -> float | int | None:
        del case  # counts do not depend on who scores
        return self.of(tally)


@dataclass(frozen=True, slots=True)
class TokenRatio(_Named):
    """The mean of output over input tokens. It has an interval, but no greatest value, and so no bound to gate by."""

    kind: ClassVar[Any] = float | None
    measure: ClassVar[MeasureName | None] = "tokens"

    def value(self, tally: RubricTally, case: Case = "scored") -> float | None:
        del case
        return as_float(mean(tally.ratio_nano, tally.n_ratios))


@dataclass(frozen=True, slots=True)
class Percentile(_Named):
    """A percentile of latencies (C3). It keeps a limit if at most so many samples are `beyond` it: a share."""

    field: str  # e2e or model
    hundredths: int
    kind: ClassVar[Any] = float | None
    measure: ClassVar[MeasureName | None] = "latency"

    @property
    def median(self) -> str:
        """The name of the median of the same values."""
        return f"latency_{self.field}_p50_ms"

    @property
    def beyond(self) -> float:
        """The share of samples that may be beyond the limit."""
        return (100 - self.hundredths) / 100

    @property
    def beyond_nano(self) -> int:
        return (100 - self.hundredths) * NANO // 100

    @property
    def q(self) -> float:
        return self.hundredths / 100

    def counts(self, tally: RubricTally) -> Counter[int]:
        return cast("Counter[int]", getattr(tally, f"latencies_{self.field}_ms"))

    def of_clusters(self, tally: RubricTally) -> LatenciesOfClusters:
        return cast("LatenciesOfClusters", getattr(tally, f"{self.field}_of_clusters"))

    def value(self, tally: RubricTally, case: Case = "scored") -> float | None:
        """In the worst case every unanswered sample is slower than all others, in the best it was answered at once
        (R1.3a). None at the worst where the percentile lies among those: nobody knows how slow they would have been.
        """
        counts, n_unknown = self.counts(tally), 0 if case == "scored" else tally.worst.n_unanswered
        if case == "worst" and n_unknown:
            n = counts.total() + n_unknown
            if -(-(n - 1) * self.hundredths // 100) >= counts.total():  # the upper of type 7's two values
                return None
            counts = counts + Counter({max(counts, default=0) + 1: n_unknown})
        elif n_unknown:
            counts = counts + Counter({0: n_unknown})
        return as_float(percentile(counts, self.hundredths))

    def asks_for(self, threshold: Threshold) -> tuple[Side, float]:
        """The bound that a gate asks for: few samples beyond the limit, so a high bound on the mean of its sums. No
        rubric asks for a percentile of at least so much."""
        del threshold
        return "high", self.beyond

    def gate_sums(self, tally: RubricTally, threshold: Threshold, case: Case) -> GateSums:
        """Samples slower than the limit. Unanswered ones are so in the worst case, and not in the best."""
        n_unknown = 0 if case == "scored" else tally.worst.n_unanswered
        counts, of_clusters = self.counts(tally), self.of_clusters(tally)
        slow = sum(count for value, count in counts.items() if value > threshold.limit)
        sizes, beyond = Counter[int](), Counter[int]()
        for cluster, value in zip(of_clusters.clusters, of_clusters.values, strict=True):
            sizes[cluster] += 1
            beyond[cluster] += value > threshold.limit
        for cluster in tally.worst.unanswered_clusters if n_unknown else ():
            sizes[cluster] += 1
            beyond[cluster] += case == "worst"
        found = slow + (n_unknown if case == "worst" else 0)
        return share_of(found, counts.total() + n_unknown, ((sizes[one], beyond[one]) for one in sizes))


@dataclass(frozen=True, slots=True)
class AggregateSums:
    """`n` integers from 0 to an aggregate's `unit`: their sum, that of their squares, the least and the greatest."""

    n: int
    total: int
    squares: int
    least: int
    most: int

    @classmethod
    def of_share(cls, true: int, n: int) -> AggregateSums:
        """The sums of values that are 0 or 1."""
        return cls(n, true, true, int(0 < n == true), int(true > 0))


@dataclass(frozen=True, slots=True)
class OfSamples(_Named):
    """A mean of one value a sample, an integer from 0 to `unit`; it stands for a number from `lowest` on, over `span`.

    `sums` are its data in a case, `of_cluster` the size of a cluster, its sum and that of its squares, `of_sample` the
    value of one sample: None where it leaves it out. `of` is the criterion that it is made of alone, by its number.
    `is_open`: samples without a score leave it open. `low_is_good`: the less, the better.
    """

    kind: ClassVar[Any] = float | None
    measure: ClassVar[MeasureName | None] = None

    sums: Callable[[RubricTally, Case], AggregateSums]
    of_cluster: Callable[[ClusterSums], tuple[int, int, int]]
    of_sample: Callable[[SampleOutcome, RubricScore], int | None]
    unit: int = 1
    lowest: int = 0
    span: int = 1
    is_rate: bool = True
    of: int | None = None
    is_open: bool = True
    low_is_good: bool = False

    def ends(self, threshold: Threshold) -> tuple[Case, Case]:
        """The cases in which a gate on it is worst and best off, by its direction."""
        return ("worst", "best") if (threshold.direction == "at_most") is self.low_is_good else ("best", "worst")

    def value(self, tally: RubricTally, case: Case = "scored") -> float | None:
        sums = self.sums(tally, case)
        if not sums.n:
            return None
        return as_float(divide(sums.total * (NANO * self.span // self.unit) + self.lowest * NANO * sums.n, sums.n))

    def asks_for(self, threshold: Threshold) -> tuple[Side, float]:
        """The bound that a gate asks for: its mean is shown to be at least so much (low), or at most so much (high)."""
        side: Side = "low" if threshold.direction == "at_least" else "high"
        return side, (threshold.limit - self.lowest) / self.span

    def gate_sums(self, tally: RubricTally, threshold: Threshold, case: Case) -> GateSums:
        """The gate's data; in the worst and best case with what unscored samples would add."""
        del threshold
        sums = self.sums(tally, case)
        clusters = Counter(found for one in tally.clusters_in(case) if (found := self.of_cluster(one))[0])
        return GateSums(sums.n, sums.total, sums.squares, sums.least, sums.most, self.unit, clusters)


Bounded = OfSamples | Percentile
"""An aggregate that has a bound at a confidence; of the others the value decides."""

Aggregate = Bounded | TokenRatio | Exact
