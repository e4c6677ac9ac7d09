"""The gates of a spec of checks, and the decision by them."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from benchbook.evaluators.answers.scorecard import Sums
from benchbook.evaluators.checks.result import in_nano
from benchbook.evaluators.checks.spec import Gate as GateSpec
from benchbook.evaluators.exact import NANO, as_float, mean
from benchbook.evaluators.gates import DecisionName, Direction, Gate, Threshold
from benchbook.evaluators.intervals import Interval

__all__ = ["decided_by_values", "gates_of", "thresholds_of"]


def thresholds_of(gates: tuple[GateSpec, ...]) -> tuple[Threshold, ...]:
    """The limits of a spec, in its order; a gate with both has two."""
    found = []
    for gate in gates:
        limits: tuple[tuple[Direction, Fraction | None], ...] = (
            ("at_least", gate.at_least),
            ("at_most", gate.at_most),
        )
        found += [Threshold(gate.aggregate, side, in_nano(limit)) for side, limit in limits if limit is not None]
    return tuple(found)


def gates_of(
    thresholds: tuple[Threshold, ...],
    sums: Mapping[str, Sums],
    intervals: Mapping[str, Interval],
    n_items: int,
    n_unanswered: int,
    *,
    failed: bool,
) -> tuple[Gate, ...]:
    """Each gate by its value, and with every item that is unanswered at its worst and at its best."""

    def gate(one: Threshold) -> Gate:
        measure = sums[one.aggregate]
        return _gate(one, measure, intervals[one.aggregate], _cases(measure, n_items, n_unanswered), failed=failed)

    return tuple(map(gate, thresholds))


def _gate(
    threshold: Threshold, sums: Sums, interval: Interval, cases: tuple[float | None, float | None], *, failed: bool
) -> Gate:
    low, high = cases
    value = sums.mean
    if failed and value is not None and threshold.aggregate != "no_prediction_rate":
        value = low = high = 0.0
    worst, best = (low, high) if threshold.direction == "at_least" else (high, low)
    return threshold.gate(value, worst, best, interval)


def _cases(sums: Sums, n_items: int, n_unanswered: int) -> tuple[float | None, float | None]:
    """The mean over all items with every unanswered one at 0, and at 1."""
    total = sums.total * (NANO if sums.is_rate else 1)
    return as_float(mean(total, n_items)), as_float(mean(total + n_unanswered * NANO, n_items))


def decided_by_values(gates: tuple[Gate, ...], verdict: str) -> dict[str, Any]:
    """READY where every gate holds by its value and the run itself held; NOT_READY where one can't.

    The seam: what the evidence shows (R6.4) is to be decided here, by the bounds that `gates` decides for every
    evaluator; the interval stands beside each value until then.
    """
    failing = [gate for gate in gates if not gate.holds_in_best_case]
    doubtful = [gate for gate in gates if not gate.holds_in_worst_case]
    decision: DecisionName
    if failing and verdict != "incomplete":
        decision, reasons = "NOT_READY", [_describe(gate) for gate in failing]
    elif doubtful or verdict != "pass":
        decision = "INCONCLUSIVE"
        reasons = [*(() if verdict == "pass" else ("the run itself did not hold",)), *map(_describe, doubtful)]
    else:
        decision, reasons = "READY", ["all gates hold, by their values"]
    ready = verdict == "pass" and all(gate.holds for gate in gates)
    return {"decision": decision, "release_ready": ready, "reasons": tuple(reasons), "gates": gates}


def _describe(gate: Gate) -> str:
    found = "has no value" if gate.value is None else f"is {gate.value:.9g}"
    relation = "at least" if gate.direction == "at_least" else "at most"
    return f"{gate.aggregate} {found}; the gate asks for {relation} {gate.limit:g}"
