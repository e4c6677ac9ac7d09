"""The release decision of `rubric@v1` (SPEC R6)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from functools import cache
from typing import Literal

import msgspec

from benchbook.scorers.exact import as_float
from benchbook.scorers.rubric_aggregates import RubricTally
from benchbook.specs import load_spec

__all__ = ["Decision", "DecisionName", "Gate", "Interval", "Threshold", "decide", "thresholds"]

DecisionName = Literal["READY", "NOT_READY", "INCONCLUSIVE"]

_NANO = Decimal(10) ** 9
# The aggregate that R1.4's declaration takes away. Tokens have no gate of their own.
_UNMEASURED_GATE: Mapping[str, str] = {"latency": "latency_e2e_p95_ms"}


class Threshold(msgspec.Struct, frozen=True):
    """A gate's rule: the aggregate must be `at_least` or `at_most` `limit_nano` billionths."""

    aggregate: str
    direction: Literal["at_least", "at_most"]
    limit_nano: int

    @property
    def limit(self) -> float:
        return self.limit_nano / 1e9

    def holds(self, value: float | None) -> bool:
        """A null value does not hold (R6.1)."""
        margin = self.margin(value)
        return margin is not None and margin >= 0

    def margin(self, value: float | None) -> float | None:
        """How far `value` is on the good side of the limit; negative where it does not hold."""
        if value is None:
            return None
        distance = round(value * 1e9) - self.limit_nano
        return as_float(distance if self.direction == "at_least" else -distance)


class Interval(msgspec.Struct, frozen=True, kw_only=True):
    """A confidence interval; a bound is null where nothing can be said, and `reason` says why."""

    low: float | None
    high: float | None
    confidence: float
    method: str
    n: int
    reason: str | None = None
    warnings: tuple[str, ...] = ()


class Gate(msgspec.Struct, frozen=True, kw_only=True):
    """One gate: its value, its value in the worst and best case (R6.3), and the margin to its limit."""

    aggregate: str
    direction: Literal["at_least", "at_most"]
    limit: float
    value: float | None
    worst: float | None
    best: float | None
    holds: bool
    holds_in_worst_case: bool
    holds_in_best_case: bool
    margin: float | None
    unmeasured: bool = False  # declared so (R1.4): it neither holds nor fails, and READY is out of reach
    interval: Interval | None = None
    bound_holds: bool | None = None  # whether the interval's bound holds; None where that was not asked for


class Decision(msgspec.Struct, frozen=True, kw_only=True):
    """READY, NOT_READY or INCONCLUSIVE, and why: `reasons` in plain words, most important first."""

    decision: DecisionName
    release_ready: bool
    reasons: tuple[str, ...]
    gates: tuple[Gate, ...]
    confidence: float | None = None  # asked that the bounds hold at this confidence (R6.4)
    capped_by: tuple[str, ...] = ()  # what keeps the decision from being READY, gates aside


@cache
def thresholds(spec_id: str = "rubric@v1") -> tuple[Threshold, ...]:
    """The gates of a frozen spec, in its order."""
    return tuple(
        Threshold(
            gate["aggregate"],
            "at_least" if "at_least" in gate else "at_most",
            int(Decimal(gate.get("at_least") or gate["at_most"]) * _NANO),
        )
        for gate in load_spec(spec_id).settings["gates"]
    )


def decide(
    tally: RubricTally,
    *,
    caps: Sequence[str] = (),
    intervals: Mapping[str, Interval] | None = None,
    confidence: float | None = None,
) -> Decision:
    """Decide by R6.1 to R6.5.

    `caps` names what makes INCONCLUSIVE the best possible decision: an incomplete run, a changed snapshot.
    `intervals` by aggregate are shown; with `confidence` their bounds must hold too.
    """
    gates = _gates(tally, intervals or {}, confidence)
    capped_by = [*caps, *(f"{name} was declared unmeasured" for name in sorted(tally.scale.unmeasured))]
    if tally.n_samples == 0:
        return Decision(decision="NOT_READY", release_ready=False, reasons=("no_samples",), gates=gates)
    failing = [gate for gate in gates if not gate.unmeasured and not gate.holds_in_best_case]
    if failing and not any(cap.startswith("incomplete") for cap in capped_by):
        decision: DecisionName = "NOT_READY"
        reasons = [_describe(gate, gate.value if gate.value is not None else gate.best) for gate in failing]
    else:
        decision = "READY"
        reasons = list(capped_by)
        reasons += [_describe_doubt(gate) for gate in gates if not gate.unmeasured and _doubtful(gate)]
        if reasons:
            decision = "INCONCLUSIVE"
    return Decision(
        decision=decision,
        release_ready=decision == "READY",
        reasons=tuple(reasons) or ("all gates hold, in the worst case too",),
        gates=gates,
        confidence=confidence,
        capped_by=tuple(capped_by),
    )


def _gates(tally: RubricTally, intervals: Mapping[str, Interval], confidence: float | None) -> tuple[Gate, ...]:
    aggregates = tally.aggregates()
    worst, best = tally.bounds()
    unmeasured = {_UNMEASURED_GATE[name] for name in tally.scale.unmeasured if name in _UNMEASURED_GATE}
    return tuple(
        _gate(
            threshold,
            value_of=lambda values, name=threshold.aggregate: getattr(values, name),  # type: ignore[misc]
            values=(aggregates, worst, best),
            unmeasured=threshold.aggregate in unmeasured,
            interval=intervals.get(threshold.aggregate),
            confidence=confidence,
        )
        for threshold in thresholds()
    )


def _gate(
    threshold: Threshold,
    *,
    value_of: Callable[[object], float | None],
    values: tuple[object, object, object],
    unmeasured: bool,
    interval: Interval | None,
    confidence: float | None,
) -> Gate:
    value, worst, best = (value_of(one) for one in values)
    bound_holds = None
    if confidence is not None and not unmeasured:
        bound = None if interval is None else interval.low if threshold.direction == "at_least" else interval.high
        bound_holds = threshold.holds(bound)
    return Gate(
        aggregate=threshold.aggregate,
        direction=threshold.direction,
        limit=threshold.limit,
        value=value,
        worst=worst,
        best=best,
        holds=threshold.holds(value),
        holds_in_worst_case=threshold.holds(worst),
        holds_in_best_case=threshold.holds(best),
        margin=threshold.margin(value),
        unmeasured=unmeasured,
        interval=interval,
        bound_holds=bound_holds,
    )


def _doubtful(gate: Gate) -> bool:
    return not (gate.holds and gate.holds_in_worst_case) or gate.bound_holds is False


def _describe_doubt(gate: Gate) -> str:
    if not gate.holds:
        return _describe(gate, gate.value)
    if not gate.holds_in_worst_case:
        return f"{_describe(gate, gate.worst)} in the worst case, unscored samples taken at 0"
    return f"{gate.aggregate}: its confidence bound does not hold"


def _describe(gate: Gate, value: float | None) -> str:
    found = "was not measured" if value is None else f"is {value:.9g}"
    relation = "at least" if gate.direction == "at_least" else "at most"
    return f"{gate.aggregate} {found}; the gate asks for {relation} {gate.limit:g}"
