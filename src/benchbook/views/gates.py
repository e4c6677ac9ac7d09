"""A gate of a decision, in words and as a table: its rule, its value, and whether it holds (SPEC R6)."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import msgspec

from benchbook.evaluators.document import Cell, Columns, Kind, Reach, Span, Table, Tone, Value, table
from benchbook.evaluators.gates import Decision, Direction, Gate
from benchbook.statistics.ground import REASONS
from benchbook.views import numbers
from benchbook.views.words import aggregate_word, by_bounds


class GateState(NamedTuple):
    tone: Tone
    text: str
    detail: str | None = None

    @property
    def words(self) -> str:
        """`Holds, but not in the worst case`."""
        return f"{self.text}, {self.detail}" if self.detail else self.text


def gate_state(gate: Gate) -> GateState:
    """The state of a gate: whether it holds, and how firmly."""
    if gate.unmeasured:
        return GateState("none", "Not judged", "declared unmeasured")
    if not isinstance(gate.claim, msgspec.UnsetType):
        return _state_by_claim(gate)
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


def _state_by_claim(gate: Gate) -> GateState:
    """The state of a gate that bounds decide: what the value says, and what the bounds show."""
    word = "Holds" if gate.holds else "Does not hold"
    if gate.claim == "holds":
        return GateState("good", word, "and is shown to, in the worst case too")
    if gate.claim == "fails":
        return GateState("bad", word, "and is shown not to, in the best case too")
    if gate.value is None:
        return GateState("doubt", word, "not measured")
    if gate.holds and not gate.holds_in_worst_case:
        return GateState("doubt", word, "but not in the worst case")
    return GateState("doubt", word, "by its value; it is not shown")


def rule_words(direction: Direction, kind: Kind, limit: float) -> str:
    """`at least 85 %`."""
    return f"{'at least' if direction == 'at_least' else 'at most'} {numbers.limit(kind, limit)}"


def gate_rule(gate: Gate) -> str:
    """The rule of a gate: `at least 85 %`."""
    return rule_words(gate.direction, aggregate_word(gate.aggregate).kind, gate.limit)


def gate_value(gate: Gate, value: float | None) -> str:
    """One of the gate's values, never rounded onto its limit."""
    kind = aggregate_word(gate.aggregate).kind
    return numbers.show(kind, value, apart_from=gate.limit, unknown="not measured")


def extremes(gate: Gate) -> str:
    """`82.1 % to 90.0 %` from the worst case to the best; a single value where they agree."""
    if gate.worst == gate.best:
        return gate_value(gate, gate.worst)
    return f"{gate_value(gate, gate.worst)} to {gate_value(gate, gate.best)}"


def gates_table(
    decision: Decision,
    word: Callable[[str], tuple[str, Kind]] = lambda name: aggregate_word(name)[:2],
    *,
    unknown: str = "not measured",
    in_full: bool = True,
) -> Table:
    """The gates of R6.1, each with its worst and best case, its interval, and the bound that decides where one does.

    `word` calls an aggregate by its name and kind. Not `in_full`, among other tables, cases and bound are left out.
    """
    with_bounds = in_full and by_bounds(decision)
    rows = []
    for gate in decision.gates:
        label, kind = word(gate.aggregate)
        value, worst, best = (
            Value(kind, one, unknown=unknown, apart_from=gate.limit) for one in (gate.value, gate.worst, gate.best)
        )
        cells: list[Cell] = [label, rule_words(gate.direction, kind, gate.limit), value]
        cells += [Span(worst, best)] if in_full else []
        cells += [Reach(kind, gate.interval)]
        cells += [_bound_words(gate)] if with_bounds else []
        rows.append([*cells, gate_state(gate).words])
    columns: Columns = {
        "Gate": "text", "Rule": "text", "Value": "number",
        **({"Worst to best case": "number"} if in_full else {}), "Interval": "number",
        **({"Bound in the worst case": "number"} if with_bounds else {}), "Outcome": "text",
    }  # fmt: skip
    return table("The gates", columns, rows, titled=in_full)


def _bound_words(gate: Gate) -> str | None:
    """`84.1 % at worst`: the bound that READY asks to hold; None where bounds don't decide."""
    if isinstance(gate.bound, msgspec.UnsetType):
        return None
    why = gate.bound_reason if isinstance(gate.bound_reason, str) else None
    return numbers.nothing(REASONS.get(why or "", why)) if gate.bound is None else gate_value(gate, gate.bound)


def _in_any_case(gate: Gate) -> str | None:
    """Unscored samples leave a worst and a best case; where both agree there is nothing to add."""
    if gate.worst == gate.best:
        return None
    return "in the worst case too" if gate.holds else "not even in the best case"
