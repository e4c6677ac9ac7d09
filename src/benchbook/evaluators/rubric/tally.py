"""`rubric@v1` for a run: the aggregates of R4, in one pass, whatever the order of the samples (SPEC C2)."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, fields

import msgspec

from benchbook.evaluators.exact import NANO, as_float, mean, percentile, ratio
from benchbook.evaluators.rubric.scoring import Outcome, RubricScale, RubricScore, score_sample

__all__ = ["Bounds", "ClusterSums", "JudgedBounds", "LatenciesOfClusters", "RubricAggregates", "RubricTally", "tally"]


class RubricAggregates(msgspec.Struct, frozen=True, kw_only=True):
    """The aggregates of R4. Rates and means are null where nothing was counted; latencies in milliseconds."""

    n_samples: int
    n_scored: int
    n_unscored: int
    n_no_answer: int
    n_unanswered: int | msgspec.UnsetType = msgspec.UNSET  # left out before derivation 3
    n_timed_out: int
    accuracy_mean: float | None
    accuracy_full_credit_rate: float | None
    faithfulness_mean: float | None
    faithfulness_failure_rate: float | None
    latency_e2e_p50_ms: float | None
    latency_e2e_p95_ms: float | None
    latency_model_p50_ms: float | None
    latency_model_p95_ms: float | None
    total_input_tokens: int
    total_output_tokens: int
    total_tokens: int
    token_efficiency_ratio_mean: float | None
    tokens_per_correct_answer: float
    pass_rate: float | None
    aggregate_score: float | None
    evaluator_error_rate: float | None


class Bounds(msgspec.Struct, frozen=True, kw_only=True):
    """The gated aggregates with every unscored sample taken at the same scores (SPEC R6.3)."""

    aggregate_score: float | None
    pass_rate: float | None
    faithfulness_failure_rate: float | None
    latency_e2e_p95_ms: float | None


class JudgedBounds(msgspec.Struct, frozen=True, kw_only=True):
    """The aggregates without a gate that unscored samples leave open, as `Bounds` has those with one."""

    accuracy_mean: float | None
    accuracy_full_credit_rate: float | None
    faithfulness_mean: float | None


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


@dataclass(slots=True)
class _Extreme:
    """Sums over the unscored samples alone, each taken at `score` and `score`: what they would add to the others'.

    Of an unanswered one latency and tokens are not known either: at its worst it is worth nothing and slower than any
    limit, at its best it is worth a whole sample and was answered at once (R1.3a).
    """

    score: int
    n_scored: int = 0
    score_nano: int = 0
    n_passed: int = 0
    n_unanswered: int = 0
    spread: ScoreSpread = field(default_factory=lambda: ScoreSpread())
    clusters: dict[int, ClusterSums] = field(default_factory=dict)
    unanswered_clusters: list[int] = field(default_factory=list)

    def add(self, outcome: Outcome, scale: RubricScale, cluster: int | None) -> None:
        score_nano, passed = self._taken(outcome, scale)
        self.n_scored += 1
        self.score_nano += score_nano
        self.n_passed += passed
        self.n_unanswered += outcome.unanswered
        self.spread.add(score_nano)
        if cluster is None:
            return
        sums = self.clusters.setdefault(cluster, ClusterSums())
        sums.n_passed += passed
        sums.add_score(score_nano)
        sums.n_faithfulness += 1
        sums.n_unfaithful += self.score == 0
        if outcome.unanswered:
            self.unanswered_clusters.append(cluster)

    def _taken(self, outcome: Outcome, scale: RubricScale) -> tuple[int, bool]:
        if outcome.unanswered:
            return (0, False) if self.score == 0 else (NANO, True)
        taken = msgspec.structs.replace(outcome, accuracy_score=self.score, faithfulness_score=self.score)
        scored = score_sample(taken, scale)
        return scored.sample_score_nano or 0, scored.passed


@dataclass(slots=True)
class ClusterSums:
    """Sizes and sums of one cluster: what shares a group, or is the same item in several repeats."""

    n_samples: int = 0
    n_passed: int = 0
    n_scored: int = 0
    score_nano: int = 0
    score_nano_squared: int = 0
    n_faithfulness: int = 0
    n_unfaithful: int = 0
    faithfulness: int = 0
    n_accuracy: int = 0
    n_full_credit: int = 0
    accuracy: int = 0
    n_errors: int = 0
    n_ratios: int = 0
    ratio_nano: int = 0

    @property
    def accuracy_squared(self) -> int:
        """The sum of the squares of scores of 0, 1 and 2."""
        return self.accuracy + 2 * self.n_full_credit

    @property
    def faithfulness_squared(self) -> int:
        n_twos = self.faithfulness - (self.n_faithfulness - self.n_unfaithful)
        return self.faithfulness + 2 * n_twos

    def add_score(self, score_nano: int) -> None:
        self.n_scored += 1
        self.score_nano += score_nano
        self.score_nano_squared += score_nano**2

    def with_added(self, more: ClusterSums) -> ClusterSums:
        """Both together."""
        return ClusterSums(**{one.name: getattr(self, one.name) + getattr(more, one.name) for one in fields(self)})


@dataclass(slots=True)
class LatenciesOfClusters:
    """Each measured latency, and its cluster: one entry a sample, eight bytes each."""

    clusters: array[int] = field(default_factory=lambda: array("q"))
    values: array[int] = field(default_factory=lambda: array("q"))

    def add(self, cluster: int, value: int | None) -> None:
        if value is not None:
            self.clusters.append(cluster)
            self.values.append(value)


@dataclass(slots=True)
class RubricTally:
    """Counts and exact sums over samples: nothing is kept of a sample itself, but its latency where it has a cluster.

    `clusters` is empty where every sample is a cluster of its own.
    """

    scale: RubricScale
    n_samples: int = 0
    n_no_answer: int = 0
    n_unanswered: int = 0
    n_timed_out: int = 0
    n_evaluator_errors: int = 0
    accuracy_counts: Counter[int] = field(default_factory=Counter)
    faithfulness_counts: Counter[int] = field(default_factory=Counter)
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
    worst: _Extreme = field(default_factory=lambda: _Extreme(0))
    best: _Extreme = field(default_factory=lambda: _Extreme(2))

    def add(self, outcome: Outcome, scored: RubricScore, cluster: int | None = None) -> None:
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
        if cluster is not None:
            self._add_to_cluster(cluster, outcome, scored)
        if outcome.unscored:
            self.worst.add(outcome, self.scale, cluster)
            self.best.add(outcome, self.scale, cluster)

    def _add_scores(self, outcome: Outcome, scored: RubricScore) -> None:
        if outcome.accuracy_score is not None:
            self.accuracy_counts[outcome.accuracy_score] += 1
        if outcome.faithfulness_score is not None:
            self.faithfulness_counts[outcome.faithfulness_score] += 1
        if scored.sample_score_nano is not None:
            self.n_scored += 1
            self.score_nano += scored.sample_score_nano
            self.spread.add(scored.sample_score_nano)
        self.n_passed += scored.passed
        for reason in scored.fail_reasons:
            self.fail_reasons[reason] += 1

    def _add_to_cluster(self, cluster: int, outcome: Outcome, scored: RubricScore) -> None:
        sums = self.clusters.setdefault(cluster, ClusterSums())
        sums.n_samples += 1
        sums.n_passed += scored.passed
        if scored.sample_score_nano is not None:
            sums.add_score(scored.sample_score_nano)
        if outcome.faithfulness_score is not None:
            sums.n_faithfulness += 1
            sums.n_unfaithful += outcome.faithfulness_score == 0
            sums.faithfulness += outcome.faithfulness_score
        if outcome.accuracy_score is not None:
            sums.n_accuracy += 1
            sums.n_full_credit += outcome.accuracy_score == 2
            sums.accuracy += outcome.accuracy_score
        self.e2e_of_clusters.add(cluster, outcome.latency_e2e_ms)
        self.model_of_clusters.add(cluster, outcome.latency_model_ms)
        sums.n_errors += outcome.evaluator_error is not None
        if scored.token_efficiency_ratio_nano is not None:
            sums.n_ratios += 1
            sums.ratio_nano += scored.token_efficiency_ratio_nano

    def _add_costs(self, outcome: Outcome, scored: RubricScore) -> None:
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

    def aggregates(self) -> RubricAggregates:
        """The aggregates of R4 over the samples added so far."""
        e2e, model = self.latencies_e2e_ms, self.latencies_model_ms
        n_accuracy, n_faithfulness = self.accuracy_counts.total(), self.faithfulness_counts.total()
        return RubricAggregates(
            n_samples=self.n_samples,
            n_scored=self.n_scored,
            n_unscored=self.n_samples - self.n_scored,
            n_no_answer=self.n_no_answer,
            n_unanswered=self.n_unanswered,
            n_timed_out=self.n_timed_out,
            accuracy_mean=as_float(ratio(_total(self.accuracy_counts), n_accuracy)),
            accuracy_full_credit_rate=as_float(ratio(self.accuracy_counts[2], n_accuracy)),
            faithfulness_mean=as_float(ratio(_total(self.faithfulness_counts), n_faithfulness)),
            faithfulness_failure_rate=as_float(ratio(self.faithfulness_counts[0], n_faithfulness)),
            latency_e2e_p50_ms=as_float(percentile(e2e, 50)),
            latency_e2e_p95_ms=as_float(percentile(e2e, 95)),
            latency_model_p50_ms=as_float(percentile(model, 50)),
            latency_model_p95_ms=as_float(percentile(model, 95)),
            total_input_tokens=self.input_tokens,
            total_output_tokens=self.output_tokens,
            total_tokens=self.total_tokens,
            token_efficiency_ratio_mean=as_float(mean(self.ratio_nano, self.n_ratios)),
            tokens_per_correct_answer=(ratio(self.total_tokens, max(self.accuracy_counts[2], 1)) or 0) / NANO,
            pass_rate=as_float(ratio(self.n_passed, self.n_samples)),
            aggregate_score=as_float(mean(self.score_nano, self.n_scored)),
            evaluator_error_rate=as_float(ratio(self.n_evaluator_errors, self.n_samples)),
        )

    def bounds(self) -> tuple[Bounds, Bounds]:
        """`(worst, best)`: every unscored sample at 0 and 0, and at 2 and 2 (SPEC R6.3)."""
        slowest, fastest = self._p95_bounds()
        return self._bounds(self.worst, slowest), self._bounds(self.best, fastest)

    def _p95_bounds(self) -> tuple[float | None, float | None]:
        """The p95 with every unanswered sample slower than all others, and answered at once (R1.3a).

        None at the worst where the percentile lies among those: nobody knows how slow they would have been.
        """
        p95 = as_float(percentile(self.latencies_e2e_ms, 95))
        n_unknown = self.worst.n_unanswered
        if not n_unknown:
            return p95, p95
        n = self.latencies_e2e_ms.total() + n_unknown
        unknown_at = max(self.latencies_e2e_ms, default=0) + 1
        slowest = self.latencies_e2e_ms + Counter({unknown_at: n_unknown})
        is_known = -(-(n - 1) * 95 // 100) < self.latencies_e2e_ms.total()  # the upper of type 7's two values
        fastest = self.latencies_e2e_ms + Counter({0: n_unknown})
        return (as_float(percentile(slowest, 95)) if is_known else None), as_float(percentile(fastest, 95))

    def judged_bounds(self) -> tuple[JudgedBounds, JudgedBounds]:
        """`(worst, best)` of the other aggregates that a judge's scores make up, as in `bounds`."""
        return self._judged_bounds(self.worst), self._judged_bounds(self.best)

    def _judged_bounds(self, extreme: _Extreme) -> JudgedBounds:
        n_accuracy = self.accuracy_counts.total() + extreme.n_scored
        n_faithfulness = self.faithfulness_counts.total() + extreme.n_scored
        full_credit = self.accuracy_counts[2] + (extreme.n_scored if extreme.score == 2 else 0)
        added = extreme.score * extreme.n_scored
        return JudgedBounds(
            accuracy_mean=as_float(ratio(_total(self.accuracy_counts) + added, n_accuracy)),
            accuracy_full_credit_rate=as_float(ratio(full_credit, n_accuracy)),
            faithfulness_mean=as_float(ratio(_total(self.faithfulness_counts) + added, n_faithfulness)),
        )

    def _bounds(self, extreme: _Extreme, p95: float | None) -> Bounds:
        n_scored = self.n_scored + extreme.n_scored
        n_faithfulness = self.faithfulness_counts.total() + extreme.n_scored
        n_unfaithful = self.faithfulness_counts[0] + (extreme.n_scored if extreme.score == 0 else 0)
        return Bounds(
            aggregate_score=as_float(mean(self.score_nano + extreme.score_nano, n_scored)),
            pass_rate=as_float(ratio(self.n_passed + extreme.n_passed, self.n_samples)),
            faithfulness_failure_rate=as_float(ratio(n_unfaithful, n_faithfulness)),
            latency_e2e_p95_ms=p95,
        )


def tally(outcomes: Iterable[Outcome], scale: RubricScale) -> RubricTally:
    """Score and count `outcomes`, each a cluster of its own."""
    result = RubricTally(scale)
    for outcome in outcomes:
        result.add(outcome, score_sample(outcome, scale))
    return result


def _total(counts: Counter[int]) -> int:
    return sum(score * count for score, count in counts.items())
