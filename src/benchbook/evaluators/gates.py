"""A gate: one aggregate held against its limit, with all that is known of how firmly it holds (SPEC R6)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any, Literal

import msgspec

from benchbook.canonical import ready
from benchbook.evaluators.exact import as_float
from benchbook.evaluators.intervals import Interval
from benchbook.statistics.ground import REASONS

DecisionName = Literal["READY", "NOT_READY", "INCONCLUSIVE"]
Direction = Literal["at_least", "at_most"]
Claim = Literal["holds", "fails", "open"]

FEWEST = 10  # samples, or clusters of them: fewer say too little of how far the next ones will lie apart

_NANO = Decimal(10) ** 9


class Threshold(msgspec.Struct, frozen=True):
    """A gate's rule: the aggregate must be `at_least` or `at_most` `limit_nano` billionths."""

    aggregate: str
    direction: Direction
    limit_nano: int

    @property
    def limit(self) -> float:
        return self.limit_nano / 1e9

    def holds(self, value: float | None) -> bool:
        """True if the limit is kept; a null value does not keep it (R6.1)."""
        margin = self.margin(value)
        return margin is not None and margin >= 0

    def margin(self, value: float | None) -> float | None:
        """How far `value` is on the good side of the limit; negative where it does not hold."""
        if value is None:
            return None
        distance = round(value * 1e9) - self.limit_nano
        return as_float(distance if self.direction == "at_least" else -distance)

    def gate(self, value: float | None, worst: float | None, best: float | None, interval: Interval | None) -> Gate:
        """The gate of this rule, by an aggregate's value as it is, in the worst and in the best case (R6.3)."""
        return Gate(
            aggregate=self.aggregate,
            direction=self.direction,
            limit=self.limit,
            value=value,
            worst=worst,
            best=best,
            holds=self.holds(value),
            holds_in_worst_case=self.holds(worst),
            holds_in_best_case=self.holds(best),
            margin=self.margin(value),
            interval=interval,
        )


class ToSettle(msgspec.Struct, frozen=True, kw_only=True):
    """The samples that would settle a gate, if its value stayed what it is. Numbers are of samples that count for it;
    None, with a reason, where nobody can say (`WHY_NOT`).

    `would`: its bound would then `hold`, or the value would `fail` though its interval be allowed for. `n_unscored`
    samples have no score: whatever `n_in_all` says, they may still move the gate (R6.3).
    """

    would: Literal["hold", "fail"] | None
    n: int
    n_in_all: int | None
    n_more: int | None
    n_unscored: int
    method: str
    reason: str | None = None


class Gate(msgspec.Struct, frozen=True, kw_only=True):
    """One gate: its value, its value in the worst and best case (R6.3), and the margin to its limit."""

    aggregate: str
    direction: Direction
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
    n_to_settle: ToSettle | msgspec.UnsetType | None = msgspec.UNSET  # left out where bounds were not asked for
    # From derivation 3 on, where bounds decide: the one-sided bound in the worst case that READY asks to hold, and the
    # one in the best case that NOT_READY asks to fail; and what they show (R6.4).
    bound: float | msgspec.UnsetType | None = msgspec.UNSET
    best_bound: float | msgspec.UnsetType | None = msgspec.UNSET
    bound_reason: str | msgspec.UnsetType | None = msgspec.UNSET  # why there is no `bound`
    claim: Claim | msgspec.UnsetType = msgspec.UNSET


def threshold_of(gate: Mapping[str, str]) -> Threshold:
    """A gate as a spec writes it: an aggregate, and `at_least` or `at_most` with a decimal."""
    direction: Direction = "at_least" if "at_least" in gate else "at_most"
    return Threshold(gate["aggregate"], direction, int(Decimal(gate[direction]) * _NANO))


class DecidedBy(msgspec.Struct, frozen=True, kw_only=True):
    """The basis of a decision: the gates' bounds at a confidence, their points in the worst and the best case, or the
    test of a run that ends once it is decided, with 1 less its error for confidence. `comparison`: that test was of
    another question, whether the run is better or worse than another, and its gates decide nothing."""

    rule: Literal["bounds", "points", "until_decided", "comparison"]
    confidence: float | None


