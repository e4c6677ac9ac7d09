"""The decision that the evidence allows (SPEC R6.3 and R6.4): READY and NOT_READY are claims, and have to be shown.

READY takes all gates, each shown to hold in the worst case: were it wrong, one of them would fail, and its own bound
alone would have to be wrong. NOT_READY takes one gate shown to fail in the best case; any of them could by chance, so
they share the error.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

import msgspec

from benchbook.evaluators.exact import order_statistic
from benchbook.evaluators.gates import Cap, DecisionName, Gate, Reason, Threshold, ToSettle, is_incomplete, reason_words
from benchbook.evaluators.intervals import Interval
from benchbook.evaluators.rubric.aggregate_kinds import OfSamples, Percentile
from benchbook.evaluators.rubric.aggregates import is_bounded, table_of
from benchbook.evaluators.rubric.gate_sums import GateSums
from benchbook.evaluators.rubric.needed import least_for_ready, needed
from benchbook.evaluators.rubric.release import DecidedBy, Decision, all_caps, gates_by_points
from benchbook.evaluators.rubric.tally import Case, RubricTally
from benchbook.statistics.binomial import percentile_bound_of_clusters, percentile_ranks
from benchbook.statistics.clusters import Side

__all__ = ["DEFAULT_CONFIDENCE", "ClusterWord", "decide_by_bounds"]


DEFAULT_CONFIDENCE = 0.95
"""What a decision is shown at, where nothing else was asked for (R6.4)."""

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
    to_fail = 1 - (1 - confidence) / max(1, sum(not gate.unmeasured for gate in points))
    gates = tuple(
        gate if gate.unmeasured else _with_bounds(gate, threshold, tally, to_hold=confidence, to_fail=to_fail)
        for gate, threshold in zip(points, tally.spec.gates, strict=True)
    )
    capped = all_caps(tally, caps)
    decision = _decided(gates, capped)
    if decision == "INCONCLUSIVE" and settle:
        gates = tuple(
            msgspec.structs.replace(
                gate,
                n_to_settle=needed(gate, threshold, tally, to_hold=confidence, to_fail=to_fail)
                if gate.claim == "open" and is_bounded(tally.spec, gate.aggregate)
                else None,
            )
            for gate, threshold in zip(gates, tally.spec.gates, strict=True)
        )
    rule = _by_rule(tally, ready, confidence, clusters_are)
    reasons = _reasons(decision, gates, capped, rule, confidence, to_fail)
    return Decision(
        decision=decision,
        release_ready=ready,
        reasons=tuple(reason_words(one, gates, tally.spec.lowest_words) for one in reasons),
        gates=gates,
        confidence=confidence,
        capped_by=tuple(cap.text for cap in capped),
        decided_by=decided_by,
        caps=tuple(cap.code for cap in capped),
    )


def _decided(gates: Sequence[Gate], caps: Sequence[Cap]) -> DecisionName:
    if any(gate.claim == "fails" for gate in gates) and not is_incomplete(caps):
        return "NOT_READY"
    return "READY" if not caps and all(gate.claim == "holds" for gate in gates) else "INCONCLUSIVE"


# ── a gate's bounds ──────────────────────────────────────────────────────────────────────────────────────────


def _with_bounds(gate: Gate, threshold: Threshold, tally: RubricTally, *, to_hold: float, to_fail: float) -> Gate:
    """The gate with the two bounds that claims are made by, and what they show."""
    one = table_of(tally.spec)[gate.aggregate]
    if not isinstance(one, OfSamples | Percentile):
        return _by_value(gate)
    worst, best = (one.gate_sums(tally, threshold, end) for end in one.ends(threshold))
    side, limit = one.asks_for(threshold)
    other: Side = "high" if side == "low" else "low"
    at_worst, at_best = _rounded(worst.bound(side, to_hold)), _rounded(best.bound(other, to_fail))
    holds = at_worst is not None and (at_worst >= limit if side == "low" else at_worst <= limit)
    fails = at_best is not None and (at_best < limit if side == "low" else at_best > limit)
    if isinstance(one, Percentile):
        at_worst = _percentile(one, tally, "worst", "high", to_hold)
        at_best = _percentile(one, tally, "best", "low", to_fail)
    elif one.lowest or one.span != 1:
        at_worst, at_best = (
            None if bound is None else _rounded(one.lowest + one.span * bound) for bound in (at_worst, at_best)
        )
    return msgspec.structs.replace(
        gate,
        bound=at_worst,
        best_bound=at_best,
        bound_holds=holds and gate.holds_in_worst_case,
        bound_reason=_why_none(worst, at_worst),
        claim="holds" if holds and gate.holds_in_worst_case else "fails" if fails else "open",
    )


def _by_value(gate: Gate) -> Gate:
    """A gate on what is exact: it holds or fails by its value. One without a value is open."""
    return msgspec.structs.replace(
        gate,
        bound=gate.value,
        best_bound=gate.value,
        bound_holds=gate.holds,
        bound_reason=None if gate.value is not None else "no_data",
        claim="open" if gate.value is None else "holds" if gate.holds else "fails",
    )


def _rounded(bound: float | None) -> float | None:
    return None if bound is None else round(bound, 9)


def _why_none(sums: GateSums, bound: float | None) -> str | None:
    if bound is not None:
        return None
    return "no_data" if sums.n == 0 else "one_cluster" if sums.n_clusters == 1 else "sample_too_small"


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


# ── why ──────────────────────────────────────────────────────────────────────────────────────────────────────


def _reasons(
    decision: DecisionName, gates: Sequence[Gate], caps: Sequence[Cap], rule: Reason, confidence: float, to_fail: float
) -> list[Reason]:
    if decision == "READY":
        return [Reason(code="all_hold", confidence=confidence)]
    if decision == "NOT_READY":
        return [
            Reason(
                code="shown_to_fail", aggregate=gate.aggregate, value=gate.value, limit=gate.limit, case="best",
                confidence=to_fail,
            )
            for gate in gates
            if gate.claim == "fails"
        ]  # fmt: skip
    capped = [Reason(code="capped", cap=cap) for cap in caps]
    is_open = (gate for gate in gates if not gate.unmeasured and gate.claim != "holds")
    return [*capped, rule, *(_open(gate, confidence, to_fail) for gate in is_open)]


def _open(gate: Gate, to_hold: float, to_fail: float) -> Reason:
    """Told by the bound that more samples would move: the best case's where they would show that it fails."""
    fails = isinstance(gate.n_to_settle, ToSettle) and gate.n_to_settle.would == "fail"
    at_best = fails and gate.best_bound is not None
    return Reason(
        code="open",
        aggregate=gate.aggregate,
        value=gate.value,
        limit=gate.limit,
        case="best" if fails else "worst",
        confidence=to_fail if at_best else to_hold,
    )


def _by_rule(tally: RubricTally, ready: bool, confidence: float, clusters_are: ClusterWord) -> Reason:
    """What the rubric's rule says by the values, and what keeps that from being shown."""
    n, n_clusters = tally.n_samples, len(tally.clusters)
    least = least_for_ready(tally.spec, confidence)
    if (n_clusters or n) >= least:
        return Reason(code="by_rule", holds=ready)
    one, n = (clusters_are.removesuffix("s"), n_clusters) if n_clusters else ("sample", n)
    return Reason(code="by_rule", holds=ready, found=f"{n:,} {one if n == 1 else one + 's'}", least=least)
