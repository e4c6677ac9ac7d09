"""The release decision as people would have it: the frozen gates, held against corrected values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from benchbook.decisions.calibration_results import Corrected, CorrectedDecision, CorrectedGate
from benchbook.decisions.release import Decision, DecisionName, Gate, Threshold
from benchbook.statistics import Estimate

__all__ = ["Counted", "corrected_decision"]


@dataclass(frozen=True, slots=True)
class Counted:
    """How many samples a run's aggregates are over."""

    n_samples: int
    n_scored: int  # with a score, a rule's zeros among them
    n_faithfulness: int  # with a faithfulness score
    n_unscored: int
    is_whole: bool = True  # every sample that was planned is there

    def bases(self, aggregate: str) -> tuple[int, int]:
        """What the aggregate is divided by: as it stands, and with the unscored samples filled in (R6.3)."""
        if aggregate == "pass_rate":
            return self.n_samples, self.n_samples
        n = self.n_faithfulness if aggregate == "faithfulness_failure_rate" else self.n_scored
        return n, n + self.n_unscored


def corrected_decision(
    frozen: Decision, corrected: Sequence[Corrected], counted: Counted, confidence: float
) -> CorrectedDecision:
    """Move each gate's value by what the correction moves the judged samples, and decide.

    What no judge scored (no answer, failed judge) stays as it is. A corrected value is an estimate, so READY asks that
    its interval holds on the bad side; what capped the frozen decision caps this one.
    """
    by_name = {one.aggregate: one for one in corrected}
    gates = tuple(_gate(gate, by_name, counted) for gate in frozen.gates if not gate.unmeasured)
    never = [gate for gate in gates if not gate.can_hold]
    doubts = [_doubt(gate) for gate in gates if not gate.holds_for_sure]
    decision: DecisionName
    if counted.n_samples == 0:
        decision, reasons = "NOT_READY", ["no_samples"]
    elif never and counted.is_whole:
        decision, reasons = "NOT_READY", [_never(gate) for gate in never]
    elif doubts or frozen.capped_by:
        decision, reasons = "INCONCLUSIVE", [*frozen.capped_by, *doubts]
    else:
        decision, reasons = "READY", ["all gates hold, at the bad end of their intervals too"]
    return CorrectedDecision(
        decision=decision,
        by_values_alone=_by_values(gates, frozen, counted),
        reasons=tuple(reasons),
        gates=gates,
        confidence=confidence,
    )


def _by_values(gates: Sequence[CorrectedGate], frozen: Decision, counted: Counted) -> DecisionName:
    if counted.n_samples == 0 or any(gate.value is not None and not gate.holds for gate in gates):
        return "NOT_READY"
    unknown = frozen.capped_by or any(gate.value is None for gate in gates)
    return "INCONCLUSIVE" if unknown else "READY"


def _gate(gate: Gate, corrected: Mapping[str, Corrected], counted: Counted) -> CorrectedGate:
    threshold = Threshold(gate.aggregate, gate.direction, round(gate.limit * 1e9))
    one = corrected.get(gate.aggregate)
    source: Literal["corrected", "labels_alone", "run"] = "run"
    value, worst, best, reason = gate.value, gate.worst, gate.best, None
    if one is not None:
        source = "labels_alone" if one.corrected.low is None else "corrected"
        found = one.by_labels_alone if source == "labels_alone" else one.corrected
        value, worst, best, reason = _moved(gate, one, found, counted)
    return CorrectedGate(
        aggregate=gate.aggregate,
        direction=gate.direction,
        limit=gate.limit,
        source=source,
        frozen=gate.value,
        value=value,
        worst=worst,
        best=best,
        holds=threshold.holds(value),
        holds_for_sure=threshold.holds(worst),
        can_hold=(best is None and reason is not None) or threshold.holds(best),
        reason=reason,
    )


def _moved(
    gate: Gate, one: Corrected, found: Estimate, counted: Counted
) -> tuple[float | None, float | None, float | None, str | None]:
    """`(value, worst, best, reason)` of the whole run.

    A mean over all is the judged samples' part and the others': where the judged ones' mean moves by d, the whole moves
    by d times their share.
    """
    base, base_filled = counted.bases(gate.aggregate)
    if found.estimate is None or one.as_judged is None or gate.value is None or not base:
        return None, None, None, found.reason or "no_data"
    value = gate.value + (found.estimate - one.as_judged) * one.n_judged / base
    bad, good = (found.low, found.high) if gate.direction == "at_least" else (found.high, found.low)
    if bad is None or good is None or gate.worst is None or gate.best is None:
        return _within(value), None, None, found.reason or "no_data"
    share = one.n_judged / base_filled
    worst = gate.worst + (bad - one.as_judged) * share
    best = gate.best + (good - one.as_judged) * share
    return _within(value), _within(worst), _within(best), None


def _within(value: float) -> float:
    """Rates and scores lie in 0..1; an interval by the normal distribution may leave it."""
    return round(min(1.0, max(0.0, value)), 9)


def _never(gate: CorrectedGate) -> str:
    return f"{gate.aggregate} is {gate.best:.9g} at best; the gate asks for {_asks(gate)}"


def _doubt(gate: CorrectedGate) -> str:
    if gate.worst is None:
        return f"{gate.aggregate}: nothing can be said of how sure its corrected value is ({gate.reason or 'no_data'})"
    return f"{gate.aggregate} is {gate.value:.9g}, and {gate.worst:.9g} at worst; the gate asks for {_asks(gate)}"


def _asks(gate: CorrectedGate) -> str:
    return f"{'at least' if gate.direction == 'at_least' else 'at most'} {gate.limit:g}"