CapCode = Literal[
    "incomplete", "snapshot_changed", "unmeasured", "another_model", "few_repeats", "part_of_items", "run_failed"
]  # fmt: skip

_REST_UNKNOWN = frozenset({"incomplete", "part_of_items"})


class Cap(msgspec.Struct, frozen=True):
    """One cap. `incomplete` and `part_of_items` (ended by a comparison) keep a run from NOT_READY, too: the rest of it
    is not known."""

    code: CapCode
    text: str


def is_incomplete(caps: Iterable[Cap]) -> bool:
    return is_of_a_part(cap.code for cap in caps)


def is_of_a_part(codes: Iterable[CapCode]) -> bool:
    """True if items are missing of which nobody knows whether they would change the decision."""
    return not _REST_UNKNOWN.isdisjoint(codes)


# Whether the run itself held. `incomplete`: it may go on, so there is nothing to say yet (from derivation 3 on).
Verdict = Literal["pass", "fail", "incomplete", "unavailable"]


class RunVerdict(msgspec.Struct, frozen=True, kw_only=True):
    """decision.json where there are no gates: whether the run itself held (A3). It says nothing of the score.

    A dry run is `unavailable`: it neither held nor failed (A6).
    """

    verdict: Verdict
    reason: str | None  # why it did not pass


class Decision(msgspec.Struct, frozen=True, kw_only=True):
    """decision.json where there are gates: READY, NOT_READY or INCONCLUSIVE, and why, the most important first.

    `release_ready` is the rule by the values alone (R6.2); under a rubric before derivation 3 it was true for READY
    alone.
    """

    decision: DecisionName
    release_ready: bool
    reasons: tuple[str, ...]
    gates: tuple[Gate, ...]
    # Of a rubric: asked that the bounds hold at this confidence (R6.4); what keeps it from being READY, gates aside.
    confidence: float | msgspec.UnsetType | None = msgspec.UNSET
    capped_by: tuple[str, ...] | msgspec.UnsetType = msgspec.UNSET
    # From derivation 3 on; the codes of `capped_by` are a rubric's, too.
    decided_by: DecidedBy | msgspec.UnsetType = msgspec.UNSET
    caps: tuple[CapCode, ...] | msgspec.UnsetType = msgspec.UNSET
    # Where nobody judges: whether the run itself held, as a `RunVerdict` has it.
    verdict: Verdict | msgspec.UnsetType = msgspec.UNSET
    reason: str | msgspec.UnsetType | None = msgspec.UNSET


def read_decision(data: bytes) -> Decision | RunVerdict | None:
    """The decision in a decision.json; None where it is refused (R7.1). Raises: msgspec.DecodeError."""
    found = msgspec.json.decode(data, type=dict[str, Any])
    if "decision" not in found:
        return msgspec.json.decode(data, type=ready(RunVerdict))
    return None if found["decision"] is None else msgspec.json.decode(data, type=ready(Decision))


# ── why a decision is what it is ─────────────────────────────────────────────────────────────────────────────

WHY_NOT: Mapping[str, str] = {
    "on_the_limit": "its value is the limit itself, so no number of samples is enough",
    "too_few": f"fewer than {FEWEST} samples, or clusters of samples, say too little of what more of them would show",
    "too_many": "more than a million samples would not be enough",
    "unscored_alone": "more samples are not what it lacks: it depends on those that have no score",
    "no_variance": "all samples score alike, so nothing tells how far others would lie apart",
    "no_data": "there is no value to go by",
}
"""Every `reason` for which there is no number, with its sentence."""

ReasonCode = Literal[
    "no_samples",
    "all_hold",  # of all gates: in the worst case too
    "does_not_hold",  # a gate, by its value in the case
    "bound_does_not_hold",
    "shown_to_fail",  # a gate, by its bound
    "open",  # a gate of which neither is shown
    "by_rule",  # what the rubric's rule says by the values alone
    "by_values",  # the same where the spec has gates, and no rule of another kind
    "capped",
]


class Reason(msgspec.Struct, frozen=True, kw_only=True):
    """One reason of a decision. What it says of a gate beyond its value and limit stands in the gate.

    `confidence` is what it is shown at, or is not; None where points decide.
    """

    code: ReasonCode
    aggregate: str | None = None
    value: float | None = None
    limit: float | None = None
    case: Literal["scored", "worst", "best"] = "scored"
    confidence: float | None = None
    cap: Cap | None = None
    holds: bool | None = None  # by_rule, by_values: whether all gates do
    found: str | None = None  # the same: what there is of samples or clusters, where that can't show it
    least: int | None = None  # and how many can
    early: str | None = None  # the part of the items that was enough, in words


