"""The release decision of `rubric@v1` by points (SPEC R6), and the bounds that it asked for before derivation 3.

What the evidence allows is decided in `proving`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

import msgspec

from benchbook.evaluators.gates import (
    Cap,
    CapCode,
    DecidedBy,
    DecisionName,
    Gate,
    Reason,
    Threshold,
    is_incomplete,
    reason_words,
)
from benchbook.evaluators.intervals import Interval
from benchbook.evaluators.rubric.aggregates import is_bounded, is_unmeasured, table_of
from benchbook.evaluators.rubric.early_stop_gates import EarlyDecision
from benchbook.evaluators.rubric.early_stop_pairs import EarlyDifference
from benchbook.evaluators.rubric.needed import to_settle
from benchbook.evaluators.rubric.tally import Case, RubricTally

__all__ = ["Decision", "all_caps", "by_points", "decide", "gates_by_points"]


class Decision(msgspec.Struct, frozen=True, kw_only=True):
    """READY, NOT_READY or INCONCLUSIVE, and why: `reasons` in plain words, most important first.

    `release_ready` is the rubric's rule by the values alone (R6.2); before derivation 3 it was true for READY alone.
    """

    decision: DecisionName
    release_ready: bool
    reasons: tuple[str, ...]
    gates: tuple[Gate, ...]
    confidence: float | None = None  # asked that the bounds hold at this confidence (R6.4)
    capped_by: tuple[str, ...] = ()  # what keeps the decision from being READY, gates aside
    # From derivation 3 on:
    decided_by: DecidedBy | msgspec.UnsetType = msgspec.UNSET
    caps: tuple[CapCode, ...] | msgspec.UnsetType = msgspec.UNSET  # the codes of `capped_by`


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
    `intervals` by aggregate are shown; with `confidence` their bounds must hold too, and `settle` has it told what
    would settle the gates that are in doubt. `early` was decided on a part of the items, before all were asked.
    """
    gates = gates_by_points(tally, intervals or {}, confidence)
    capped_by = all_caps(tally, caps)
    if tally.n_samples == 0:
        return Decision(decision="NOT_READY", release_ready=False, reasons=("no_samples",), gates=gates)
    decision, reasons = _decided(gates, capped_by) if early is None else _decided_early(gates, capped_by, early)
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
        caps=tuple(cap.code for cap in all_caps(tally, caps)) if tally.n_samples else (),
    )


def all_caps(tally: RubricTally, caps: Sequence[Cap]) -> tuple[Cap, ...]:
    """With those that follow from the scale (R1.4)."""
    names = sorted(tally.spec.unmeasured)
    return (*caps, *(Cap("unmeasured", f"{name} was declared unmeasured") for name in names))


def _decided(gates: Sequence[Gate], capped_by: Sequence[Cap]) -> tuple[DecisionName, list[Reason]]:
    failing = [gate for gate in gates if not gate.unmeasured and not gate.holds_in_best_case]
    if failing and not is_incomplete(capped_by):
        return "NOT_READY", [_does_not_hold(gate, "scored" if gate.value is not None else "best") for gate in failing]
    doubts = [_doubt(gate) for gate in gates if not gate.unmeasured and _doubtful(gate)]
    return ("INCONCLUSIVE" if capped_by or doubts else "READY"), [*_caps(capped_by), *doubts]


def _caps(capped_by: Sequence[Cap]) -> list[Reason]:
    return [Reason(code="capped", cap=cap) for cap in capped_by]


def _decided_early(
    gates: Sequence[Gate], capped_by: Sequence[Cap], early: EarlyDecision
) -> tuple[DecisionName, list[Reason]]:
    """What the part of the items says that was enough; the values of the gates are of that part."""
    if early.decision == "NOT_READY" and not is_incomplete(capped_by):
        failing = [gate for gate in gates if gate.aggregate in early.by]
        return "NOT_READY", [_does_not_hold(gate, "scored", early.words) for gate in failing]
    if early.decision == "READY" and not capped_by:
        return "READY", [Reason(code="all_hold", early=early.words)]
    return "INCONCLUSIVE", _caps(capped_by)


def _with_settling(gate: Gate, decision: DecisionName, tally: RubricTally) -> Gate:
    """The gate with what would settle it, where it is one of those that leave the decision open."""
    found = None
    if decision == "INCONCLUSIVE" and gate.interval is not None and not gate.unmeasured and _doubtful(gate):
        found = to_settle(gate, gate.interval, tally)
    return msgspec.structs.replace(gate, n_to_settle=found)


def gates_by_points(
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


def _doubtful(gate: Gate) -> bool:
    return not (gate.holds and gate.holds_in_worst_case) or gate.bound_holds is False


def _doubt(gate: Gate) -> Reason:
    if not gate.holds:
        return _does_not_hold(gate, "scored")
    if not gate.holds_in_worst_case:
        return _does_not_hold(gate, "worst")
    return Reason(code="bound_does_not_hold", aggregate=gate.aggregate, value=gate.value, limit=gate.limit)


def _does_not_hold(gate: Gate, case: Case, early: str | None = None) -> Reason:
    value = {"scored": gate.value, "worst": gate.worst, "best": gate.best}[case]
    return Reason(code="does_not_hold", aggregate=gate.aggregate, value=value, limit=gate.limit, case=case, early=early)
