"""How one gate of the decision reads: its rule, its value, and whether it holds, in words (SPEC R6)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple

import msgspec

from benchbook.evaluators.gates import Gate, ToSettle
from benchbook.evaluators.rubric.items_needed import ItemsNeeded
from benchbook.evaluators.rubric.needed import WHY_NOT
from benchbook.evaluators.rubric.release import Decision
from benchbook.statistics.results import REASONS
from benchbook.views import numbers
from benchbook.views.words import aggregate_word, plural

__all__ = [
    "GateState",
    "Tone",
    "bound_words",
    "decided_lines",
    "extremes",
    "gate_rule",
    "gate_state",
    "gate_value",
    "plan_words",
    "ready_words",
    "settling",
    "settling_lines",
]


Tone = Literal["good", "bad", "doubt", "none"]


class GateState(NamedTuple):
    tone: Tone
    text: str
    detail: str | None = None


def gate_state(gate: Gate) -> GateState:
    """Whether the gate holds, and how firmly."""
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
    """Where bounds decide: what they show, beside what the value says."""
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


def decided_lines(decision: Decision) -> list[str]:
    """What the decision goes by, and what the rubric's rule says by the values alone (R6.2, R6.4)."""
    by = decision.decided_by
    if isinstance(by, msgspec.UnsetType):
        if decision.confidence is None:
            return []
        bound = numbers.limit("rate", decision.confidence)
        return [f"It was asked that the bounds of the {bound} intervals hold too."]
    confidence = None if by.confidence is None else numbers.limit("rate", by.confidence)
    match by.rule:
        case "bounds":
            went_by = f"Decided by what is shown at {confidence} confidence"
        case "points":
            went_by = "Decided by the values, in the worst and the best case (--confidence none)"
        case "until_decided":
            went_by = f"Decided once it was sure enough, at {confidence}, what all items would give"
        case "comparison":
            went_by = f"The run ended by its comparison with another, at {confidence}; its gates decided nothing"
    rule = "release-ready" if decision.release_ready else "not release-ready"
    return [f"{went_by}. By the rubric's rule: {rule}."]


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


def bound_words(gate: Gate) -> str | None:
    """`84.1 % at worst`: the bound that READY asks to hold; None where bounds don't decide."""
    if isinstance(gate.bound, msgspec.UnsetType):
        return None
    why = gate.bound_reason if isinstance(gate.bound_reason, str) else None
    return numbers.nothing(REASONS.get(why or "", why)) if gate.bound is None else gate_value(gate, gate.bound)


def settling_lines(decision: Decision) -> list[str]:
    """What would settle the gates that leave a decision open, a sentence each; none where bounds were not asked for, or
    where the reasons say it."""
    if not isinstance(decision.decided_by, msgspec.UnsetType):
        return []
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


def plan_words(plan: ItemsNeeded) -> list[str]:
    """The plan in sentences, the answer first."""
    what = "items, the same for both runs" if plan.paired else "items for each run, different ones"
    change = f"{plan.baseline:g} become {plan.baseline + plan.detect:g} ({plan.detect:+g})"
    chance = f"{100 * plan.power:g} %, by a two-sided test at alpha {plan.alpha:g}"
    lines = [
        f"{plan.n_items:,} {what}: {plan.n_answers:,} answers in all",
        f"to see a rate of {change} with a chance of {chance}",
    ]
    if (shares := plan.discordance) is not None:
        measured = (
            "assumed, as of two runs that know nothing of one another; runs that agree more need fewer items, "
            "so measure it in a first run and give it by --discordance"
            if shares.assumed
            else "given"
        )
        lines.append(
            f"discordance: {100 * shares.share:.4g} % of items are passed by one run alone "
            f"({100 * shares.only_before:.4g} % lost, {100 * shares.only_after:.4g} % won); {measured}"
        )
    if plan.clusters is not None:
        lines.append(
            f"clusters: {plan.clusters:,} of {plan.cluster_size:g} items; at a correlation of "
            f"{plan.intraclass_correlation:g} within them each item counts {1 / plan.design_effect:.3g} "
            f"(design effect {plan.design_effect:.4g}, Kish 1965)"
        )
    if plan.repeats > 1 and plan.within_item is not None:
        lines.append(
            f"repeats: {plan.repeats} of each item in each run; {100 * plan.within_item:.4g} % of the variance is "
            "within the item, and falls with their number"
        )
    lines.append(f"READY: a run of fewer than {plan.n_for_ready:,} items can't be shown to be, however good it is")
    return [*lines, f"formula: {plan.formula}"]


def ready_words(by_gate: Mapping[str, int], confidence: float) -> list[str]:
    """How many items READY takes, the answer first."""
    return [
        f"{max(by_gate.values()):,} items at least, to be READY at {numbers.limit('rate', confidence)} confidence",
        "if every answer is as good as can be; each that is not takes more. Items of one group count once, and so do",
        "the repeats of an item.",
        *(f"{aggregate_word(name).label}: {n:,}" for name, n in by_gate.items()),
    ]