def reason_words(reason: Reason, gates: Iterable[Gate], lowest: str = "0") -> str:
    """A reason in plain words. `gates` are the decision's; unscored samples are taken at `lowest` in the worst case."""
    gate = next((one for one in gates if one.aggregate == reason.aggregate), None)
    words = _words_of_gate(reason, gate, lowest) if gate is not None else _words(reason)
    return words if reason.early is None else f"{words}; {reason.early}"


def _words(reason: Reason) -> str:
    match reason.code:
        case "all_hold" if reason.confidence is not None:
            return f"all gates hold at {_percent(reason.confidence)} confidence, in the worst case too"
        case "all_hold":
            return "all gates hold, in the worst case too"
        case "capped" if reason.cap is not None:
            return reason.cap.text
        case "by_rule" | "by_values":
            by = "the rubric's rule" if reason.code == "by_rule" else "the values alone"
            words = f"{'release-ready' if reason.holds else 'not release-ready'} by {by}"
            if reason.found is None:
                return words
            shown = "it" if reason.holds else "READY"
            return f"{words}; {reason.found} can't show {shown}: at least {reason.least:,} can"
        case _:
            return reason.code


def _words_of_gate(reason: Reason, gate: Gate, lowest: str) -> str:
    asks = f"the gate asks for {'at least' if gate.direction == 'at_least' else 'at most'} {gate.limit:g}"
    match reason.code:
        case "bound_does_not_hold":
            return f"{gate.aggregate}: its confidence bound does not hold"
        case "does_not_hold":
            found = "was not measured" if reason.value is None else f"is {_number(reason.value)}"
            taken = f" in the worst case, unscored samples taken at {lowest}" if reason.case == "worst" else ""
            return f"{gate.aggregate} {found}{taken}; {asks}"
        case "shown_to_fail":
            return f"{gate.aggregate} {_found(gate)}{_at(gate.best_bound, 'best', reason.confidence)}; {asks}"
        case _:
            return _words_of_open(reason, gate, asks)


def _words_of_open(reason: Reason, gate: Gate, asks: str) -> str:
    if gate.value is None and gate.worst is None and gate.best is None:
        return f"{gate.aggregate} was not measured; {asks}"
    settle = gate.n_to_settle if isinstance(gate.n_to_settle, ToSettle) else None
    bound = gate.best_bound if reason.case == "best" else gate.bound
    shown = _at(bound, reason.case, reason.confidence)
    if not shown:
        why = gate.bound_reason if isinstance(gate.bound_reason, str) else "no_data"
        shown = f", with no bound at {_percent(reason.confidence)} confidence: {REASONS[why]}"
    words = f"{gate.aggregate} {_found(gate)}{shown}; {asks}"
    if settle is None or settle.n_in_all is None or settle.n_more is None:
        lacking = None if settle is None or settle.reason in (None, "too_few", gate.bound_reason) else settle.reason
        return words if lacking is None else f"{words}: {WHY_NOT.get(lacking, lacking)}"
    more = f"{settle.n_more:,} more {'sample' if settle.n_more == 1 else 'samples'} ({settle.n_in_all:,} in all)"
    outcome = "holds" if settle.would == "hold" else "does not"
    return f"{words}: {more} would show that it {outcome}, if they were like these"


def _found(gate: Gate) -> str:
    if gate.value is None:
        return "has no value"
    worst = "" if gate.worst in (gate.value, None) else f" and {_number(gate.worst)} in the worst case"
    return f"is {_number(gate.value)}{worst}"


def _at(bound: float | msgspec.UnsetType | None, end: str, confidence: float | None) -> str:
    if bound is None or isinstance(bound, msgspec.UnsetType):
        return ""
    return f", and {_number(bound)} at {end} at {_percent(confidence)} confidence"


def _number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 1e9 else f"{value:.9g}"


def _percent(confidence: float | None) -> str:
    return f"{100 * (confidence or 0):.6g} %"
