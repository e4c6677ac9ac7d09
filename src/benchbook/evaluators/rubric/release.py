"""The release decision of a rubric: by points (SPEC R6), and by what the data show of its gates (SPEC R6.3, R6.4;
`evaluators.claims`). Before derivation 3 points were decided by, and bounds asked for beside them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

import msgspec

from benchbook.evaluators.claims import (
    DEFAULT_CONFIDENCE,
    GateData,
    capped,
    claims_of,
    confidence_to_fail,
    decided_by_points,
    does_not_hold,
    is_doubtful,
    values_alone,
)
from benchbook.evaluators.exact import order_statistic
from benchbook.evaluators.gates import (
    Cap,
    DecidedBy,
    Decision,
    DecisionName,
    Gate,
    Reason,
    Threshold,
    is_incomplete,
    reason_words,
)
from benchbook.evaluators.intervals import Interval
from benchbook.evaluators.rubric.aggregate_kinds import OfSamples, Percentile
from benchbook.evaluators.rubric.aggregates import is_bounded, is_unmeasured, table_of
from benchbook.evaluators.rubric.early_stop_gates import EarlyDecision
from benchbook.evaluators.rubric.early_stop_pairs import EarlyDifference
from benchbook.evaluators.rubric.needed import least_for_ready, to_settle
from benchbook.evaluators.rubric.tally import Case, RubricTally
from benchbook.statistics.binomial import percentile_bound_of_clusters, percentile_ranks
from benchbook.statistics.clusters import Side


def decide(
    tally: RubricTally,
    *,
    caps: Sequence[Cap] = (),
    intervals: Mapping[str, Interval] | None = None,
    confidence: float | None = None,
    settle: bool = True,
    early: EarlyDecision | None = None,
) -> Decision:
    """Decide by points over the worst and the best case, as before derivation 3.

    `caps` names what makes INCONCLUSIVE the best possible decision: an incomplete run, a changed snapshot.
    `intervals` by aggregate are shown; with `confidence` their bounds must hold too, and with `settle` gates in doubt
    say what would settle them. `early` was decided on a part of the items, before all were asked.
    """
    gates = _gates_by_points(tally, intervals or {}, confidence)
    capped_by = _all_caps(tally, caps)
    if tally.n_samples == 0:
        return Decision(
            decision="NOT_READY",
            release_ready=False,
            reasons=("no_samples",),
            gates=gates,
            confidence=None,
            capped_by=(),
        )
    decision, reasons = (
        decided_by_points(gates, capped_by) if early is None else _decided_early(gates, capped_by, early)
    )
    reasons = reasons or [Reason(code="all_hold")]
    if confidence is not None and settle:
        gates = tuple(_with_settling(gate, decision, tally) for gate in gates)
    return Decision(
        decision=decision,
        release_ready=decision == "READY",
        reasons=tuple(reason_words(one, gates, tally.spec.lowest_words) for one in reasons),
        gates=gates,
        confidence=confidence,
        capped_by=tuple(cap.text for cap in capped_by),
    )


def by_points(
    tally: RubricTally,
    *,
    caps: Sequence[Cap] = (),
    intervals: Mapping[str, Interval] | None = None,
    early: EarlyDecision | EarlyDifference | None = None,
) -> Decision:
    """The same from derivation 3 on: `release_ready` is the rule by the values, and what decided is named."""
    by_gates = early if isinstance(early, EarlyDecision) else None
    found = decide(tally, caps=caps, intervals=intervals, early=by_gates)
    by = DecidedBy(rule="points", confidence=None)
    if early is not None:
        rule: Literal["until_decided", "comparison"] = "comparison" if by_gates is None else "until_decided"
        by = DecidedBy(rule=rule, confidence=round(1 - early.error, 9))
    return msgspec.structs.replace(
        found,
        release_ready=tally.n_samples > 0 and all(gate.holds for gate in found.gates),
        decided_by=by,
        caps=tuple(cap.code for cap in _all_caps(tally, caps)) if tally.n_samples else (),
    )


def _all_caps(tally: RubricTally, caps: Sequence[Cap]) -> tuple[Cap, ...]:
    """The caps, with those that follow from the scale (R1.4)."""
    names = sorted(tally.spec.unmeasured)
    return (*caps, *(Cap("unmeasured", f"{name} was declared unmeasured") for name in names))


def _decided_early(
    gates: Sequence[Gate], capped_by: Sequence[Cap], early: EarlyDecision
) -> tuple[DecisionName, list[Reason]]:
    """The decision on the part of the items that was enough, and its reasons; the gates' values are of that part."""
    if early.decision == "NOT_READY" and not is_incomplete(capped_by):
        failing = [gate for gate in gates if gate.aggregate in early.by]
        return "NOT_READY", [does_not_hold(gate, "scored", early.words) for gate in failing]
    if early.decision == "READY" and not capped_by:
        return "READY", [Reason(code="all_hold", early=early.words)]
    return "INCONCLUSIVE", capped(capped_by)


