"""A run's samples in counts and exact sums, in one pass, whatever their order (SPEC C2).

What the numbers of R4 are made from; `aggregates` makes them.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

import msgspec

from benchbook.evaluators.exact import NANO
from benchbook.evaluators.rubric.scoring import FurtherSums, RubricScore, SampleOutcome, Scores, score_sample
from benchbook.evaluators.rubric.spec import RubricSpec

Case = Literal["scored", "worst", "best"]
"""As scored, or with every unscored sample at its worst or at its best (R6.3)."""


@dataclass(slots=True)
class ScoreSpread:
    """How sample scores lie: the sum of their squares, the least and the greatest; None where there is no score."""

    squares: int = 0
    least: int | None = None
    most: int | None = None

    def add(self, score_nano: int) -> None:
        self.squares += score_nano**2
        self.least = score_nano if self.least is None else min(self.least, score_nano)
        self.most = score_nano if self.most is None else max(self.most, score_nano)

    def add_all(self, scores_nano: Sequence[int]) -> None:
        """Add scores, of which there is at least one."""
        self.squares += sum([one * one for one in scores_nano])
        least, most = min(scores_nano), max(scores_nano)
        self.least = least if self.least is None else min(self.least, least)
        self.most = most if self.most is None else max(self.most, most)

    def merge(self, more: ScoreSpread) -> None:
        self.squares += more.squares
        self.least = min((one for one in (self.least, more.least) if one is not None), default=None)
        self.most = max((one for one in (self.most, more.most) if one is not None), default=None)


@dataclass(slots=True)
class CriterionSums:
    """The sums of one criterion within one cluster; scores are counted from the lowest of its scale."""

    n: int = 0
    total: int = 0
    squares: int = 0
    n_lowest: int = 0
    n_highest: int = 0

    def add(self, score: int, span: int) -> None:
        self.n += 1
        self.total += score
        self.squares += score * score
        self.n_lowest += score == 0
        self.n_highest += score == span

    def with_added(self, more: CriterionSums) -> CriterionSums:
        return CriterionSums(
            self.n + more.n,
            self.total + more.total,
            self.squares + more.squares,
            self.n_lowest + more.n_lowest,
            self.n_highest + more.n_highest,
        )


@dataclass(slots=True)
class ClusterSums:
    """Sizes and sums of one cluster: what shares a group, or is the same item in several repeats."""

    criteria: tuple[CriterionSums, ...]
    n_samples: int = 0
    n_passed: int = 0
    n_scored: int = 0
    score_nano: int = 0
    score_nano_squared: int = 0
    n_errors: int = 0
    n_ratios: int = 0
    ratio_nano: int = 0
    further: FurtherSums | None = None  # of rubrics that count more

    @classmethod
    def under(cls, spec: RubricSpec) -> ClusterSums:
        return cls(tuple(CriterionSums() for _ in spec.criteria), further=further_sums(spec))

    def add_scores(self, scores: Scores, score_nano: int | None, spec: RubricSpec) -> None:
        if score_nano is not None:
            self.n_scored += 1
            self.score_nano += score_nano
            self.score_nano_squared += score_nano**2
        for sums, one, score in zip(self.criteria, spec.criteria, scores, strict=True):
            if score is not None:
                sums.add(score - one.lowest, one.span)

    def merge(self, more: ClusterSums) -> None:
        """Add the sums of other samples of the same cluster."""
        self.criteria = tuple(one.with_added(other) for one, other in zip(self.criteria, more.criteria, strict=True))
        for name in _OF_CLUSTER:
            setattr(self, name, getattr(self, name) + getattr(more, name))
        if self.further is not None and more.further is not None:
            self.further.merge(more.further)

    def with_scores_of(self, more: ClusterSums) -> ClusterSums:
        """These sums and the scores of `more`, unscored samples of the same cluster, which are counted already."""
        return ClusterSums(
            tuple(one.with_added(other) for one, other in zip(self.criteria, more.criteria, strict=True)),
            n_samples=self.n_samples,
            n_passed=self.n_passed + more.n_passed,
            n_scored=self.n_scored + more.n_scored,
            score_nano=self.score_nano + more.score_nano,
            score_nano_squared=self.score_nano_squared + more.score_nano_squared,
            n_errors=self.n_errors,
            n_ratios=self.n_ratios,
            ratio_nano=self.ratio_nano,
            further=self.further,
        )


_OF_CLUSTER = (
    "n_samples", "n_passed", "n_scored", "score_nano", "score_nano_squared", "n_errors", "n_ratios", "ratio_nano",
)  # fmt: skip
Renamed = Callable[[int], int]
"""The number here of a cluster that has another elsewhere."""


def _merge_clusters(clusters: dict[int, ClusterSums], more: dict[int, ClusterSums], renamed: Renamed) -> None:
    for number, sums in more.items():
        here = clusters.setdefault(renamed(number), sums)
        if here is not sums:
            here.merge(sums)


@dataclass(slots=True)
class Extreme:
    """Sums over the unscored samples alone, each taken at its worst or at its best: what they would add to the others'.

    Of an unanswered one latency and tokens are not known either: at its worst it is worth nothing and slower than any
    limit, at its best it is worth a whole sample and was answered at once (R1.3a).
    """

    spec: RubricSpec
    scores: tuple[int, ...]  # what every one of them is taken at
    at_unanswered: tuple[int, bool]  # what an unanswered one is worth, and whether it passes
    n_scored: int = 0
    score_nano: int = 0
    n_passed: int = 0
    n_unanswered: int = 0
    spread: ScoreSpread = field(default_factory=ScoreSpread)
    clusters: dict[int, ClusterSums] = field(default_factory=dict)
    unanswered_clusters: list[int] = field(default_factory=list)

    def add(self, outcome: SampleOutcome, cluster: int | None) -> None:
        score_nano, passed = self._taken(outcome)
        self.n_scored += 1
        self.score_nano += score_nano
        self.n_passed += passed
        self.n_unanswered += outcome.unanswered
        self.spread.add(score_nano)
        if cluster is None:
            return
        sums = self.clusters.get(cluster)
        if sums is None:
            sums = self.clusters[cluster] = ClusterSums.under(self.spec)
        sums.n_passed += passed
        sums.add_scores(self.scores, score_nano, self.spec)
        if outcome.unanswered:
            self.unanswered_clusters.append(cluster)

    def merge(self, more: Extreme, renamed: Renamed) -> None:
        for name in ("n_scored", "score_nano", "n_passed", "n_unanswered"):
            setattr(self, name, getattr(self, name) + getattr(more, name))
        self.spread.merge(more.spread)
        _merge_clusters(self.clusters, more.clusters, renamed)
        self.unanswered_clusters += map(renamed, more.unanswered_clusters)

    def _taken(self, outcome: SampleOutcome) -> tuple[int, bool]:
        if outcome.unanswered:
            return self.at_unanswered
        scored = score_sample(msgspec.structs.replace(outcome, scores=self.scores), self.spec)
        return scored.sample_score_nano or 0, scored.passed


@dataclass(slots=True)
class LatenciesOfClusters:
    """Each measured latency, and its cluster: one entry a sample, eight bytes each."""

    clusters: array[int] = field(default_factory=lambda: array("q"))
    values: array[int] = field(default_factory=lambda: array("q"))

    def add(self, cluster: int, value: int | None) -> None:
        if value is not None:
            self.clusters.append(cluster)
            self.values.append(value)

    def merge(self, more: LatenciesOfClusters, renamed: Renamed) -> None:
        self.clusters.extend(map(renamed, more.clusters))
        self.values.extend(more.values)


@dataclass(slots=True)
class RubricTally:
    """Counts and exact sums over samples: nothing is kept of a sample itself, but its latency where it has a cluster.

    `counts` has, by criterion, how often each score was given. `clusters` is empty where every sample is a cluster of
    its own.
    """

    spec: RubricSpec
    n_samples: int = 0
    n_no_answer: int = 0
    n_unanswered: int = 0
    n_timed_out: int = 0
    n_evaluator_errors: int = 0
    counts: tuple[Counter[int], ...] = field(init=False)
    fail_reasons: Counter[str] = field(default_factory=Counter)
    input_tokens: int = 0
    output_tokens: int = 0
    total_tokens: int = 0
    n_ratios: int = 0
    ratio_nano: int = 0
    ratio_nano_squared: int = 0
    n_passed: int = 0
    n_scored: int = 0
    score_nano: int = 0
    spread: ScoreSpread = field(default_factory=ScoreSpread)
    latencies_e2e_ms: Counter[int] = field(default_factory=Counter)
    latencies_model_ms: Counter[int] = field(default_factory=Counter)
    clusters: dict[int, ClusterSums] = field(default_factory=dict)
    e2e_of_clusters: LatenciesOfClusters = field(default_factory=LatenciesOfClusters)
    model_of_clusters: LatenciesOfClusters = field(default_factory=LatenciesOfClusters)
    worst: Extreme = field(init=False)
    best: Extreme = field(init=False)
    further: FurtherSums | None = field(init=False)  # of rubrics that count more

    def __post_init__(self) -> None:
        self.counts = tuple(Counter() for _ in self.spec.criteria)
        self.worst = Extreme(self.spec, self.spec.lowest, (0, False))
        self.best = Extreme(self.spec, self.spec.highest, (NANO, True))
        self.further = further_sums(self.spec)

    def extreme(self, case: Case) -> Extreme | None:
        """The sums that the unscored samples would add; None as scored."""
        return None if case == "scored" else self.worst if case == "worst" else self.best

    def clusters_in(self, case: Case) -> Iterator[ClusterSums]:
        """Each cluster, with what its unscored samples would add."""
        extreme = self.extreme(case)
        if extreme is None:
            yield from self.clusters.values()
            return
        for number, one in self.clusters.items():
            more = extreme.clusters.get(number)
            yield one if more is None else one.with_scores_of(more)

    def add(self, outcome: SampleOutcome, scored: RubricScore, cluster: int | None = None) -> None:
        """Count one sample. `cluster` numbers what it shares with others: its group, or its item under repeats.

        It is None for every sample of a tally, or for none.
        """
        self.n_samples += 1
        self.n_no_answer += outcome.no_answer
        self.n_unanswered += outcome.unanswered or outcome.awaits_judge
        self.n_timed_out += outcome.timed_out
        if outcome.evaluator_error is not None:
            self.n_evaluator_errors += 1
        self._add_scores(outcome, scored)
        self._add_costs(outcome, scored)
        if self.further is not None:
            self.further.add(outcome.further)
        if cluster is not None:
            self._add_to_cluster(cluster, outcome, scored)
        if outcome.unscored:
            self.worst.add(outcome, cluster)
            self.best.add(outcome, cluster)

    def _add_scores(self, outcome: SampleOutcome, scored: RubricScore) -> None:
        for counts, score in zip(self.counts, outcome.scores, strict=True):
            if score is not None:
                counts[score] += 1
        if scored.sample_score_nano is not None:
            self.n_scored += 1
            self.score_nano += scored.sample_score_nano
            self.spread.add(scored.sample_score_nano)
        self.n_passed += scored.passed
        for reason in scored.fail_reasons:
            self.fail_reasons[reason] += 1

    def cluster(self, number: int) -> ClusterSums:
        """The sums of a cluster, which are there from now on."""
        sums = self.clusters.get(number)
        if sums is None:
            sums = self.clusters[number] = ClusterSums.under(self.spec)
        return sums

    def _add_to_cluster(self, cluster: int, outcome: SampleOutcome, scored: RubricScore) -> None:
        sums = self.cluster(cluster)
        sums.n_samples += 1
        sums.n_passed += scored.passed
        sums.add_scores(outcome.scores, scored.sample_score_nano, self.spec)
        self.e2e_of_clusters.add(cluster, outcome.latency_e2e_ms)
        self.model_of_clusters.add(cluster, outcome.latency_model_ms)
        sums.n_errors += outcome.evaluator_error is not None
        if scored.token_efficiency_ratio_nano is not None:
            sums.n_ratios += 1
            sums.ratio_nano += scored.token_efficiency_ratio_nano
        if sums.further is not None:
            sums.further.add(outcome.further)

    def _add_costs(self, outcome: SampleOutcome, scored: RubricScore) -> None:
        if outcome.latency_e2e_ms is not None:
            self.latencies_e2e_ms[outcome.latency_e2e_ms] += 1
        if outcome.latency_model_ms is not None:
            self.latencies_model_ms[outcome.latency_model_ms] += 1
        self.input_tokens += outcome.input_tokens or 0
        self.output_tokens += outcome.output_tokens or 0
        self.total_tokens += outcome.total_tokens or 0
        if scored.token_efficiency_ratio_nano is not None:
            self.n_ratios += 1
            self.ratio_nano += scored.token_efficiency_ratio_nano
            self.ratio_nano_squared += scored.token_efficiency_ratio_nano**2

    def merge(self, more: RubricTally, renamed: Renamed = int) -> None:
        """Add what was counted of samples that come after these, under the same rubric; `renamed` gives the number here
        of each of their clusters."""
        for name in _SUMS:
            setattr(self, name, getattr(self, name) + getattr(more, name))
        for counts, others in zip(self.counts, more.counts, strict=True):
            counts.update(others)
        for name in ("fail_reasons", "latencies_e2e_ms", "latencies_model_ms"):
            getattr(self, name).update(getattr(more, name))
        self.spread.merge(more.spread)
        _merge_clusters(self.clusters, more.clusters, renamed)
        self.e2e_of_clusters.merge(more.e2e_of_clusters, renamed)
        self.model_of_clusters.merge(more.model_of_clusters, renamed)
        self.worst.merge(more.worst, renamed)
        self.best.merge(more.best, renamed)
        if self.further is not None and more.further is not None:
            self.further.merge(more.further)


_SUMS = (
    "n_samples", "n_no_answer", "n_unanswered", "n_timed_out", "n_evaluator_errors", "input_tokens", "output_tokens",
    "total_tokens", "n_ratios", "ratio_nano", "ratio_nano_squared", "n_passed", "n_scored", "score_nano",
)  # fmt: skip


def further_sums(spec: RubricSpec) -> FurtherSums | None:
    """The sums that a rubric has beside all others; None where it counts no more."""
    return FurtherSums.over(len(spec.counted_quotes)) if spec.counts_more else None


def tally(outcomes: Iterable[SampleOutcome], spec: RubricSpec) -> RubricTally:
    """Score and count `outcomes`, each a cluster of its own."""
    result = RubricTally(spec)
    for outcome in outcomes:
        result.add(outcome, score_sample(outcome, spec))
    return result
