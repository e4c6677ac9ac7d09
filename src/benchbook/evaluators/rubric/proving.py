"""What a rubric's data show of its gates, and the decision that follows (SPEC R6.3 and R6.4; `evaluators.claims`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from benchbook.evaluators.claims import DEFAULT_CONFIDENCE, GateData, claims_of, confidence_to_fail
from benchbook.evaluators.exact import order_statistic
from benchbook.evaluators.gates import Cap, DecidedBy, Reason, Threshold, reason_words
from benchbook.evaluators.intervals import Interval
from benchbook.evaluators.rubric.aggregate_kinds import OfSamples, Percentile
from benchbook.evaluators.rubric.aggregates import table_of
from benchbook.evaluators.rubric.needed import least_for_ready
from benchbook.evaluators.rubric.release import Decision, all_caps, gates_by_points
from benchbook.evaluators.rubric.tally import Case, RubricTally
from benchbook.statistics.binomial import percentile_bound_of_clusters, percentile_ranks
from benchbook.statistics.clusters import Side

__all__ = ["ClusterWord", "decide_by_bounds"]


ClusterWord = Literal["items", "groups"]


def decide_by_bounds(
    tally: RubricTally,
    *,
    caps: Sequence[Cap] = (),
    intervals: Mapping[str, Interval] | None = None,
    confidence: float = DEFAULT_CONFIDENCE,
    clusters_are: ClusterWord = "items",
    settle: bool = True,
) -> Decision:
    """Decide by what is shown at `confidence`. `intervals` by aggregate are for reading, and decide nothing.

    `clusters_are` says what the tally's clusters are: items, asked several times, or groups of items. `settle` has it
    told what would settle the gates that are in doubt.
    """
    points = gates_by_points(tally, intervals or {})
    ready = bool(tally.n_samples) and all(gate.holds for gate in points)
    decided_by = DecidedBy(rule="bounds", confidence=confidence)
    if tally.n_samples == 0:
        return Decision(
            decision="NOT_READY", release_ready=False, reasons=("no_samples",), gates=points, confidence=confidence,
            decided_by=decided_by,
        )  # fmt: skip
    to_fail = confidence_to_fail(points, confidence)
    data = [
        None if gate.unmeasured else _gate_data(threshold, tally, to_hold=confidence, to_fail=to_fail)
        for gate, threshold in zip(points, tally.spec.gates, strict=True)
    ]
    capped, rule = all_caps(tally, caps), _by_rule(tally, ready, confidence, clusters_are)
    found = claims_of(points, data, capped, rule, confidence=confidence, settle=settle)
    return Decision(
        decision=found.decision,
        release_ready=ready,
        reasons=tuple(reason_words(one, found.gates, tally.spec.lowest_words) for one in found.reasons),
        gates=found.gates,
        confidence=confidence,
        capped_by=tuple(cap.text for cap in capped),
        decided_by=decided_by,
        caps=tuple(cap.code for cap in capped),
    )


def _gate_data(threshold: Threshold, tally: RubricTally, *, to_hold: float, to_fail: float) -> GateData | None:
    """What a gate is shown by; None for what is exact."""
    one = table_of(tally.spec)[threshold.aggregate]
    if not isinstance(one, OfSamples | Percentile):
        return None
    worst, best = (one.gate_sums(tally, threshold, end) for end in one.ends(threshold))
    side, limit = one.asks_for(threshold)
    if isinstance(one, Percentile):
        shown = _percentile(one, tally, "worst", "high", to_hold), _percentile(one, tally, "best", "low", to_fail)
        return GateData(worst, best, side, limit, tally.worst.n_unanswered, shown=shown)
    n_unscored = tally.n_samples - tally.n_scored
    return GateData(worst, best, side, limit, n_unscored, lowest=one.lowest, span=one.span)


def _percentile(one: Percentile, tally: RubricTally, case: Case, side: Side, confidence: float) -> float | None:
    """The bound of the percentile itself, in its own unit: for reading, as the share beyond the limit decides."""
    unknown = float("inf") if case == "worst" else 0.0
    if tally.clusters:
        of_clusters, added = one.of_clusters(tally), tally.worst.unanswered_clusters
        values = [*of_clusters.values, *[unknown] * len(added)]
        clusters = [*of_clusters.clusters, *added]
        return percentile_bound_of_clusters(side, values, clusters, one.q, confidence)
    counts, n_unknown = one.counts(tally), tally.worst.n_unanswered
    ranks = percentile_ranks(counts.total() + n_unknown, one.q, 2 * confidence - 1)
    rank = ranks.high_rank if side == "high" else ranks.low_rank
    if rank is None:
        return None
    if case == "best":  # unanswered ones stand first
        return 0.0 if rank <= n_unknown else float(order_statistic(counts, rank - n_unknown))
    return None if rank > counts.total() else float(order_statistic(counts, rank))


def _by_rule(tally: RubricTally, ready: bool, confidence: float, clusters_are: ClusterWord) -> Reason:
    """What the rubric's rule says by the values, and what keeps that from being shown."""
    n, n_clusters = tally.n_samples, len(tally.clusters)
    least = least_for_ready(tally.spec, confidence)
    if (n_clusters or n) >= least:
        return Reason(code="by_rule", holds=ready)
    one, n = (clusters_are.removesuffix("s"), n_clusters) if n_clusters else ("sample", n)
    return Reason(code="by_rule", holds=ready, found=f"{n:,} {one if n == 1 else one + 's'}", least=least)