def _with_settling(gate: Gate, decision: DecisionName, tally: RubricTally) -> Gate:
    """The gate with what would settle it, where it is one of those that leave the decision open."""
    found = None
    if decision == "INCONCLUSIVE" and gate.interval is not None and not gate.unmeasured and is_doubtful(gate):
        found = to_settle(gate, gate.interval, tally)
    return msgspec.structs.replace(gate, n_to_settle=found)


def _gates_by_points(
    tally: RubricTally, intervals: Mapping[str, Interval], confidence: float | None = None
) -> tuple[Gate, ...]:
    """The gates by their values, as scored and in the worst and best case; with `confidence`, by `intervals` too."""
    return tuple(
        _gate(threshold, tally, interval=intervals.get(threshold.aggregate), confidence=confidence)
        for threshold in tally.spec.gates
    )


def _gate(threshold: Threshold, tally: RubricTally, *, interval: Interval | None, confidence: float | None) -> Gate:
    one = table_of(tally.spec)[threshold.aggregate]
    value, (worst, best) = one.value(tally), (one.value(tally, case) for case in one.ends(threshold))
    unmeasured = is_unmeasured(tally.spec, threshold.aggregate)
    bound_holds = None
    if confidence is not None and not unmeasured:
        bound = None if interval is None else interval.low if threshold.direction == "at_least" else interval.high
        bound_holds = threshold.holds(bound if is_bounded(tally.spec, one.name) else value)
    found = threshold.gate(value, worst, best, interval)
    return msgspec.structs.replace(found, unmeasured=unmeasured, bound_holds=bound_holds)


# ── by what the data show ────────────────────────────────────────────────────────────────────────────────────


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

    `clusters_are` says what the tally's clusters are: items, asked several times, or groups of items. With `settle`
    gates in doubt say what would settle them.
    """
    points = _gates_by_points(tally, intervals or {})
    ready = bool(tally.n_samples) and all(gate.holds for gate in points)
    decided_by = DecidedBy(rule="bounds", confidence=confidence)
    if tally.n_samples == 0:
        return Decision(
            decision="NOT_READY", release_ready=False, reasons=("no_samples",), gates=points, confidence=confidence,
            capped_by=(), decided_by=decided_by,
        )  # fmt: skip
    to_fail = confidence_to_fail(points, confidence)
    data = [
        None if gate.unmeasured else _gate_data(threshold, tally, to_hold=confidence, to_fail=to_fail)
        for gate, threshold in zip(points, tally.spec.gates, strict=True)
    ]
    capped, rule = _all_caps(tally, caps), _by_rule(tally, ready, confidence, clusters_are)
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
    """The data that a gate is shown by; None for what is exact."""
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
    """The result of the rubric's rule by the values, and what keeps that from being shown."""
    n, n_clusters = tally.n_samples, len(tally.clusters)
    least = least_for_ready(tally.spec, confidence)
    one, n = (clusters_are.removesuffix("s"), n_clusters) if n_clusters else ("sample", n)
    return values_alone("by_rule", holds=ready, n=n, one=one, least=least)
