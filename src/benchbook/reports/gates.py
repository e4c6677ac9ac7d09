"""How one gate of the decision reads: its rule, its value, and whether it holds, in words (SPEC R6)."""

from __future__ import annotations

from typing import Literal, NamedTuple

from benchbook.decisions import Decision, Gate, ToSettle
from benchbook.decisions.settling import WHY_NOT
from benchbook.reports import numbers
from benchbook.reports.words import aggregate_word, plural
from benchbook.statistics.results import REASONS

__all__ = ["GateState", "Tone", "extremes", "gate_rule", "gate_state", "gate_value", "settling", "settling_lines"]

Tone = Literal["good", "bad", "doubt", "none"]


class GateState(NamedTuple):
    tone: Tone
    text: str
    detail: str | None = None


def gate_state(gate: Gate) -> GateState:
    """Whether the gate holds, and how firmly."""
    if gate.unmeasured:
        return GateState("none", "Not judged", "declared unmeasured")
    if gate.value is None and not gate.holds_in_best_case:
        return GateState("bad", "Does not hold", "not measured")
    if not gate.holds_in_best_case:
        return GateState("bad", "Does not hold", _in_any_case(gate))
    if not gate.holds:
        return GateState("doubt", "Does not hold", "though it would in the best case")
    if not gate.holds_in_worst_case:
        return GateState("doubt", "Holds", "but not in the worst case")
    if gate.bound_holds is False:
        return GateState("doubt", "Holds", "but its confidence bound does not")
    return GateState("good", "Holds", _in_any_case(gate))


def gate_rule(gate: Gate) -> str:
    """`at least 85 %`."""
    relation = "at least" if gate.direction == "at_least" else "at most"
    return f"{relation} {numbers.limit(aggregate_word(gate.aggregate).kind, gate.limit)}"


def gate_value(gate: Gate, value: float | None, n: int | None = None) -> str:
    """One of the gate's values, never rounded onto its limit."""
    kind = aggregate_word(gate.aggregate).kind
    return numbers.show(kind, value, n=n, apart_from=gate.limit, unknown="not measured")


def extremes(gate: Gate) -> str:
    """`82.1 % to 90.0 %` from the worst case to the best; a single value where they agree."""
    if gate.worst == gate.best:
        return gate_value(gate, gate.worst)
    return f"{gate_value(gate, gate.worst)} to {gate_value(gate, gate.best)}"


def settling_lines(decision: Decision) -> list[str]:
    """What would settle the gates that leave a decision open, a sentence each; none where bounds were not asked for."""
    return [
        f"{aggregate_word(gate.aggregate).label}: {settling(gate.n_to_settle)}"
        for gate in decision.gates
        if isinstance(gate.n_to_settle, ToSettle)
    ]


def settling(found: ToSettle) -> str:
    """`1,200 more samples (1,300 in all) would settle that it holds, if its value stays what it is`."""
    if found.n_in_all is None or found.n_more is None:
        words = f"how many samples would settle it can't be told: {_why_not(found.reason)}"
    else:
        outcome = "holds" if found.would == "hold" else "does not hold"
        words = (
            f"{plural(found.n_more, 'more sample')} ({found.n_in_all:,} in all) would settle that it {outcome}, "
            "if its value stays what it is"
        )
    if not found.n_unscored:
        return words
    unscored = "the 1 unscored sample" if found.n_unscored == 1 else f"the {found.n_unscored:,} unscored samples"
    return f"{words}; {unscored} may move it whatever their number"


def _why_not(reason: str | None) -> str:
    return WHY_NOT.get(reason or "") or REASONS.get(reason or "", reason or "not known")


def _in_any_case(gate: Gate) -> str | None:
    """Unscored samples leave a worst and a best case; where both agree there is nothing to add."""
    if gate.worst == gate.best:
        return None
    return "in the worst case too" if gate.holds else "not even in the best case"
